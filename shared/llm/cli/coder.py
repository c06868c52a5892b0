"""A coding backend that is a command-line program: the part of a call that is the same for every CLI."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

import anyio.to_thread
import structlog

from shared.errors import Misconfigured
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.stream import Event
from shared.llm.endpoint import Endpoint, Endpoints, judged
from shared.llm.kept_sessions import FoundSession
from shared.llm.port import NOT_RUN, Ending, Request, RunOutcome, Usage
from shared.llm.structured import fitted
from shared.process import Cut, Patience
from shared.text.redaction import redact

log = structlog.get_logger()


class Transcript(Protocol):
    """The facts of a run, collected from its events."""

    def take(self, event: Event) -> None:
        """Record the facts of one event."""
        ...


T = TypeVar("T", bound=Transcript)
D = TypeVar("D", bound="Dialect")


class Session(ABC, Generic[D, T]):
    """One call of one CLI. Unless overridden, it continues and keeps no session, and leaves no file in the tree."""

    PROGRAM: ClassVar[str]
    """The program's name for people."""
    FAILED: ClassVar[Ending] = Ending.CONFIG
    """Ending of a run that fails without a result."""

    def __init__(self, cli: D, transcript: T, request: Request, endpoint: Endpoint, call: CallDirectory) -> None:
        self._cli = cli
        self.transcript = transcript
        self._request = request
        self._endpoint = endpoint
        self._call = call

    def resume(self, found: FoundSession) -> None:
        """Continue the session of an earlier call; called before `command`; raises `OSError`."""
        raise OSError(errno.ENOTSUP, f"{self.PROGRAM} goes on in no session ({found.id})")

    @abstractmethod
    def command(self) -> Command:
        """Return the command to run; raise `Impossible` if the CLI cannot take this request."""

    async def run(self, launcher: Launcher, found: FoundSession | None) -> RunOutcome:
        """Start the program, which continues the session `found` if there is one, and wait for its end."""
        request, limits = self._request, self._request.limits
        patience = Patience(limits.deadline_seconds, limits.silence_seconds)
        try:
            if found is not None:
                self.resume(found)
            command = replace(self.command(), readable=request.readable)
            ran = await launcher.run(command, self._call, patience, self.transcript.take, self._endpoint)
        except Impossible as error:
            return RunOutcome(Ending.PERSISTENT, str(error), usage=NOT_RUN)
        except OSError as error:
            return RunOutcome(Ending.CONFIG, f"{self._cli.name} cannot be started: {error.strerror}.")
        outcome = _cut_outcome(self.usage(), ran, patience) if ran.cut else self.outcome(ran)
        kept = launcher.keep(self._call, _name(request), completed=outcome.ending is Ending.COMPLETED)
        return replace(outcome, log=kept)

    def outcome(self, ran: Ran) -> RunOutcome:
        """Return the outcome, if we did not end the process ourselves; the exit code alone never decides it."""
        usage = self.usage()
        if ran.signalled:
            return RunOutcome(Ending.KILLED, f"it was ended by a signal (exit code {ran.code})", usage=usage)
        found = self._verdict(ran)
        if found is None:
            said = ran.complaint or "it said nothing at all"
            ending = Ending.UNKNOWN if ran.code == 0 else self.FAILED
            return RunOutcome(ending, f"{said} (exit code {ran.code}, no result)", usage=usage)
        answer = found.answer
        if answer is not None and self._request.schema is not None:
            answer = fitted(answer, self._request.schema)
        return replace(found, answer=answer, usage=usage)

    def reused(self) -> int:
        """Return the tokens of a session that the first request read from the vendor's cache."""
        return 0

    def session_left(self) -> FoundSession | None:
        """Return the session as the program has left it; None if it keeps none that can be continued."""
        return None

    def close(self) -> None:
        """Clean up after the process is gone, however it ended: remove files that only the CLI left in the tree."""

    @abstractmethod
    def usage(self) -> Usage:
        """Return the usage known so far."""

    @property
    def _structured(self) -> bool:
        return self._request.schema is not None

    @abstractmethod
    def _verdict(self, ran: Ran) -> RunOutcome | None:
        """Return the result that the program reported, without its usage; None without one."""


@dataclass(slots=True)
class Dialect(ABC):
    """One CLI: its executable, and the way to talk to it."""

    name: ClassVar[str]
    """The backend's name in the configuration."""
    company: ClassVar[str]
    """The vendor's name for people."""
    program: Path
    version: str = field(default="", init=False)
    """The version that the program reports, once it is `ready`."""

    async def ready(self) -> None:
        """Check, once, the program and its version; raise `Misconfigured` if it cannot be used."""
        if not self.version:
            self.version = await self.examined()
            log.info("backend_found", backend=self.name, version=self.version, program=str(self.program))

    @abstractmethod
    async def examined(self) -> str:
        """Return the version and note what it can do; raise `Misconfigured` naming what it lacks."""

    @abstractmethod
    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> Session[Any, Any]:
        """Return the session of a new call; await `ready` before."""


class Impossible(Exception):
    """The CLI cannot take this request; the message says why."""


def prompt_of(request: Request, program: str, most_bytes: int) -> bytes:
    """Return the prompt as `program` reads it; raise `Impossible` if it is empty or too long."""
    prompt = request.prompt.encode("utf-8", "replace")
    if not prompt.strip():
        raise Impossible("The prompt is empty.")
    if len(prompt) > most_bytes:
        raise Impossible(f"The prompt has {len(prompt):,} bytes; {program} reads at most {most_bytes:,}.")
    return prompt


class CliCoder:
    """A coder behind a CLI: each call has its own directory, process tree, limits; `model` is the default one."""

    def __init__(self, dialect: Dialect, launcher: Launcher, endpoints: Endpoints, model: str | None = None) -> None:
        self._dialect = dialect
        self._launcher = launcher
        self._endpoints = endpoints
        self._model = model
        self.name = dialect.name
        """The backend's name in the configuration."""

    async def ready(self) -> None:
        """Check, once, the program and its version; raise `Misconfigured` if it cannot be used."""
        await self._dialect.ready()

    async def run(self, request: Request) -> RunOutcome:
        """Make one call within its limits; never raises for a failed run, the outcome says so."""
        request = replace(request, model=request.model or self._model)
        endpoint: Endpoint | None = None
        try:
            await self._dialect.ready()
            async with self._endpoints.open(request) as endpoint:
                request.usage_so_far.read = endpoint.usage
                outcome = await self._make(request, endpoint)
            text = of_the_vendor(redact(outcome.text, [endpoint.token]), self._dialect.company, endpoint.base_url)
            outcome = replace(outcome, text=text)
        except Misconfigured as error:
            outcome = RunOutcome(Ending.CONFIG, str(error), usage=NOT_RUN)
        measured = None if endpoint is None else endpoint.measured
        return outcome if measured is None else judged(outcome, measured())

    async def _make(self, request: Request, endpoint: Endpoint) -> RunOutcome:
        """Make the call in the session of the last one, or else in a new one, which has the rest of the time."""
        began = self._launcher.clock.boot()
        outcome = await self._continue(request, endpoint)
        if outcome is not None:
            return outcome
        rest = request.limits.deadline_seconds - (self._launcher.clock.boot() - began)
        limits = replace(request.limits, deadline_seconds=max(rest, LEAST_SECONDS))
        return await self._call(replace(request, limits=limits), endpoint)

    async def _continue(self, request: Request, endpoint: Endpoint) -> RunOutcome | None:
        """Make the call in the session of the last one of its kind; None if there is none, or it was refused."""
        continues = request.continues
        if continues is None:
            return None
        found = await anyio.to_thread.run_sync(continues.take, self._circumstances(request, endpoint))
        if found is None:
            return None
        prompt = f"{continues.tree_changes}\n\n{request.prompt}"
        outcome = await self._call(replace(request, prompt=prompt), endpoint, found)
        if not was_refused(outcome):
            return outcome
        reason = redact(outcome.text, [endpoint.token])[:300]
        log.warning("session_not_resumed", outcome="retrying", backend=self.name, reason=reason)
        return None

    async def _call(self, request: Request, endpoint: Endpoint, found: FoundSession | None = None) -> RunOutcome:
        async with opened(self._launcher.calls) as call:
            with closing(self._dialect.session(request, endpoint, call)) as session:
                outcome = await session.run(self._launcher, found)
                if request.continues is not None and outcome.ending is Ending.COMPLETED:
                    left = await anyio.to_thread.run_sync(session.session_left)
                    if left is not None:
                        request.continues.put(left, self._circumstances(request, endpoint))
                return outcome if found is None else replace(outcome, resumed=min(session.reused(), found.tokens))

    def _circumstances(self, request: Request, endpoint: Endpoint) -> str:
        """Return a hash of the circumstances of a call: its program, its purpose, and everything that limits it."""
        dialect, confinement = self._dialect, self._launcher.confinement
        facts = {
            "program": (dialect.name, str(dialect.program), dialect.version, request.model),
            "call": (request.call, request.role, request.item, str(request.tree), sorted(request.protected)),
            "sandbox": (confinement.wrap.kind, sorted(map(str, confinement.hidden))),
            "network": (endpoint.login, endpoint.socket is not None, sorted(endpoint.tools)),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


LEAST_SECONDS = 1.0
"""Least deadline, in seconds, of a call that starts again because its session was refused."""

ABOUT_THE_SESSION = frozenset({Ending.CONFIG, Ending.PERSISTENT, Ending.UNKNOWN, Ending.EMPTY, Ending.MALFORMED})
"""Endings of a call whose session the program or the vendor refused; other endings do not show a refusal."""


def was_refused(outcome: RunOutcome) -> bool:
    """Return whether a session was refused: no answer came in it, so nothing was paid and no tool has run."""
    usage = outcome.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens)
    return outcome.ending in ABOUT_THE_SESSION and not any(tokens)


def _cut_outcome(usage: Usage, ran: Ran, patience: Patience) -> RunOutcome:
    match ran.cut:
        case Cut.DEADLINE:
            text = f"it did not end within {patience.deadline_seconds:g} seconds and was stopped"
        case Cut.SILENCE:
            text = f"it said nothing for {patience.silence_seconds:g} seconds and was stopped"
        case _:
            return RunOutcome(Ending.KILLED, f"it passed the limit of {ran.limit} and was stopped", usage=usage)
    return RunOutcome(Ending.TIMED_OUT, text, usage=usage)


def _name(request: Request) -> str:
    item = "".join(mark for mark in request.item if mark.isalnum())
    return f"{item or 'item'}-{request.call}-{request.attempt}.{request.round}.{request.retry}"


def of_the_vendor(text: str, company: str, base_url: str | None) -> str:
    """Replace the server at `base_url`, which is ours, by the vendor's name `company` in a program's text."""
    address = urlsplit(base_url or "")
    if address.hostname is None:
        return text
    port = rf":{address.port}(?!\d)" if address.port else r"(?!:?\d)"
    server = rf"(?<![\d.]){re.escape(address.hostname)}{port}"
    text = re.sub(rf",? ?\(?url: https?://{server}[^\s,)]*\)?", "", text)
    text = re.sub(rf"[Yy]our inference gateway ?\(?(?:https?://)?{server}[^\s,)]*\)?", company, text)
    return re.sub(rf"(?:https?://)?{server}(?:/[^\s,;)]*)?", company, text)
