"""Codex as a coding backend: its arguments, its environment, its versions, its key or login.

Arguments are measured on 0.163 and 0.169. Nothing of the target repository configures it: a project
that nobody declared trusted is not read for settings, hooks or servers, and instruction files and
skills are switched off. It has no limit of turns or money of its own: the deadline and the model
proxy bound a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from shared.errors import Misconfigured, MissingCredentials
from shared.filesystem import below, directories
from shared.filesystem.directories import open_regular
from shared.github.address import LOOPBACK
from shared.llm import codex_login
from shared.llm.backend import BackendSpec, CliSpec, Environment, LoginFile, Package, Probe, Probed, Setup
from shared.llm.cli.coder import CliCoder, Dialect, Impossible, Session
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.programs import check_options, program_output
from shared.llm.cli.stream import LINE_CAP
from shared.llm.codex_output import REQUESTS, Transcript, counted, recorded, tokens, usage, verdict
from shared.llm.codex_program import (
    FIXED,
    native,
    package,
    permissions,
    provider,
    reading,
    sandbox_tried,
    searching,
    signed_in,
)
from shared.llm.endpoint import Endpoint
from shared.llm.kept_sessions import SESSION_BYTES, FoundSession
from shared.llm.port import Request, RunOutcome, Usage
from shared.llm.prices import Prices
from shared.llm.proxy.api_protocols import OFFICIAL, ApiProtocol
from shared.llm.structured import as_text, strict

PROMPT_CHARACTERS = 2**20
"""Codex refuses more than this on standard input."""

COMPANY = "OpenAI"

KEYS, URL = ("OPENAI_API_KEY", "CODEX_API_KEY"), "OPENAI_BASE_URL"
"""Variables of a person's environment."""

KEY = "ENGINE_MODEL_KEY"
"""The variable with the token of the call; its name is one that no tool inherits."""

_NEEDED = (
    *("--json", "--output-schema", "--output-last-message", "--skip-git-repo-check", "--sandbox", "--cd"),
    *("--ignore-user-config", "--ignore-rules", "--strict-config", "--disable"),
)
"""Options that a version must have so that it can be limited and isolated from the repository."""

_DISABLED = (
    *("plugins", "apps", "hooks", "multi_agent", "goals", "tool_suggest", "image_generation"),
    "unbounded_connection_retries",
)
"""Features that a run has no use for; the last one waits for a network without end."""

_KEPT_BY_CODEX = (".git", ".agents", ".codex", ".aws")
"""Paths that Codex itself makes read-only in a tree: for a missing one it mounts an empty directory."""


@dataclass(slots=True)
class Codex(Dialect):
    """The dialect of one native `codex` program; `login` is the file that its calls get a copy of."""

    name: ClassVar[str] = "codex"
    company: ClassVar[str] = COMPANY
    launcher: Launcher
    prices: Prices
    login: Path | None = None
    takes_images: bool = field(default=False, init=False)
    resumes: bool = field(default=False, init=False)
    disabled: tuple[str, ...] = field(default=(), init=False)

    async def examined(self) -> str:
        async with opened(self.launcher.calls) as call:
            version = await self._ask_program(call, "--version")
            found = re.search(r"^codex\S* (\d+\.\d+\.\d+)", version)
            if found is None:
                raise Misconfigured(f"{self.program} (codex_cli) is not Codex: it calls itself '{version[:80]}'.")
            text = await self._ask_program(call, "exec", "--help")
            check_options(text, _NEEDED, f"Codex {found[1]} ({self.program})", self.name)
            self.takes_images = "--image " in text
            self.resumes = re.search(r"^ +resume ", text, re.MULTILINE) is not None
            listed = (await self._ask_program(call, "features", "list")).splitlines()
            await sandbox_tried(self.program, self.launcher, call, self.login)
        features = {line.split()[0] for line in listed if line}
        self.disabled = tuple(name for name in _DISABLED if name in features)
        return found[1]

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> CodexSession:
        return CodexSession(self, request, endpoint, call)

    async def _ask_program(self, call: CallDirectory, *arguments: str) -> str:
        environment = {**self.launcher.environment_of(call), codex_login.HOME: str(call.home)}
        return await program_output((str(self.program), *arguments), "codex_cli", environment)


class CodexSession(Session[Codex, Transcript]):
    """One call."""

    PROGRAM = "Codex"

    def __init__(self, cli: Codex, request: Request, endpoint: Endpoint, call: CallDirectory) -> None:
        super().__init__(cli, Transcript(), request, endpoint, call)
        self._tree = request.tree or call.empty
        self._home = call.home / ".codex"
        self._schema = call.path / "schema.json"
        self._last = call.path / "last.txt"
        self._protected: tuple[str, ...] = ()
        self._resumed: FoundSession | None = None
        self._before: Mapping[str, float] = {}

    def resume(self, found: FoundSession) -> None:
        """Continue a session: write its file to the place where the program looks for it."""
        directories.write(self._call.home.joinpath(*found.place), found.content)
        self._resumed, self._before = found, found.counted

    def command(self) -> Command:
        """Return argv and environment, with the prompt on standard input."""
        prompt = self._request.prompt
        if not prompt.strip():
            raise Impossible("The prompt is empty.")
        if len(prompt) > PROMPT_CHARACTERS:
            raise Impossible(f"The prompt has {len(prompt):,} characters; Codex reads at most {PROMPT_CHARACTERS:,}.")
        if self._request.call.edits:
            self._protected = _places(self._request.protected)
        self._home.mkdir(mode=0o700, exist_ok=True)
        for place in self._protected:  # where it is missing Codex mounts a file, which outlives a killed run
            with suppress(OSError):
                (self._tree / place).mkdir()
        if self._request.schema is not None:
            self._schema.write_text(as_text(strict(self._request.schema)), "utf-8")
        resumed = () if self._resumed is None else ("resume", self._resumed.id)
        argv = (str(self._cli.program), "exec", *self._arguments(), *resumed, "-")
        return Command(argv, self._environment(), self._tree, prompt.encode("utf-8", "replace"))

    def reused(self) -> int:
        """Return the tokens that its first request read from the vendor's cache, by its record; 0 without one."""
        record = recorded(self._home)
        requests = () if record is None else record.requests[int(self._before.get(REQUESTS, 0)) :]
        return requests[0].cached if requests else 0

    def session_left(self) -> FoundSession | None:
        """Return the session from the call's home, if it is one plain file at its place."""
        thread = self.transcript.thread
        if not self._cli.resumes or not _THREAD.fullmatch(thread):
            return None
        steps = (*_PLACE, re.compile(rf"rollout-[0-9T-]{{1,40}}-{thread}\.jsonl"))
        file, record = below.only(self._call.home, steps, most=SESSION_BYTES), recorded(self._home)
        if file is None:
            return None
        last = record.requests[-1] if record is not None and record.requests else tokens(self.transcript.usage, "")
        sums = counted(record, self.transcript.usage)
        return FoundSession(thread, file.steps, file.content, last.prompt + last.output, sums)

    def close(self) -> None:
        """Save a renewed login, and remove the empty directories that a killed sandbox leaves in the tree."""
        if self._endpoint.file is not None:
            codex_login.bring_back(self._home, self._endpoint.file)
        for place in (*_KEPT_BY_CODEX, *self._protected) if self._request.call.edits else ():
            with suppress(OSError):
                (self._tree / place).rmdir()

    def _environment(self) -> dict[str, str]:
        """Return the variables for the call: its token, or with a login a home that gets a copy of it."""
        environment = {codex_login.HOME: str(self._home)}
        if self._endpoint.file is None:
            return {**environment, KEY: self._endpoint.token}
        codex_login.lend(self._endpoint.file, self._home)
        return environment

    def usage(self) -> Usage:
        return usage(recorded(self._home), self.transcript.usage, self._cli.prices, self._before)

    def _verdict(self, ran: Ran) -> RunOutcome | None:
        now, last = datetime.fromtimestamp(self._cli.launcher.clock.now(), UTC), b""
        with suppress(OSError), open_regular(self._last) as file:
            last = file.read(LINE_CAP)
        return verdict(self.transcript, last.decode("utf-8", "replace"), structured=self._structured, now=now)

    def _arguments(self) -> Iterator[str]:
        request, base_url, login = self._request, self._endpoint.base_url, self._endpoint.file
        secret = () if login is None else codex_login.concealed(self._home, login)
        yield from provider(base_url or OFFICIAL[ApiProtocol.OPENAI], KEY) if login is None else signed_in(base_url)
        yield from (*FIXED, *searching(self._endpoint.tools))
        for feature in self._cli.disabled:
            yield from ("--disable", feature)
        if request.model:
            yield from ("-m", request.model)
        yield from permissions(self._protected, secret) if request.call.edits else reading(secret)
        if request.schema is not None:
            yield from ("--output-schema", str(self._schema))
        for image in request.images if self._cli.takes_images else ():  # it would split a path at a comma
            yield from ("--image", os.path.relpath(image, self._tree))
        yield from ("-o", str(self._last), "-C", str(self._tree))  # after images: those take every word up to an option


_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_PLACE = tuple(map(re.compile, (r"\.codex", "sessions", r"\d{4}", r"\d\d", r"\d\d")))
"""Path below the call's home of the program's sessions, by the day on which each began."""


def _places(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the directories and files of `patterns`; raise `Impossible` for a pattern that Codex cannot protect."""
    found = tuple(pattern.removesuffix("/**").removesuffix("/") for pattern in patterns)
    if any(set(place) & set("*?[") or not place for place in found):
        raise Impossible(f"Codex can protect directories and files, but not {', '.join(patterns)}.")
    return found


def build(setup: Setup) -> CliCoder:
    """Build the backend for the program that was found; raise `Misconfigured` without one."""
    program = setup.installed("codex", "the Codex program")
    login = program.endpoints.file if isinstance(program.endpoints, codex_login.LoginLease) else None
    made = dialect(program.path, program.launcher, program.prices or Prices.listed(), login=login)
    return CliCoder(made, made.launcher, program.endpoints, program.model)


def dialect(program: Path, launcher: Launcher, prices: Prices, *, login: Path | None = None) -> Codex:
    """Return the dialect for the program that was found; raise `Misconfigured` if npm's script lacks it."""
    own = native(program)
    return Codex(own, launcher.showing(package(own)), prices, login)


def openai(environment: Environment) -> Endpoint:
    """Return OpenAI's endpoint: by a key, else by the login of `codex login`, as Codex reads it.

    Raises `MissingCredentials`. A ChatGPT login goes to ChatGPT alone: another address is obeyed only if it is on this
    machine, else `Misconfigured` is raised.
    """
    url = environment.get(URL, "").strip().rstrip("/").removesuffix("/v1") or None
    for name in KEYS:
        if token := environment.get(name, "").strip():
            return Endpoint(url, token)
    file = codex_login.place(environment)
    login = codex_login.read(file)
    if login is None:
        raise MissingCredentials(
            f"The codex backend has no key: set the environment variable {KEYS[0]}, "
            f"or run `codex login` for a ChatGPT subscription, which leaves a login in {file}."
        )
    if login.by_key:
        return Endpoint(url, login.key)
    if url is not None and urlsplit(url).hostname not in LOOPBACK:
        raise Misconfigured(
            f"{URL} names another server than ChatGPT, to which the login in {file} is not sent: "
            f"set {KEYS[0]} for that server, or take {URL} away."
        )
    return Endpoint(url, login.access, login=True, file=file)


async def examined(probe: Probe) -> Probed:
    """Run the check that the adapter makes before its first call; it starts the sandbox once, around nothing."""
    login = None
    with suppress(MissingCredentials, Misconfigured):  # told of where the key is looked for
        login = openai(probe.environment).file
    async with probe.launcher() as launcher:
        codex = dialect(probe.program, launcher, Prices({}), login=login)
        await codex.ready()
    return Probed(f"{codex.program} {codex.version}, and its sandbox starts.")


SPEC = BackendSpec(
    build,
    CliSpec(
        protocol=ApiProtocol.OPENAI,
        company=COMPANY,
        package=Package("openai-codex-cli-bin", "0.163.0", "codex_cli_bin", "bin/codex"),
        keys=KEYS,
        url=URL,
        key_shape="sk-...",
        beginnings={"sk-": KEYS[0]},
        subscription="a ChatGPT subscription: leave here, run `codex login`, and start again",
        not_enforced="the CLI sees the login, its tools do not; nothing stops a run at its budget but its deadline; "
        "what is cut off in the middle of an answer is not counted; runs go one at a time",
        endpoint=openai,
        probe=examined,
        reports_cost=False,
        login=LoginFile(
            variable=codex_login.HOME,
            place=codex_login.place,
            secrets=codex_login.hidden,
            recover=codex_login.recover,
            lent=codex_login.lent,
            refusal=codex_login.unwritable,
            lease=codex_login.LoginLease,
        ),
    ),
)
"""The description of this backend for the rest of the engine."""
