"""A coding backend that is a command-line program: the part of a call that is the same for every CLI."""

from __future__ import annotations

import errno
import hashlib
import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import anyio.to_thread
import structlog

from shared.errors import Misconfigured
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.stream import Event
from shared.llm.continuation import FoundSession
from shared.llm.endpoint import Endpoint, Endpoints
from shared.llm.port import NOT_RUN, Ending, Request, RunOutcome
from shared.process import Cut, Patience
from shared.text.redaction import redact

log = structlog.get_logger()


class Session(Protocol):
    """One call of one CLI: what it runs, what it hears, what it makes of it."""

    def resume(self, found: FoundSession) -> None:
        """Go on with what an earlier call has left, before there is a `command`; raises `OSError`."""
        ...

    def command(self) -> Command:
        """What to run; raises `Impossible` when the CLI cannot take this request."""
        ...

    def take(self, event: Event) -> None:
        """One event, as it comes."""
        ...

    def outcome(self, ran: Ran) -> RunOutcome:
        """The verdict, when we did not end the process ourselves; the exit code alone is never one."""
        ...

    def spent(self) -> RunOutcome:
        """What is known of a run that we ended: usage and text; its `ending` does not count."""
        ...

    def reused(self) -> int:
        """How many tokens of a session the first request read from the vendor's cache."""
        ...

    def left(self) -> FoundSession | None:
        """The session as the program has left it; None where it keeps none that can be continued."""
        ...

    def close(self) -> None:
        """The process is gone, however it ended: take away what only the CLI left in the tree."""
        ...


class OneCallSession:
    """What a `Session` says where the program keeps none that a later call could go on with, and leaves no file."""

    PROGRAM = ""
    """What people call it."""

    def resume(self, found: FoundSession) -> None:
        """Raises `OSError`: there is none to go on with."""
        raise OSError(errno.ENOTSUP, f"{self.PROGRAM} goes on in no session ({found.id})")

    def reused(self) -> int:
        """Nothing."""
        return 0

    def left(self) -> FoundSession | None:
        """None."""
        return None

    def close(self) -> None:
        """Nothing is left in the tree."""


class Dialect(Protocol):
    """One CLI: its name, and how it is talked to."""

    @property
    def name(self) -> str:
        """The configured word."""
        ...

    @property
    def company(self) -> str:
        """What people call the vendor."""
        ...

    @property
    def program(self) -> Path:
        """Its executable."""
        ...

    @property
    def version(self) -> str:
        """As it tells, once it is `ready`."""
        ...

    async def ready(self) -> None:
        """Look, once, at the program and its version; raises `Misconfigured` when it cannot be used."""
        ...

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> Session:
        """A new call."""
        ...


class Impossible(Exception):
    """The CLI cannot take this request; the message says why."""


def prompt_of(request: Request, program: str, most_bytes: int) -> bytes:
    """The prompt as `program` reads it; raises `Impossible` for none, and for more than it takes."""
    prompt = request.prompt.encode("utf-8", "replace")
    if not prompt.strip():
        raise Impossible("The prompt is empty.")
    if len(prompt) > most_bytes:
        raise Impossible(f"The prompt has {len(prompt):,} bytes; {program} reads at most {most_bytes:,}.")
    return prompt


class CliCoder:
    """A coder behind a CLI: each call in its own directory, process tree and limits; `model` is for those without."""

    def __init__(self, dialect: Dialect, launcher: Launcher, endpoints: Endpoints, model: str | None = None) -> None:
        self._dialect = dialect
        self._launcher = launcher
        self._endpoints = endpoints
        self._model = model

    @property
    def name(self) -> str:
        """The configured word."""
        return self._dialect.name

    async def ready(self) -> None:
        """Look, once, at the program and its version; raises `Misconfigured` when it cannot be used."""
        await self._dialect.ready()

    async def run(self, request: Request) -> RunOutcome:
        """Make one call within its limits; never raises for a failed run, the outcome says so."""
        request = replace(request, model=request.model or self._model)
        try:
            await self._dialect.ready()
            async with self._endpoints.open(request) as endpoint:
                began = self._launcher.clock.boot()
                outcome = await self._continued(request, endpoint)
                if outcome is None:
                    rest = request.limits.deadline_seconds - (self._launcher.clock.boot() - began)
                    limits = replace(request.limits, deadline_seconds=max(rest, LEAST_SECONDS))
                    outcome = await self._call(replace(request, limits=limits), endpoint)
        except Misconfigured as error:
            return RunOutcome(Ending.CONFIG, str(error), usage=NOT_RUN)
        text = of_the_vendor(redact(outcome.text, [endpoint.token]), self._dialect.company, endpoint.base_url)
        return replace(outcome, text=text)

    async def _continued(self, request: Request, endpoint: Endpoint) -> RunOutcome | None:
        """The call in the session of the last one of its kind; None where there is none, or it was not taken up."""
        continues = request.continues
        if continues is None:
            return None
        found = await anyio.to_thread.run_sync(continues.take, self._circumstances(request, endpoint))
        if found is None:
            return None
        prompt = f"{continues.told}\n\n{request.prompt}"
        outcome = await self._call(replace(request, prompt=prompt), endpoint, found)
        if not was_refused(outcome):
            return outcome
        reason = redact(outcome.text, [endpoint.token])[:300]
        log.warning("session_not_resumed", outcome="retrying", backend=self.name, reason=reason)
        return None

    async def _call(self, request: Request, endpoint: Endpoint, found: FoundSession | None = None) -> RunOutcome:
        async with opened(self._launcher.calls) as call:
            with closing(self._dialect.session(request, endpoint, call)) as session:
                outcome = await self._run(request, session, call, endpoint, found)
                if request.continues is not None and outcome.ending is Ending.COMPLETED:
                    left = await anyio.to_thread.run_sync(session.left)
                    if left is not None:
                        request.continues.put(left, self._circumstances(request, endpoint))
                return outcome if found is None else replace(outcome, resumed=min(session.reused(), found.tokens))

    def _circumstances(self, request: Request, endpoint: Endpoint) -> str:
        """How a call is made, in one word: by which program, for what, and all that bounds it."""
        dialect, wrap = self._dialect, self._launcher.wrap
        facts = {
            "program": (dialect.name, str(dialect.program), dialect.version, request.model),
            "call": (request.call, request.role, request.item, str(request.tree), sorted(request.protected)),
            "sandbox": (wrap.kind, sorted(map(str, self._launcher.hidden))),
            "network": (endpoint.login, endpoint.socket is not None, sorted(endpoint.tools)),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    async def _run(
        self,
        request: Request,
        session: Session,
        call: CallDirectory,
        endpoint: Endpoint,
        found: FoundSession | None,
    ) -> RunOutcome:
        limits = request.limits
        patience = Patience(limits.deadline_seconds, limits.silence_seconds)
        try:
            if found is not None:
                session.resume(found)
            command = replace(session.command(), readable=request.readable)
            ran = await self._launcher.run(command, call, patience, session.take, endpoint)
        except Impossible as error:
            return RunOutcome(Ending.PERSISTENT, str(error), usage=NOT_RUN)
        except OSError as error:
            return RunOutcome(Ending.CONFIG, f"{self.name} cannot be started: {error.strerror}.")
        outcome = _cut(session.spent(), ran, patience) if ran.cut else session.outcome(ran)
        log = self._launcher.keep(call, _name(request), completed=outcome.ending is Ending.COMPLETED)
        return replace(outcome, log=log)


LEAST_SECONDS = 1.0
"""So long may a call take at least that begins anew because its session was not taken up."""

ABOUT_THE_SESSION = frozenset({Ending.CONFIG, Ending.PERSISTENT, Ending.UNKNOWN, Ending.EMPTY, Ending.MALFORMED})
"""How a call may end whose session the program or the vendor did not take; nothing else says anything of it."""


def was_refused(outcome: RunOutcome) -> bool:
    """Whether a session was not taken up: nothing was answered in it, so nothing was paid and no tool has run."""
    usage = outcome.usage
    tokens = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens)
    return outcome.ending in ABOUT_THE_SESSION and not any(tokens)


def _cut(spent: RunOutcome, ran: Ran, patience: Patience) -> RunOutcome:
    match ran.cut:
        case Cut.DEADLINE:
            text = f"it did not end within {patience.deadline_seconds:g} seconds and was stopped"
        case Cut.SILENCE:
            text = f"it said nothing for {patience.silence_seconds:g} seconds and was stopped"
        case _:
            text = f"it passed the limit of {ran.limit} and was stopped"
            return RunOutcome(Ending.KILLED, text, usage=spent.usage, notes=spent.notes)
    return RunOutcome(Ending.TIMED_OUT, text, usage=spent.usage, notes=spent.notes)


def _name(request: Request) -> str:
    item = "".join(mark for mark in request.item if mark.isalnum())
    return f"{item or 'item'}-{request.call}-{request.attempt}.{request.round}.{request.retry}"


def of_the_vendor(text: str, company: str, base_url: str | None) -> str:
    """`text` with the vendor's name `company` where the program names the server at `base_url`, which is ours."""
    where = urlsplit(base_url or "")
    if where.hostname is None:
        return text
    port = rf":{where.port}(?!\d)" if where.port else r"(?!:?\d)"
    server = rf"(?<![\d.]){re.escape(where.hostname)}{port}"
    text = re.sub(rf",? ?\(?url: https?://{server}[^\s,)]*\)?", "", text)
    text = re.sub(rf"[Yy]our inference gateway ?\(?(?:https?://)?{server}[^\s,)]*\)?", company, text)
    return re.sub(rf"(?:https?://)?{server}(?:/[^\s,;)]*)?", company, text)
