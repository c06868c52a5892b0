"""Where chaos plays: the lab's repository, the tokens and configuration of each machine, and what people write."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import stub_project
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.github.repositories.ref_log import RefChange
from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord

REPOSITORY, OWNER = "ada/greetings", "ada"

LOCK = {"timeout": 24, "self_fence": 18, "heartbeat": 5, "settle": 0.5}
"""Seconds; accepted because everything is on loopback."""

CAUGHT_UP_SECONDS = 5.0
"""Replicas lag no longer than this: less than what the lock leaves between two holders, as GitHub's do."""

TIMEOUT_SECONDS = float(LOCK["timeout"])


@dataclass(frozen=True)
class Site:
    """One lab and the directory of everything that belongs to a trial."""

    lab: Lab
    root: Path

    @property
    def repository(self) -> RepositoryRecord:
        """Everything that GitHub knows."""
        return self.lab.at(REPOSITORY)

    def ref_changes(self) -> list[RefChange]:
        """Everything that moved refs there, in its order."""
        log = self.repository.bare.log_of_refs
        return [] if log is None else log.read()

    def log(self, agent: str) -> Path:
        """What one agent process printed."""
        return self.root / f"{agent}.log"

    def config(self, machine: str) -> Path:
        """The configuration file of one machine, which has a state directory of its own."""
        path = self.root / f"{machine}.yml"
        settings = {
            "repositories": [{"name": REPOSITORY, **stub_project.SETTINGS}],
            "state_dir": str(self.root / machine),
            "sandbox": "none",
            "cooldown": 0,
            "github": {
                "api_url": self.lab.url,
                "token_file": str(self.root / f"{ENGINE}.token"),
                "reviewer_token_file": str(self.root / f"{REVIEWER}.token"),
                "write_interval_seconds": 0,
            },
            "lock": {**LOCK, "key_files": [str(self.root / "lock.key")]},
            "llm": {"scenario": str(self.root / "scenario.yml")},
        }
        path.write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
        return path

    def tell(self, name: str) -> None:
        """The owner writes a story, or by hand a specification that is ready: every other name."""
        by_hand = int(name[-3:]) % 2 == 1
        body = f"{name}.txt says hello." if by_hand else f"As {name} I want to be greeted."
        labels = ("status:ready",) if by_hand else ("story",)
        self.lab.issue(REPOSITORY, stub_project.title(name), body, author=OWNER, labels=labels)


def names(count: int) -> Sequence[str]:
    """So many names, of which none is a part of another."""
    return [f"guest_{number:03d}" for number in range(count)]


async def furnished(lab: Lab, root: Path, told: Sequence[str]) -> Site:
    """The project, the tokens, the key and the coder's script."""
    people = {ENGINE: "write", REVIEWER: "write"}
    await lab.repository(REPOSITORY, stub_project.FILES, collaborators=people, check_command=stub_project.CI)
    for login in people:
        _private(root / f"{login}.token", lab.token(login, PERMISSIONS[login]))
    _private(root / "lock.key", secrets.token_hex(32))
    (root / "scenario.yml").write_text(stub_project.scenario(*told), encoding="utf-8")
    return Site(lab, root)


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="ascii")
