"""Counts of the git processes of agents, by a `git` before the real one on their PATH that notes each command."""

from __future__ import annotations

import shlex
import shutil
from collections import Counter
from pathlib import Path

_SCRIPT = """\
#!/bin/sh
[ -z "$GIT_CONFIG_COUNT" ] || printf '%s\\n' "$*" >> {log}
exec {git} "$@"
"""
"""The program: it counts only the engine's own git, which alone is given its settings by the environment."""


class GitCounts:
    """Counts of the processes that were started by way of one directory."""

    def __init__(self, directory: Path) -> None:
        """Make `directory`; raises `FileNotFoundError` if there is no git."""
        real = shutil.which("git")
        if real is None:
            raise FileNotFoundError("there is no git on PATH")
        self.directory = directory
        self._log = directory / "log"
        directory.mkdir()
        self._log.touch()
        program = directory / "git"
        program.write_text(_SCRIPT.format(log=shlex.quote(str(self._log)), git=shlex.quote(real)), encoding="utf-8")
        program.chmod(0o755)

    def so_far(self) -> Counter[str]:
        """Return how often each command was started."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return Counter(command(line.split(" ")) for line in lines)


def command(arguments: list[str]) -> str:
    """Return the command among git's arguments (pure)."""
    return next((word for word in arguments if not word.startswith("-")), "")
