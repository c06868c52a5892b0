"""Which of several programs of a coding CLI is used: the newest that runs and says its version, and that is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from shared.errors import Misconfigured
from shared.llm.cli import probe
from shared.llm.cli.programs import programs

ASK_SECONDS = 30.0
"""How long a program may take to say its version."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The program; `versions` are those of all that were compared, empty where there was nothing to choose."""

    path: Path
    versions: Mapping[Path, str]

    @property
    def sentence(self) -> str:
        """For people: what is used, and instead of what; empty where there was no choice."""
        others = [f"{path} ({version})" for path, version in self.versions.items() if path != self.path]
        if not others:
            return ""
        return f"The newest program found is used: {self.path} ({self.versions[self.path]}), not {', '.join(others)}."


async def newest(name: str, configured: str, state_dir: Path, environment: Mapping[str, str]) -> Chosen:
    """The program of backend `name`; raises `Misconfigured` as `programs.programs` does.

    `environment` needs a PATH. A program that is alone is not asked for its version.
    """
    found = programs(name, configured, state_dir, environment["PATH"])
    if len(found) == 1:
        return Chosen(found[0], {})
    versions = {path: await _version(path, name, environment) for path in found}
    return Chosen(max(found, key=lambda path: _ordered(versions[path])), versions)


async def _version(path: Path, name: str, environment: Mapping[str, str]) -> str:
    """The version that it says, or why it says none."""
    try:
        with anyio.fail_after(ASK_SECONDS):
            text = await probe.said((str(path), "--version"), f"{name}_cli", environment)
    except (Misconfigured, TimeoutError):
        return "does not run"
    version = re.search(r"\d+(?:\.\d+){1,3}", text)
    return version[0] if version else "says no version"


def _ordered(version: str) -> list[int]:
    return [int(part) for part in version.split(".")] if version[:1].isdigit() else []
