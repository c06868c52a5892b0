"""A coding backend that is a command-line program: the part of a call that is the same for every CLI."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from shared.errors import Misconfigured
from shared.llm.cli.directory import CallDirectory, opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.stream import Event
from shared.llm.endpoint import Endpoint, Endpoints
from shared.llm.port import NOT_RUN, Ending, Outcome, Request
from shared.process import Cut, Patience
from shared.text.redaction import redact


class Session(Protocol):
    """One call of one CLI: what it runs, what it hears, what it makes of it."""

    def command(self) -> Command:
        """What to run; raises `Impossible` when the CLI cannot take this request."""
        ...

    def take(self, event: Event) -> None:
        """One event, as it comes."""
        ...

    def outcome(self, ran: Ran) -> Outcome:
        """The verdict, when we did not end the process ourselves; the exit code alone is never one."""
        ...

    def spent(self) -> Outcome:
        """What is known of a run that we ended: usage and text; its `ending` does not count."""
        ...

    def close(self) -> None:
        """The process is gone, however it ended: take away what only the CLI left in the tree."""
        ...


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

    async def ready(self) -> None:
        """Look, once, at the program and its version; raises `Misconfigured` when it cannot be used."""
        ...

    def session(self, request: Request, endpoint: Endpoint, call: CallDirectory) -> Session:
        """A new call."""
        ...


class Impossible(Exception):
    """The CLI cannot take this request; the message says why."""


class CliCoder:
    """A coder behind a CLI: each call in its own directory, process tree and limits."""

    def __init__(self, dialect: Dialect, launcher: Launcher, endpoints: Endpoints) -> None:
        self._dialect = dialect
        self._launcher = launcher
        self._endpoints = endpoints

    @property
    def name(self) -> str:
        """The configured word."""
        return self._dialect.name

    async def ready(self) -> None:
        """Look, once, at the program and its version; raises `Misconfigured` when it cannot be used."""
        await self._dialect.ready()

    async def run(self, request: Request) -> Outcome:
        """Make one call within its limits; never raises for a failed run, the outcome says so."""
        try:
            await self._dialect.ready()
            async with self._endpoints.open(request) as endpoint, opened(self._launcher.calls) as call:
                with closing(self._dialect.session(request, endpoint, call)) as session:
                    outcome = await self._run(request, session, call, endpoint)
        except Misconfigured as error:
            return Outcome(Ending.CONFIG, str(error), usage=NOT_RUN)
        text = of_the_vendor(redact(outcome.text, [endpoint.token]), self._dialect.company, endpoint.base_url)
        return replace(outcome, text=text)

    async def _run(self, request: Request, session: Session, call: CallDirectory, endpoint: Endpoint) -> Outcome:
        limits = request.limits
        patience = Patience(limits.deadline_seconds, limits.silence_seconds)
        try:
            command = replace(session.command(), readable=request.readable)
            ran = await self._launcher.run(command, call, patience, session.take, endpoint)
        except Impossible as error:
            return Outcome(Ending.PERSISTENT, str(error), usage=NOT_RUN)
        except OSError as error:
            return Outcome(Ending.CONFIG, f"{self.name} cannot be started: {error.strerror}.")
        outcome = _cut(session.spent(), ran, patience) if ran.cut else session.outcome(ran)
        log = self._launcher.keep(call, _name(request), completed=outcome.ending is Ending.COMPLETED)
        return replace(outcome, log=log)


def _cut(spent: Outcome, ran: Ran, patience: Patience) -> Outcome:
    match ran.cut:
        case Cut.DEADLINE:
            text = f"it did not end within {patience.deadline_seconds:g} seconds and was stopped"
        case Cut.SILENCE:
            text = f"it said nothing for {patience.silence_seconds:g} seconds and was stopped"
        case _:
            text = f"it passed the limit of {ran.limit} and was stopped"
            return Outcome(Ending.KILLED, text, usage=spent.usage, notes=spent.notes)
    return Outcome(Ending.TIMED_OUT, text, usage=spent.usage, notes=spent.notes)


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
