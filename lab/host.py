"""The host of agents at a lab: tokens and key on disk, each machine's configuration, and the agents' logs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.github.server import Lab

LOCK: Mapping[str, object] = {"settle": 0.2}
"""The lock's times, in seconds: accepted because everything is on loopback, as all of this is."""

TWO = {ENGINE: ENGINE, REVIEWER: REVIEWER}
"""Processes and accounts that sign in at an ordinary lab."""


@dataclass
class Host:
    """One lab, and the directory of everything that belongs to the agents that work at it."""

    lab: Lab
    root: Path

    @property
    def scenario(self) -> Path:
        """The scripted coder's answers."""
        return self.root / "scenario.yml"

    def log(self, agent: str) -> Path:
        """Return the file with an agent process's output."""
        return self.root / f"{agent}.log"

    def token_file(self, name: str) -> str:
        """Return a token's file, for a configuration."""
        return str(self.root / f"{name}.token")

    def token_of(self, name: str) -> str:
        """Return the token that was made for one of these processes."""
        return (self.root / f"{name}.token").read_text(encoding="ascii")

    def sign_in(self, logins: Mapping[str, str] = TWO) -> None:
        """Make a token for each process of `logins`, a name -> its account, and the key of the comments."""
        for name, login in logins.items():
            self.keep(f"{name}.token", self.lab.token(login, PERMISSIONS.get(login, PERMISSIONS[ENGINE])))
        self.keep("lock.key", secrets.token_hex(32))

    def keep(self, name: str, text: str) -> None:
        """Write a file that nobody else may read."""
        path = self.root / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="ascii")

    def configuration(
        self,
        repository: Mapping[str, object],
        *,
        state: str = "state",
        lock: Mapping[str, object] = LOCK,
        github: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """Return the configuration of a machine with state directory `state`; `github` overrides defaults there."""
        return {
            "repositories": [dict(repository)],
            "state_dir": str(self.root / state),
            "sandbox": "none",
            "cooldown": 0,
            "github": {
                "api_url": self.lab.url,
                "token_file": self.token_file(ENGINE),
                "reviewer_token_file": self.token_file(REVIEWER),
                "write_interval_seconds": 0,
                **(github or {}),
            },
            "lock": {**lock, "key_files": [str(self.root / "lock.key")]},
            "llm": {"scenario": str(self.scenario)},
        }

    def configured(self, name: str, configuration: Mapping[str, object]) -> Path:
        """Write the configuration file of one machine; return its path."""
        path = self.root / f"{name}.yml"
        path.write_text(json.dumps(configuration, indent=1), encoding="utf-8")  # JSON is YAML
        return path
