"""An agent whose items obey commands: what any kind of agent does about them, around what it does itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from shared.commands.command_loop import SAID, CommandLoop
from shared.commands.start_signals import ASKED, StartSignals
from shared.errors import Blocked, Gone, Unauthorized
from shared.escalation.diagnosis import Diagnosis
from shared.escalation.notifier import Notifier
from shared.github.ports import Inbox
from shared.lock.claimant import Claimant
from shared.lock.codec import ItemKey
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.lock.port import Port
from shared.lock.view import observe
from shared.models import Issue
from shared.scheduling.items import UNTIL_NEWS, Agent, Candidate, Skip, Step
from shared.workflow import Role

SOON_SECONDS = 0.01
"""An item that a command has moved is looked at again with the next tick; no lost race, so others may be begun."""

HELD_SECONDS = 60.0
"""An item at rest on which a lock still stands, of a holder that may be dead: its thread is looked at again then."""


@dataclass(frozen=True, slots=True)
class CommandServices:
    """Where an agent meets people: what it hears, whom it calls, and what it says of a cause."""

    commands: CommandLoop
    notifier: Notifier
    diagnosis: Diagnosis
    choices: MutableMapping[str, str] = field(default_factory=dict)
    """Which backend plays for which item, as `RoleRouter` asks for it."""
    starts: StartSignals | None = None
    """What begins without a comment, where that is configured."""


class CommandedAgent:
    """The agent, which also carries out what people order. A thread is read only where somebody may have spoken."""

    def __init__(self, agent: Agent, people: CommandServices, lists: Inbox, port: Port, claimant: Claimant) -> None:
        self._agent = agent
        self._commands, self._notifier, self._diagnosis = people.commands, people.notifier, people.diagnosis
        self._choices = people.choices
        self._starts = people.starts
        self._lists = lists
        self._port = port
        self._claimant = claimant
        self._held: dict[int, Held] = {}
        self._before: dict[int, str] = {}

    @property
    def role(self) -> Role:
        """The agent's."""
        return self._agent.role

    @property
    def repository(self) -> str:
        """The agent's."""
        return self._agent.repository

    async def discover(self) -> Sequence[Candidate]:
        """What the agent finds, then items at rest in whose threads somebody has spoken, then what is to be begun."""
        found = await self._agent.discover()
        await self._notifier.watch(self._known)
        if self._starts is not None:
            await self._starts.look()
        busy = self._held.keys() | {one.number for one in found}
        said = tuple(self._commands.candidates(self._known, busy))
        if self._starts is None:
            return (*found, *said)
        return (*found, *said, *self._starts.candidates(self._known, busy | {one.number for one in said}))

    async def claim(self, candidate: Candidate) -> Lease | Skip:
        """Carry out what was ordered of an item that nobody holds; the agent's claim when nothing was."""
        if self._commands.has_news(candidate.number, self._lists.known):
            free = partial(self._free, candidate.number)
            done = await self._commands.attend(candidate.number, self._known, free)
            if done:
                return Skip(done, SOON_SECONDS)
        if candidate.version.startswith(SAID):
            if self._commands.has_news(candidate.number, self._known):
                return Skip("it is heard when nobody holds it any more", HELD_SECONDS)
            return Skip("no command or label asks for work", UNTIL_NEWS)
        if self._starts is not None and candidate.version.startswith(ASKED):
            begun = await self._starts.attend(candidate.number, partial(self._free, candidate.number))
            return Skip(begun, SOON_SECONDS) if begun else Skip("nothing new asks for work", UNTIL_NEWS)
        return await self._agent.claim(candidate)

    async def _free(self, number: int) -> bool:
        view = await observe(self._port, ItemKey(self.role, number), self._claimant)
        return not view.live(self._claimant.terms)

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """The agent's."""
        number = lease.fence.key.number
        async with self._agent.hold(lease) as held:
            self._held[number] = held
            self._before[number] = lease.before
            if held.fence.backend:
                self._choices[f"#{number}"] = held.fence.backend
            try:
                yield held
            finally:
                del self._held[number], self._before[number]
                self._choices.pop(f"#{number}", None)

    async def revoked(self, number: int) -> str | None:
        """A command, or what the agent sees."""
        held = self._held.get(number)
        commanded = await self._commands.interruption(held, self._known) if held is not None else None
        return commanded or await self._agent.revoked(number)

    async def step(self, held: Held) -> Step:
        """The agent's; a decision that it comes to wait for is asked of people, and so is what it finds given up."""
        step = await self._agent.step(held)
        await self._notifier.parked(held, step)
        await self._notifier.halted(held, step, self._before.get(held.fence.key.number, ""))
        return step

    async def stop(self, held: Held, reason: str) -> None:
        """The agent's."""
        await self._agent.stop(held, reason)

    async def wait(self, held: Held, sentence: str) -> None:
        """The agent's."""
        await self._agent.wait(held, sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        """The agent's, with a diagnosis where one may help; then somebody is called."""
        error.diagnosis = error.diagnosis or await self._diagnosis.of(held, error)
        try:
            await self._agent.fail(held, error)
        except (Gone, Unauthorized):  # nobody is left to look at it; or it is told again once the token works
            raise
        except Blocked:  # its thread takes no word of ours: somebody has to be called in another way
            await self._notifier.failed(held, error)
            raise
        await self._notifier.failed(held, error)

    @property
    def _known(self) -> Mapping[int, Issue]:
        return self._lists.known
