"""The launcher of CLI calls: wrapped, in a directory of their own, within limits; events are passed on as they come.

Of each call a transcript is kept, which is everything that it has printed: the newest ones, within limits.
"""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from shared import process
from shared.clock import Clock
from shared.filesystem import directories
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.stream import Event, JsonLines, Tail, log_file
from shared.llm.endpoint import Endpoint
from shared.process import Cut, Patience
from shared.sandbox.bubblewrap_sandbox import FileSystemView, Outlet
from shared.sandbox.confinement import Confinement, Isolation
from shared.sandbox.limits import limited

NO_GIT_PROGRAMS: Mapping[str, str] = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
}
"""Variables with which a program's git runs no program that the repository names."""

MOST_TRANSCRIPTS = 200
"""Transcripts in one directory, at most; the oldest are removed first."""

TRANSCRIPTS_BYTES = 2**30
"""Bytes of all transcripts together; the newest stays whatever its size."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line and its directory. `env` and `readable` are added to the launcher's environment and paths."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdin: bytes
    readable: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a process. `code` means nothing if `cut` is set: then we ended it, perhaps at a `limit`.

    `complaint` is the end of its standard error and of the lines on standard output that are no events.
    """

    code: int
    cut: Cut | None
    complaint: str
    limit: str | None = None

    @property
    def signalled(self) -> bool:
        """True if a signal ended it that was not ours, as far as the code tells."""
        return self.cut is None and (self.code < 0 or self.code > 128)


@dataclass(frozen=True, slots=True)
class Launcher:
    """The settings that all calls of one daemon share.

    `environment` is the allow-list of children, `calls` the directory of call directories, `logs`
    the directory of kept transcripts.
    """

    confinement: Confinement
    clock: Clock
    environment: Mapping[str, str]
    calls: Path
    logs: Path

    def showing(self, paths: Sequence[Path]) -> Launcher:
        """Return the same launcher, whose calls are shown `paths` as well."""
        readable = (*self.confinement.readable, *paths)
        return replace(self, confinement=replace(self.confinement, readable=readable))

    async def run(
        self,
        command: Command,
        call: CallDirectory,
        patience: Patience,
        take: Callable[[Event], None],
        endpoint: Endpoint | None = None,
    ) -> Ran:
        """Run `command` to its end or to the end of `patience`; raises `OSError` if it cannot be started.

        If the sandbox can close the network, it is closed except for an `endpoint` that has a socket.
        """
        lines, errors = JsonLines(take), Tail()
        writable = (call.path, command.cwd)
        watchdog = self.confinement.watchdog(writable)
        await self.confinement.hand_over(writable)
        argv = self.confinement.wrap.argv(limited(command.argv), self._view(command, writable, endpoint))
        with log_file(call.events) as log:

            def on_stdout(chunk: bytes) -> None:
                log(chunk)
                lines.feed(chunk)

            code, cut = await process.streamed(
                watchdog.argv(argv),
                cwd=command.cwd,
                env={**self.environment_of(call), **command.env},
                stdin=command.stdin,
                sinks=(on_stdout, errors.feed),
                patience=replace(patience, guard=watchdog.over),
            )
            lines.close()
        complaint = "\n".join(text for text in (lines.tail.text, errors.text) if text)
        return Ran(code, cut, complaint, watchdog.exceeded)

    def environment_of(self, call: CallDirectory) -> dict[str, str]:
        """Return the environment of a program that runs in a call's directory."""
        return {**self.environment, "HOME": str(call.home), "TMPDIR": str(call.temporary)}

    def _view(self, command: Command, writable: Sequence[Path], endpoint: Endpoint | None) -> FileSystemView:
        program = Path(command.argv[0])
        package = (program.parent,) if "node_modules" in program.parts else ()
        outlet = _outlet(endpoint) if self.confinement.wrap.kind is Isolation.SANDBOX else None
        readable = (program, *package, *command.readable, Path(sys.prefix), Path(sys.base_prefix))
        return self.confinement.view(writable, readable, network=outlet is None, outlet=outlet)

    def keep(self, call: CallDirectory, name: str, *, completed: bool = False) -> Path | None:
        """Keep a call's events under `name`, those of completed calls apart; return None if there are none to keep."""
        at = datetime.fromtimestamp(self.clock.now(), UTC)
        directory = self.logs / "completed" if completed else self.logs
        return keep_events(call.events, directory, f"{at:%Y%m%dT%H%M%S}-{name}-{call.path.name}.jsonl")


def _outlet(endpoint: Endpoint | None) -> Outlet | None:
    """Return the way to an endpoint that has a socket: by the port at which the CLI looks for it."""
    if endpoint is None or endpoint.socket is None or endpoint.base_url is None:
        return None
    port = urlsplit(endpoint.base_url).port
    return None if port is None else Outlet(port, endpoint.socket)


def keep_events(events: Path, directory: Path, name: str) -> Path | None:
    """Move a call's events to `directory/name`; return None if there are none or they cannot be kept.

    Names begin with a time, so that they sort in the order of the calls. The mode of `events` stays. Only the regular
    file that the daemon has written is kept, wherever a link at that place leads.
    """
    kept = directory / name
    if not _has_text(events):
        return None
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(events, kept)
    except OSError:
        return None
    for old in outdated([(path, _size(path)) for path in sorted(directory.glob("*.jsonl"))]):
        directories.remove(old)
    return kept if _has_text(kept) else None


def _has_text(path: Path) -> bool:
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size > 0
    return False


def _size(path: Path) -> int:
    """Return the size in bytes; 0 for a path that cannot be examined, which is then removed in its turn."""
    with suppress(OSError):
        return path.lstat().st_size
    return 0


def outdated(found: Sequence[tuple[Path, int]], *, size: int = TRANSCRIPTS_BYTES) -> tuple[Path, ...]:
    """Return those of these files (with bytes, oldest first) to be removed; never the last one (pure)."""
    taken, staying = 0, 0
    for _, taking in reversed(found):
        taken += taking
        if staying and (staying >= MOST_TRANSCRIPTS or taken > size):
            break
        staying += 1
    return tuple(path for path, _ in found[: len(found) - staying])
