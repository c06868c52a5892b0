"""A repository and a machine with which nothing is wrong, for the doctor; a test spoils what it wants found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine import ENGINE, REPOSITORY, REVIEWER, WRITES

from config.settings import Settings
from console.doctor.finding import Finding, Machine, Status
from console.doctor.probes import findings_of
from lab.github.server import Lab
from shared.loop.real_clock import RealClock
from shared.workflow import AGENTS, Role

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NO_ACKS = '#!/bin/sh\ncase $1 in refs/ack/*) echo "refs/ack is reserved" >&2; exit 1 ;; esac\n'


@dataclass
class Clinic:
    """A repository and a configuration with which nothing is wrong; a test spoils one thing."""

    lab: Lab
    directory: Path
    more: dict[str, Any] = field(default_factory=dict)
    github: dict[str, Any] = field(default_factory=dict)
    permissions: Mapping[str, str] = field(default_factory=lambda: dict(WRITES))
    quick: bool = True

    def file(self, name: str, content: bytes, mode: int = 0o600) -> Path:
        path = self.directory / name
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def machine(self) -> Machine:
        reviewer = self.file("reviewer", self.lab.token(REVIEWER, self.permissions).encode())
        github = {"api_url": self.lab.url, "write_interval_seconds": 0, "reviewer_token_file": reviewer}
        asked = {
            "repositories": [{"name": REPOSITORY, "llm_backend": "scripted"}],
            "state_dir": self.directory / "state",
            "github": github | self.github,
            "lock": {"key_files": [self.file("key", KEY)]},
            "sandbox": "none",
            "llm": {"scenario": self.directory / "scenario.yml"},
        }
        settings = Settings.model_validate(asked | self.more, strict=False)
        token = self.lab.token(ENGINE, self.permissions)
        environment = {"PATH": os.environ["PATH"], "GITHUB_TOKEN": token, "WRONG": "github_pat_wrong"}
        return Machine(settings, environment, RealClock(), self.quick)

    async def findings(self, roles: frozenset[Role] = AGENTS) -> list[Finding]:
        return await findings_of(self.machine(), roles)


def troubles(findings: list[Finding]) -> dict[str, tuple[Status, str]]:
    """Return the bad findings, except for those of every clinic: no sandbox, and a state directory below /tmp."""
    bad = [one for one in findings if one.status in {Status.WARN, Status.FAIL}]
    bad = [one for one in bad if one.subject not in {"sandbox", "state directory"} or one.status is Status.FAIL]
    assert all(one.next_step for one in bad)
    return {one.subject: (one.status, one.sentence) for one in bad}


def reserve_refs(clinic: Clinic) -> None:
    hook = clinic.lab.at(REPOSITORY).bare.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(NO_ACKS)
    hook.chmod(0o700)
