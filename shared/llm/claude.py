"""Claude Code as a coding backend: its arguments, its environment, its versions, its key.

Arguments and variables are measured on 2.1.197 and 2.1.330, which differ in `--restricted` and
`--safe-mode`. Nothing of the target repository configures it: without setting sources its settings,
hooks, MCP servers and instruction files are not read, and its `env` cannot redirect the key.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from shared.errors import Misconfigured, MissingCredentials
from shared.filesystem import below, directories
from shared.llm.backend import BackendSpec, CliSpec, Environment, Package, Probe, Probed, Setup
from shared.llm.claude_events import Transcript, uncounted, verdict
from shared.llm.cli.coder import CliCoder, Dialect, Impossible, Session, prompt_of
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.launch import NO_GIT_PROGRAMS, Command, Ran
from shared.llm.cli.programs import check_options, program_output
from shared.llm.endpoint import Endpoint
from shared.llm.kept_sessions import SESSION_BYTES, FoundSession
from shared.llm.port import Request, RunOutcome, Usage
from shared.llm.proxy.api_protocols import ApiProtocol
from shared.llm.structured import as_text, strict

COMPANY = "Anthropic"

KEY, LOGIN, URL = "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"
"""Variables of a person's environment, and of the program's."""

PROMPT_BYTES = 10 * 10**6
"""Claude Code refuses more than this on standard input."""

ARGUMENT_BYTES = 131_071
"""Linux refuses a longer single argument (MAX_ARG_STRLEN)."""

_NEEDED = (
    *("--setting-sources", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"),
    *("--tools", "--json-schema", "--max-budget-usd", "--include-partial-messages"),
)
"""Options that a version must have so that it can be limited and isolated from the repository."""

_CONTINUING = ("--session-id", "--resume")
"""Options that a version must have so that its sessions can be continued."""

_ISOLATING = ("--restricted", "--safe-mode")
"""The newer option goes before the older one; a version without both is isolated by `_NEEDED` alone."""

ENVIRONMENT: Mapping[str, str] = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "BASH_DEFAULT_TIMEOUT_MS": "600000",
    "BASH_MAX_TIMEOUT_MS": "1200000",
    **NO_GIT_PROGRAMS,
}
"""Three retries of about 4 seconds in all; no side traffic; none of the repository's git programs run."""


@dataclass(slots=True)
class Claude(Dialect):
    """The dialect of one `claude` program; `environment` is the one in which it is probed."""

    name: ClassVar[str] = "claude"
    company: ClassVar[str] = COMPANY
    environment: Mapping[str, str]
    flags: tuple[str, ...] = field(default=(), init=False)
    resumes: bool = field(default=False, init=False)

    async def examined(self) -> str:
        version = await self._ask_program("--version")
        found = re.match(r"\d+\.\d+\.\d+", version)
        if found is None:
            raise Misconfigured(f"{self.program} (claude_cli) is not Claude Code: it calls itself '{version[:80]}'.")
        text = await self._ask_program("--help")
        check_options(text, _NEEDED, f"Claude Code {found[0]} ({self.program})", self.name)
        self.flags = tuple(flag for flag in _ISOLATING if flag in text)[:1]
        self.resumes = all(flag in text for flag in _CONTINUING)
        return found[0]

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> ClaudeSession:
        return ClaudeSession(self, request, endpoint, call)

    async def _ask_program(self, argument: str) -> str:
        return await program_output((str(self.program), argument), "claude_cli", self.environment)


class ClaudeSession(Session[Claude, Transcript]):
    """One call."""

    PROGRAM = "Claude Code"

    def __init__(self, cli: Claude, request: Request, endpoint: Endpoint, call: CallDirectory) -> None:
        super().__init__(cli, Transcript(), request, endpoint, call)
        self._session = str(uuid.uuid4()) if cli.resumes and request.continues is not None else ""
        self._resumed = False

    def resume(self, found: FoundSession) -> None:
        """Continue a session: write its file to the place where the program looks for it."""
        directories.write(self._call.home.joinpath(*found.place), found.content)
        self._session, self._resumed = found.id, True

    def command(self) -> Command:
        """Return argv and environment, with the prompt on standard input."""
        prompt = prompt_of(self._request, self.PROGRAM, PROMPT_BYTES)
        argv = (str(self._cli.program), *self._arguments())
        return Command(argv, self._environment(), self._request.tree or self._call.empty, prompt)

    def reused(self) -> int:
        """Return the tokens that its first request read from the vendor's cache."""
        return self.transcript.first_cached

    def session_left(self) -> FoundSession | None:
        """Return the session from the call's home, if it is one plain file at its place: tools could write there."""
        if not self._session:
            return None
        steps = (*_PLACE, re.compile(re.escape(f"{self._session}.jsonl")))
        file = below.only(self._call.home, steps, most=SESSION_BYTES)
        if file is None:
            return None
        content = uncounted(file.content)
        return FoundSession(self._session, file.steps, content, self.transcript.context, {}) if content else None

    def usage(self) -> Usage:
        return self.transcript.usage_so_far

    def _verdict(self, ran: Ran) -> RunOutcome | None:
        return verdict(self.transcript, structured=self._structured)

    def _arguments(self) -> Iterator[str]:
        limits, request = self._request.limits, self._request
        yield from ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
        if request.model:
            yield from ("--model", request.model)
        yield from (*self._cli.flags, "--setting-sources=", "--strict-mcp-config")
        yield "--disable-slash-commands"
        yield from ("--resume" if self._resumed else "--session-id", self._session) if self._session else (_FORGOTTEN,)
        turns = limits.max_turns
        searching = ("WebSearch",) if "web_search" in self._endpoint.tools else ()
        if request.call.edits:
            tools = ("Bash", "Read", "Edit", "Write", "Glob", "Grep", *searching)
            yield from ("--tools", ",".join(tools), "--permission-mode", "acceptEdits")
            yield from ("--allowedTools", ",".join(("Bash", *searching)))
            if request.protected:
                yield from ("--disallowedTools", ",".join(f"Edit({pattern})" for pattern in request.protected))
        else:
            tools = ("Read", "Glob", "Grep", *searching) if request.tree else ()
            yield from ("--tools", ",".join(tools), "--permission-mode", "dontAsk")
            if tools and searching:
                yield from ("--allowedTools", *searching)
        if request.schema is not None:
            yield from ("--json-schema", _argument(as_text(strict(request.schema))))
            turns += 1  # the answer itself takes one
        yield from ("--max-turns", str(max(turns, 1)), "--max-budget-usd", f"{max(limits.budget_usd, 0.01):.2f}")

    def _environment(self) -> dict[str, str]:
        endpoint = self._endpoint
        found = dict(ENVIRONMENT, CLAUDE_CODE_TMPDIR=str(self._call.temporary))
        found[LOGIN if endpoint.login else KEY] = endpoint.token
        if endpoint.base_url is not None:
            found[URL] = endpoint.base_url
        return found


_FORGOTTEN = "--no-session-persistence"

_PLACE = (re.compile(r"\.claude"), re.compile(r"projects"), re.compile(r"[A-Za-z0-9-]{1,255}"))
"""Path below its home of the program's sessions of one directory; the last name stands for that directory."""


def _argument(text: str) -> str:
    if len(text.encode()) > ARGUMENT_BYTES:
        raise Impossible(f"The schema has {len(text):,} characters; one argument can have {ARGUMENT_BYTES:,} bytes.")
    return text


def build(setup: Setup) -> CliCoder:
    """Build the backend for the program that was found; raise `Misconfigured` without one."""
    found = setup.installed("claude", "the Claude Code program")
    made = Claude(found.path, found.launcher.environment)
    return CliCoder(made, found.launcher, found.endpoints, found.model)


def anthropic(environment: Environment) -> Endpoint:
    """Return Anthropic's endpoint: by a key, else by a subscription's token; raise `MissingCredentials`."""
    url = environment.get(URL, "").strip().rstrip("/") or None
    for name in (KEY, LOGIN):
        if token := environment.get(name, "").strip():
            return Endpoint(url, token, login=name == LOGIN)
    raise MissingCredentials(
        f"The claude backend has no key: set the environment variable {KEY}, "
        f"or {LOGIN} to the token that `claude setup-token` prints for a subscription."
    )


async def examined(probe: Probe) -> Probed:
    """Run the check that the adapter makes before its first call."""
    claude = Claude(probe.program, {**probe.children, "HOME": probe.environment.get("HOME", "/")})
    await claude.ready()
    if "--restricted" not in claude.flags:
        step = "Upgrade Claude Code: a version with --restricted keeps more of a repository's own settings out."
        return Probed(f"{probe.program} {claude.version} has no --restricted.", step)
    return Probed(f"{probe.program} {claude.version}.")


SPEC = BackendSpec(
    build,
    CliSpec(
        protocol=ApiProtocol.ANTHROPIC,
        company=COMPANY,
        package=Package("claude-agent-sdk", "0.2.187", "claude_agent_sdk/_bundled", "claude"),
        keys=(KEY, LOGIN),
        url=URL,
        key_shape="sk-ant-...",
        beginnings={"sk-ant-oat": LOGIN, "sk-ant-": KEY},
        subscription="a Claude subscription: the token that `claude setup-token` prints (sk-ant-oat...)",
        not_enforced="the CLI and its tools see the login; a run is stopped at its budget by the CLI alone; "
        "a run that is killed counts as one of unknown cost",
        endpoint=anthropic,
        probe=examined,
    ),
)
"""The description of this backend for the rest of the engine."""
