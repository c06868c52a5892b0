"""One command of a repository's maintainers, run confined: with network, without a secret, with a time limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from shared import process
from shared.sandbox.confinement import Confinement

TAIL_BYTES = 3000
"""The most bytes of its output that are shown if it fails."""


@dataclass(frozen=True, slots=True)
class ConfinedCommand:
    """The command `argv` in the directory `inside`; it may write below `writable`, and its output goes to `log`.

    `environment` is all that it sees; `seconds` is its time limit.
    """

    argv: tuple[str, ...]
    inside: Path
    writable: Sequence[Path]
    environment: Mapping[str, str]
    log: Path
    seconds: float

    async def run(self, confinement: Confinement) -> str:
        """Run it; return its failure, as in "exit code 1", or an empty text. Raises OSError if it cannot start."""
        await confinement.hand_over(self.writable)
        watchdog = confinement.watchdog(self.writable)
        wrapped = watchdog.argv(confinement.argv(self.argv, self.writable, network=True))
        failure = f"it did not end within {self.seconds:.0f} seconds"
        with anyio.move_on_after(self.seconds):
            async with process.started(wrapped, cwd=self.inside, env=self.environment, log=self.log) as child:
                limit = await watchdog.over(child)
            failure = f"limit {limit}" if limit else f"exit code {child.returncode}"
        await confinement.take_back(self.writable)
        return "" if failure == "exit code 0" else failure

    def tail(self) -> str:
        """Return the end of its output."""
        return self.log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace").strip() if self.log.is_file() else ""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of one command; `code` None: stopped, and `output_tail` has the reason and the last output."""

    command: str
    code: int | None
    output_tail: str = ""

    @property
    def clean(self) -> bool:
        """True if the command found nothing."""
        return self.code == 0

    @property
    def ending(self) -> str:
        """The result in words, for notes and pull requests."""
        if self.clean:
            return "clean"
        return "stopped" if self.code is None else f"exit code {self.code}"
