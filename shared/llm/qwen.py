"""Qwen Code as a coding backend: its arguments, its settings, its versions, the server that it talks to.

Measured on 0.24.4. Nothing of the target repository configures it: `--bare` reads no hooks, servers, extensions,
skills or instruction files, and a folder that nobody declared trusted has neither settings nor an `.env`. It repeats
a failed request for minutes, and nothing configures that: the model proxy ends it.

`--output-format stream-json` prints one event per line; unknown kinds and keys are ignored. A run that used up its
turns ends without a `result`. A failed request is a `result` whose only class is the status in its text.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from shared.errors import Misconfigured
from shared.llm import compatible
from shared.llm.backend import BackendSpec, CliSpec, Package, Probe, Probed, Setup
from shared.llm.cli.coder import CliCoder, Dialect, Impossible, Session, prompt_of
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.endings import DISABLED, answered, denied_calls, of_text, patterns
from shared.llm.cli.launch import NO_GIT_PROGRAMS, Command, Launcher, Ran
from shared.llm.cli.programs import check_options, program_output
from shared.llm.cli.stream import Event
from shared.llm.endpoint import Endpoint
from shared.llm.port import Ending, Request, RunOutcome, Usage
from shared.llm.prices import count_of
from shared.llm.proxy.api_protocols import ApiProtocol
from shared.llm.structured import as_text, strict

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

TURNS_USED_UP = 53
"""The exit code of a run that used up its turns."""

_WORDS = patterns(
    (r"instead of calling the structured_output tool|structured_output .*(?:fail|invalid)", Ending.MALFORMED),
    (r"ended with empty response text", Ending.EMPTY),
    (r"API Error: (?:\d+ )?(?:Content|prompt) .*(?:flagged|filter)", Ending.REFUSED),
    (DISABLED, Ending.AUTH),
    (r"insufficient_quota|exceeded your current quota|credit balance|insufficient balance", Ending.BILLING),
    (r"usage limit", Ending.USAGE_LIMIT),
    (r"API Error: 40[13]\b|invalid (?:api|x-api)[- ]key", Ending.AUTH),
    (r"API Error: 402\b", Ending.BILLING),
    (r"API Error: 404\b|model_not_found|\bmodel\b.* (?:does not exist|not found)", Ending.CONFIG),
    (r"API Error: (?:429|529)\b|rate limit", Ending.OVERLOADED),
    (r"API Error: (?:408|5\d\d)\b|connection|ended without a finish reason|time?d? ?out", Ending.TRANSIENT),
    (r"API Error: 4\d\d\b", Ending.PERSISTENT),
)
"""Patterns of a failed run's text, the first match counts."""


@dataclass(slots=True)
class Transcript:
    """The few facts of a run that decide its result; its size does not depend on the output."""

    result: Event | None = None
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of the requests so far, for a run that is ended before its result."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        match event:
            case {"type": "result"}:
                self.result = event
            case {"type": "system", "subtype": "init", "model": str(model)}:
                self.usage = replace(self.usage, model=model)
            case {"type": "assistant", "message": dict(message)}:
                self._read_message(message)
            case _:
                return  # of no consequence, or of a newer version

    def _read_message(self, message: Mapping[str, Any]) -> None:
        content, counted = message.get("content"), message.get("usage")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "text":
                self.text = str(block.get("text", ""))
        if isinstance(counted, dict):
            self.usage = self.usage.plus(_usage(counted, self.usage.model))

    @property
    def usage_so_far(self) -> Usage:
        """Tokens of the run: from its result if there is one, else the tokens seen; without a price."""
        counted = None if self.result is None else self.result.get("usage")
        return _usage(counted, self.usage.model) if isinstance(counted, dict) else self.usage


def verdict(transcript: Transcript, *, code: int, structured: bool) -> RunOutcome | None:
    """Return the run's result; None if it ended without one, so that only its exit code and stderr are left."""
    result = transcript.result
    if result is None:
        return RunOutcome(Ending.MAX_TURNS, transcript.text) if code == TURNS_USED_UP else None
    notes = denied_calls(result)
    if result.get("is_error"):
        error = result.get("error")
        text = str(error.get("message") if isinstance(error, dict) else error or "the run failed")
        ending = of_text(_WORDS, text) or Ending.UNKNOWN
        return RunOutcome(ending, _sentence(text) if ending is not Ending.MALFORMED else transcript.text, notes=notes)
    answer = result.get("structured_result")
    text = json.dumps(answer) if structured and isinstance(answer, dict) else str(result.get("result") or "")
    return answered(text, answer, structured=structured, notes=notes)


def _sentence(text: str) -> str:
    """Return a failure without the brackets around it."""
    found = re.fullmatch(r"\[API Error: (.*)\]", text, re.DOTALL)
    return found[1] if found else text


def _usage(counted: Mapping[str, Any], model: str) -> Usage:
    """Convert the counts; cached tokens are counted as input too."""
    cached = count_of(counted, "cache_read_input_tokens")
    fresh = max(count_of(counted, "input_tokens") - cached, 0)
    return Usage(fresh, count_of(counted, "output_tokens"), cached, model=model)


@dataclass(slots=True)
class Qwen(Dialect):
    """The dialect of one `qwen` program."""

    name: ClassVar[str] = "qwen"
    company: ClassVar[str] = compatible.COMPANY
    launcher: Launcher

    async def examined(self) -> str:
        async with opened(self.launcher.calls) as call:
            environment = self.launcher.environment_of(call)
            version, text = [
                await program_output((str(self.program), option), "qwen_cli", environment)
                for option in ("--version", "--help")
            ]
        found = re.match(r"\d+\.\d+\.\d+", version)
        if found is None or "Qwen Code" not in text:
            raise Misconfigured(f"{self.program} (qwen_cli) is not Qwen Code: it calls itself '{version[:80]}'.")
        check_options(text, _NEEDED, f"Qwen Code {found[0]} ({self.program})", self.name)
        return found[0]

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> QwenSession:
        return QwenSession(self, Transcript(), request, endpoint, call)


class QwenSession(Session[Qwen, Transcript]):
    """One call."""

    PROGRAM = "Qwen Code"

    def command(self) -> Command:
        """Return argv and environment, with the prompt on standard input."""
        prompt = prompt_of(self._request, self.PROGRAM, PROMPT_BYTES)
        home = self._call.home / ".qwen"
        home.mkdir(mode=0o700)
        (home / "settings.json").write_text(json.dumps(SETTINGS), "utf-8")
        argv = (str(self._cli.program), *self._arguments())
        return Command(argv, self._environment(), self._request.tree or self._call.empty, prompt)

    def usage(self) -> Usage:
        return self.transcript.usage_so_far

    def _verdict(self, ran: Ran) -> RunOutcome | None:
        return verdict(self.transcript, code=ran.code, structured=self._structured)

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
        endpoint=partial(compatible.server, backend="qwen"),
        probe=examined,
        reports_cost=False,
        needs_model=True,
    ),
)
"""The description of this backend for the rest of the engine."""
