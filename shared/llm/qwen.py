"""Qwen Code as a coding backend: its arguments, its settings, its versions, the server that it talks to.

Measured on 0.24.4. Nothing of the target repository configures it: `--bare` reads no hooks, servers, extensions,
skills or instruction files, and a folder that nobody declared trusted has neither settings nor an `.env`. It repeats
a failed request for minutes, and nothing configures that: the model proxy ends it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import structlog

from shared.errors import Misconfigured
from shared.llm import compatible
from shared.llm.backend import BackendSpec, CliSpec, Package, Probe, Probed, Setup
from shared.llm.cli import probe
from shared.llm.cli.coder import CliCoder, Impossible, Session, prompt_of
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import NO_GIT_PROGRAMS, Command, Launcher, Ran
from shared.llm.endpoint import Endpoint
from shared.llm.port import Request, RunOutcome, Usage
from shared.llm.proxy.api_protocols import ApiProtocol
from shared.llm.qwen_events import Transcript, verdict
from shared.llm.structured import as_text, strict

log = structlog.get_logger()

PROMPT_BYTES = 8 * 10**6
"""Qwen Code cuts longer text on standard input off."""

_NEEDED = (
    *("--bare", "--approval-mode", "--allowed-tools", "--exclude-tools", "--json-schema", "--max-session-turns"),
    *("--auth-type", "--output-format"),
)
"""Options that a version must have so that it can be limited and isolated from the repository."""

SETTINGS: Mapping[str, Any] = {
    "security": {"folderTrust": {"enabled": True}},
    "general": {"enableAutoUpdate": False, "checkpointing": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
"""Settings in the home of the call: no folder is trusted, and nothing is sent anywhere but to the model."""

ENVIRONMENT: Mapping[str, str] = {
    "QWEN_CODE_DISABLE_CRON": "1",
    "QWEN_CODE_NO_RELAUNCH": "true",
    "QWEN_USAGE_STATISTICS_ENABLED": "false",
    "NO_PROXY": "127.0.0.1",
    **NO_GIT_PROGRAMS,
}
"""One process less, no statistics to the vendor (a trace shows no look-up), and no git programs of the repository."""

_PLACE = "node_modules/@qwen-code/qwen-code"

EDITING = ("run_shell_command", "edit")
_WRITING = ("run_shell_command", "edit", "notebook_edit", "write_file")
_UNUSED = ("get_goal", "update_goal")


@dataclass(slots=True)
class Qwen:
    """The dialect of one `qwen` program."""

    name: ClassVar[str] = "qwen"
    company: ClassVar[str] = compatible.COMPANY
    program: Path
    launcher: Launcher
    version: str = field(default="", init=False)

    async def ready(self) -> None:
        """Determine, once, the version and its options. Raises `Misconfigured` naming missing ones."""
        if self.version:
            return
        async with opened(self.launcher.calls) as call:
            version, text = await self._ask_program(call, "--version"), await self._ask_program(call, "--help")
        found = re.match(r"\d+\.\d+\.\d+", version)
        if found is None or "Qwen Code" not in text:
            raise Misconfigured(f"{self.program} (qwen_cli) is not Qwen Code: it calls itself '{version[:80]}'.")
        probe.check_options(text, _NEEDED, f"Qwen Code {found[0]} ({self.program})", self.name)
        self.version = found[0]
        log.info("backend_found", backend=self.name, version=self.version, program=str(self.program))

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> QwenSession:
        """Return the session of a new call; await `ready` before."""
        return QwenSession(self, request, endpoint, call)

    async def _ask_program(self, call: CallDirectory, argument: str) -> str:
        environment = {**self.launcher.environment, "HOME": str(call.home), "TMPDIR": str(call.temporary)}
        return await probe.program_output((str(self.program), argument), "qwen_cli", environment)


class QwenSession(Session[Transcript]):
    """One call."""

    PROGRAM = "Qwen Code"

    def __init__(self, cli: Qwen, request: Request, endpoint: Endpoint, call: CallDirectory) -> None:
        super().__init__(Transcript(), request, endpoint, call)
        self._cli = cli

    def command(self) -> Command:
        """Return argv and environment, with the prompt on standard input."""
        prompt = prompt_of(self._request, self.PROGRAM, PROMPT_BYTES)
        home = self._call.home / ".qwen"
        home.mkdir(mode=0o700)
        (home / "settings.json").write_text(json.dumps(SETTINGS), "utf-8")
        argv = (str(self._cli.program), *self._arguments())
        return Command(argv, self._environment(), self._request.tree or self._call.empty, prompt)

    def _usage(self) -> Usage:
        return self._transcript.usage_so_far

    def _verdict(self, ran: Ran) -> RunOutcome | None:
        return verdict(self._transcript, code=ran.code, structured=self._structured)

    def _arguments(self) -> Iterator[str]:
        request, turns = self._request, self._request.limits.max_turns
        yield from ("--bare", "--output-format", "stream-json", "--auth-type", "openai", "--approval-mode", "default")
        if request.call.edits:
            denied = (*_UNUSED, *(f"Edit(/{pattern})" for pattern in request.protected))
            for tool in EDITING:
                yield from ("--allowed-tools", tool)
        else:
            denied = (*_UNUSED, *_WRITING) if request.tree else (*_UNUSED, *_WRITING, "read_file")
        for tool in denied:
            yield from ("--exclude-tools", tool)
        if request.schema is not None:
            schema = self._call.path / "schema.json"
            schema.write_text(as_text(strict(request.schema)), "utf-8")
            yield from ("--json-schema", f"@{schema}")
            turns += 1  # the answer itself takes one
        yield from ("--max-session-turns", str(max(turns, 1)))

    def _environment(self) -> dict[str, str]:
        request, endpoint = self._request, self._endpoint
        if request.model is None:
            raise Impossible("Qwen Code has no model of its own: name one under `llm.models.qwen`.")
        address = {"OPENAI_API_KEY": endpoint.token, "OPENAI_BASE_URL": f"{endpoint.base_url}/v1"}
        return {**ENVIRONMENT, **address, "OPENAI_MODEL": request.model}


def build(setup: Setup) -> CliCoder:
    """Build the backend for the program that was found; raise `Misconfigured` without one."""
    found = setup.installed("qwen", "the Qwen Code program")
    made = dialect(found.path, found.launcher)
    return CliCoder(made, made.launcher, found.endpoints, found.model)


def dialect(program: Path, launcher: Launcher) -> Qwen:
    """Return the dialect for the program that was found; a sandbox shows the Node that it runs on."""
    node = shutil.which("node", path=launcher.environment.get("PATH"))
    shown = () if node is None else (Path(node).resolve(),)
    return Qwen(program, launcher.showing(shown))


async def examined(probe: Probe) -> Probed:
    """Run the check that the adapter makes before its first call."""
    async with probe.launcher() as launcher:
        qwen = dialect(probe.program, launcher)
        await qwen.ready()
    return Probed(f"{qwen.program} {qwen.version}.")


SPEC = BackendSpec(
    build,
    CliSpec(
        protocol=ApiProtocol.COMPATIBLE,
        company=compatible.COMPANY,
        package=Package("@qwen-code/qwen-code", "0.24.4", "", f"{_PLACE}/cli-entry.js", npm=True),
        keys=(compatible.KEY,),
        url=compatible.URL,
        key_shape="",
        beginnings={},
        subscription="",
        not_enforced="",
        endpoint=partial(compatible.server, backend="qwen"),
        probe=examined,
        reports_cost=False,
        needs_model=True,
    ),
)
"""The description of this backend for the rest of the engine."""
