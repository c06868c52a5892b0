"""mini-swe-agent as a coding backend: its packages, its Python, the input of a call, the server that it talks to.

Measured on 2.4.6, of which the parts are used and not the command `mini`: that one has a shell for questions too, takes
the end of a run from the output of commands, and looks for its configuration in the work tree. `mini_entry` puts the
parts together. Of the repository it reads only the files that the model asks for.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from shared.errors import Misconfigured
from shared.llm import compatible
from shared.llm.backend import BackendSpec, CliSpec, Package, Probe, Probed, Setup
from shared.llm.cli.coder import CliCoder, Dialect, Impossible, Session, prompt_of
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.programs import program_output
from shared.llm.endpoint import Endpoint
from shared.llm.mini_events import Transcript, verdict
from shared.llm.port import Ending, Request, RunOutcome, Usage
from shared.llm.proxy.api_protocols import ApiProtocol
from shared.llm.structured import strict

ENTRY = Path(__file__).with_name("mini_entry.py")

PROMPT_BYTES = 8 * 10**6
"""No model reads more; the model proxy takes four times as much for a whole conversation."""

COMMAND_SECONDS = 600
"""Seconds that one command may take; less if the call may not be silent for so long."""

ENVIRONMENT: Mapping[str, str] = {
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "6",
    "MSWEA_COST_TRACKING": "ignore_errors",
}
"""No greeting; a failed request is repeated for about half a minute; the model proxy knows the cost."""

NEEDS = (
    *("annotated-types==0.8.0", "certifi==2026.10.18", "charset-normalizer==3.5.3", "idna==3.20", "Jinja2==3.1.6"),
    *("markdown-it-py==4.3.0", "MarkupSafe==3.0.4", "mdurl==0.1.2", "platformdirs==4.14.8", "pydantic==2.14.4"),
    *("pydantic_core==2.50.5", "Pygments==2.21.0", "python-dotenv==1.2.4", "requests==2.34.2", "rich==15.0.0"),
    *("tenacity==9.2.1", "typing-inspection==0.4.5", "typing_extensions==4.16.0", "urllib3==2.8.0"),
)
"""Every package that its parts import, of some seventy that it asks for: litellm and its needs take 700 MB more."""

_VERSION = (
    "import sys; sys.path.insert(0, sys.argv[1]); from importlib.metadata import version; "
    "print(version('mini-swe-agent'))"
)

_EDITS = """\
You are a coding agent. Working directory: {where}
You change its files by shell commands, which you give to the tool bash. Each command runs in a new shell in the
working directory: another directory or a variable does not outlast it. A command is stopped after {seconds} seconds,
and nobody can type into it. Of a long output you see the beginning and the end.
{protected}When all is done, say in plain text what you did, without calling a tool: that ends your work.
"""

_READS = """\
You answer a question about files. Working directory: {where}
You read files and directories by the tool read_file; you can run and change nothing.
"""

_THINKS = "You answer a question. Everything that you need to know is in it.\n"

_ANSWERS = "Give your answer by calling the tool structured_output, once: that ends your work.\n"


@dataclass(slots=True)
class Mini(Dialect):
    """The dialect of one installed mini-swe-agent; `python` begins the command that runs its parts."""

    name: ClassVar[str] = "mini"
    company: ClassVar[str] = compatible.COMPANY
    launcher: Launcher
    python: tuple[str, ...]

    @property
    def argv(self) -> tuple[str, ...]:
        """The command line that starts the entry script."""
        return (*self.python, str(ENTRY), str(self.program))

    async def examined(self) -> str:
        async with opened(self.launcher.calls) as call:
            environment = {**self.launcher.environment, **ENVIRONMENT, "HOME": str(call.home)}
            try:
                said = await program_output((*self.argv, "--version"), "mini_cli", environment)
            except Misconfigured as error:
                raise Misconfigured(f"{error} {self._anew}") from None
        found = re.fullmatch(r"mini-swe-agent (2\.\d+\.\d+)", said)
        if found is None:
            raise Misconfigured(f"{self.program} (mini_cli) is not mini-swe-agent 2: it is '{said[:80]}'. {self._anew}")
        return found[1]

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> MiniSession:
        return MiniSession(self, Transcript(), request, endpoint, call)

    @property
    def _anew(self) -> str:
        """The advice for people: packages only fit the Python that fetched them."""
        place = self.program.parents[1]
        return f"Remove {place} if install-cli has made it, and run `workflow-engine install-cli mini`."


class MiniSession(Session[Mini, Transcript]):
    """One call."""

    PROGRAM = "mini-swe-agent"
    FAILED = Ending.UNKNOWN

    def command(self) -> Command:
        """Return argv and environment, and on standard input the call's input with the token: no tool inherits that."""
        prompt = prompt_of(self._request, self.PROGRAM, PROMPT_BYTES)
        directory = self._request.tree or self._call.empty
        order = json.dumps(self._order(prompt.decode(), directory)).encode()
        environment = {**ENVIRONMENT, "MSWEA_GLOBAL_CONFIG_DIR": str(self._call.home / "mini")}
        return Command(self._cli.argv, environment, directory, order)

    def usage(self) -> Usage:
        return self.transcript.usage

    def _verdict(self, ran: Ran) -> RunOutcome | None:
        return verdict(self.transcript, structured=self._structured)

    def _order(self, prompt: str, directory: Path) -> dict[str, Any]:
        request, endpoint = self._request, self._endpoint
        if request.model is None:
            raise Impossible("mini-swe-agent has no model of its own: name one under `llm.models.mini`.")
        seconds = int(max(min(COMMAND_SECONDS, request.limits.silence_seconds / 2), 1))
        told = _EDITS if request.call.edits else _READS if request.tree else _THINKS
        patterns = ", ".join(request.protected)
        protected = f"Changes to these files are refused: {patterns}.\n" if patterns else ""
        tools = [_BASH] if request.call.edits else [_READ] if request.tree else []
        if request.schema is not None:
            told += _ANSWERS
            tools = [*tools, _tool("structured_output", "Give the answer.", strict(request.schema))]
        return {
            "instructions": told.format(where=directory, seconds=seconds, protected=protected),
            "task": prompt,
            "model": request.model,
            "url": f"{endpoint.base_url}/v1",
            "token": endpoint.token,
            "turns": max(request.limits.max_turns + (request.schema is not None), 1),  # the answer itself takes one
            "command_seconds": seconds,
            "tools": tools,
            "answer": request.schema is not None,
        }


def _tool(name: str, about: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


_BASH = _tool(
    "bash",
    "Run a shell command.",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
)

_READ = _tool(
    "read_file",
    "Read the next lines of a file, numbered, or list a directory.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "relative to the working directory"},
            "offset": {"type": "integer", "description": "the first line, from 1"},
        },
        "required": ["path"],
    },
)


def python_of(program: Path) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return the command that runs the parts beside `program`, isolated from other packages, and their directories.

    `install-cli` puts them into a directory for the engine's own Python; people have a virtual environment. Raises
    `Misconfigured` for anything else.
    """
    place, python = program.parents[1], program.with_name("python")
    if (place / "minisweagent").is_dir():
        return (sys.executable, "-I", "-S", "-B"), (place,)
    if (place / "pyvenv.cfg").is_file() and python.exists():
        return (str(python), "-I", "-B"), (place, python.resolve().parents[1])
    raise Misconfigured(
        f"{program} (mini_cli) is not in a virtual environment: run `workflow-engine install-cli mini`, "
        f"or name the `mini` of one."
    )


def version_command(program: Path) -> tuple[str, ...]:
    """Return the command that prints the version: the command `mini` itself has no option for that."""
    python, (place, *_) = python_of(program)
    return (*python, "-c", _VERSION, str(place))


def dialect(program: Path, launcher: Launcher) -> Mini:
    """Return the dialect for the program that was found; a sandbox shows its packages. Raises `Misconfigured`."""
    python, shown = python_of(program)
    return Mini(program, launcher.showing((*shown, ENTRY)), python)


def build(setup: Setup) -> CliCoder:
    """Build the backend for the program that was found; raise `Misconfigured` without one."""
    found = setup.installed("mini", "mini-swe-agent")
    made = dialect(found.path, found.launcher)
    return CliCoder(made, made.launcher, found.endpoints, found.model)


async def examined(probe: Probe) -> Probed:
    """Run the check that the adapter makes before its first call."""
    async with probe.launcher() as launcher:
        mini = dialect(probe.program, launcher)
        await mini.ready()
    return Probed(f"{mini.program} {mini.version}.")


SPEC = BackendSpec(
    build,
    CliSpec(
        protocol=ApiProtocol.COMPATIBLE,
        company=compatible.COMPANY,
        package=Package("mini-swe-agent", "2.4.6", "", "bin/mini", needs=NEEDS),
        keys=(compatible.KEY,),
        url=compatible.URL,
        endpoint=partial(compatible.server, backend="mini"),
        probe=examined,
        version_command=version_command,
        reports_cost=False,
        needs_model=True,
    ),
)
"""The description of this backend for the rest of the engine."""
