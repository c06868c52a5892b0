"""The launcher of CLI calls: wrapped, in a directory of their own, within limits; events are passed on as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from anyio.abc import Process

from shared import process
from shared.clock import Clock
from shared.llm.cli import transcripts
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.stream import Event, JsonLines, LogFile, Tail
from shared.llm.endpoint import Endpoint
from shared.process import Cut, Patience
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import limited
from shared.sandbox.view import FileSystemView, Outlet
from shared.sandbox.watchdog import Watchdog
from shared.sandbox.wrap import Isolation

NO_GIT_PROGRAMS: Mapping[str, str] = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": "/dev/null",
}
"""Variables with which a program's git runs no program that the repository names."""


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

    `complaint` is the end of its standard error and of the lines on standard output that are no
    events; `skipped` counts lines there that were no JSON objects.
    """

    code: int
    cut: Cut | None
    complaint: str
    skipped: int = 0
    limit: str | None = None

    @property
    def signalled(self) -> bool:
        """True if a signal ended it that was not ours, as far as the code tells."""
        return self.cut is None and (self.code < 0 or self.code > 128)


@dataclass(slots=True)
class _Guarded:
    """The watchdog of one call, and the limit that it found exceeded."""

    watchdog: Watchdog
    limit: str | None = None

    async def over(self, child: Process) -> str | None:
        """Wait for the child within its limits; see `process.Guard`."""
        self.limit = await self.watchdog.over(child)
        return self.limit


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
        guarded = _Guarded(self.confinement.watchdog(writable))
        await self.confinement.hand_over(writable)
        argv = self.confinement.wrap.argv(limited(command.argv), self._view(command, writable, endpoint))
        with LogFile(call.events) as log:

            def on_stdout(chunk: bytes) -> None:
                log.write(chunk)
                lines.feed(chunk)

            code, cut = await process.streamed(
                guarded.watchdog.argv(argv),
                cwd=command.cwd,
                env=self._environment(command, call),
                stdin=command.stdin,
                sinks=(on_stdout, errors.feed),
                patience=replace(patience, guard=guarded.over),
            )
            lines.close()
        complaint = "\n".join(text for text in (lines.tail.text, errors.text) if text)
        return Ran(code, cut, complaint, lines.skipped, guarded.limit)

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
        return transcripts.keep(call.events, directory, f"{at:%Y%m%dT%H%M%S}-{name}-{call.path.name}.jsonl")

    def _environment(self, command: Command, call: CallDirectory) -> dict[str, str]:
        places = {"HOME": str(call.home), "TMPDIR": str(call.temporary)}
        return {**self.environment, **places, **command.env}


def _outlet(endpoint: Endpoint | None) -> Outlet | None:
    """Return the way to an endpoint that has a socket: by the port at which the CLI looks for it."""
    if endpoint is None or endpoint.socket is None or endpoint.base_url is None:
        return None
    port = urlsplit(endpoint.base_url).port
    return None if port is None else Outlet(port, endpoint.socket)
