"""An agent whose items obey commands: the part that all kinds of agent share, wrapped around the agent itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from shared.commands.command_loop import CommandLoop
from shared.commands.start_signals import StartSignals
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
from shared.scheduling.agent_contract import UNTIL_NEWS, Agent, Candidate, CandidateKind, Claim, Skip, Step
from shared.workflow import Role

SOON_SECONDS = 0.01
"""Seconds until an item that a command moved is looked at again: the next tick. Not a lost race: others may begin."""

HELD_SECONDS = 60.0
"""Seconds until the thread of a resting item is looked at again if its lock is still held, maybe by a dead holder."""


@dataclass(frozen=True, slots=True)
class CommandServices:
    """An agent's channels to people: commands, calls for help, and diagnoses of failures."""

    commands: CommandLoop
    notifier: Notifier
    diagnosis: Diagnosis
    choices: MutableMapping[str, str] = field(default_factory=dict)
    """Backend chosen for each item (`#3`), as `RoleRouter` looks it up."""
    starts: StartSignals | None = None
    """Starts without a comment (labels, assignments); None if they are not configured."""


class CommandedAgent:
    """An agent that also carries out people's commands. Reads a thread only if somebody may have written there."""

    def __init__(self, agent: Agent, people: CommandServices, lists: Inbox, port: Port, claimant: Claimant) -> None:
        self._agent = agent
        self._people = people
        self._lists = lists
        self._port = port
        self._claimant = claimant
        self._held: dict[int, Held] = {}
        self._before: dict[int, str] = {}

    @property
    def role(self) -> Role:
        """The wrapped agent's role."""
        return self._agent.role

    @property
    def repository(self) -> str:
        """The wrapped agent's repository, `owner/repo`."""
        return self._agent.repository

    async def discover(self) -> Sequence[Candidate]:
        """Return the agent's candidates, then resting items with new comments, then issues with a signal to start."""
        found = await self._agent.discover()
        await self._people.notifier.watch(self._lists.known)
        if self._people.starts is not None:
            await self._people.starts.look()
        busy = self._held.keys() | {one.number for one in found}
        said = tuple(self._people.commands.candidates(self._lists.known, busy))
        if self._people.starts is None:
            return (*found, *said)
        return (*found, *said, *self._people.starts.candidates(self._lists.known, busy | {one.number for one in said}))

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        """Carry out the commands on an item that nobody holds; without any, return the agent's own claim."""
        if self._people.commands.has_news(candidate.number, self._lists.known):
            free = partial(self._is_free, candidate.number)
            done = await self._people.commands.attend(candidate.number, self._lists.known, free)
            if done:
                return Skip(done, SOON_SECONDS)
        if candidate.kind is CandidateKind.COMMENT:
            if self._people.commands.has_news(candidate.number, self._lists.known):
                return Skip("it is heard when nobody holds it any more", HELD_SECONDS)
            return Skip("no command or label asks for work", UNTIL_NEWS)
        if self._people.starts is not None and candidate.kind is CandidateKind.START_SIGNAL:
            begun = await self._people.starts.attend(candidate.number, partial(self._is_free, candidate.number))
            return Skip(begun, SOON_SECONDS) if begun else Skip("nothing new asks for work", UNTIL_NEWS)
        return await self._agent.prepare(candidate)

    async def _is_free(self, number: int) -> bool:
        view = await observe(self._port, ItemKey(self.role, number), self._claimant)
        return not view.is_live

    @asynccontextmanager
    async def hold(self, lease: Lease) -> AsyncIterator[Held]:
        """Hold the lease as the agent does, and use the backend that its fence names."""
        number = lease.fence.key.number
        async with self._agent.hold(lease) as held:
            self._held[number] = held
            self._before[number] = lease.before
            if held.fence.backend:
                self._people.choices[f"#{number}"] = held.fence.backend
            try:
                yield held
            finally:
                del self._held[number], self._before[number]
                self._people.choices.pop(f"#{number}", None)

    async def revoked(self, number: int) -> str | None:
        """Return the command that interrupts the work, else the reason that the agent sees to end it."""
        held = self._held.get(number)
        commanded = await self._people.commands.interruption(held, self._lists.known) if held is not None else None
        return commanded or await self._agent.revoked(number)

    async def step(self, held: Held) -> Step:
        """Take the agent's step; call people if it waits for their decision or gave the item up."""
        step = await self._agent.step(held)
        await self._people.notifier.parked(held, step)
        await self._people.notifier.halted(held, step, self._before.get(held.fence.key.number, ""))
        return step

    async def stop(self, held: Held, reason: str) -> None:
        """Stop as the agent does."""
        await self._agent.stop(held, reason)

    async def wait(self, held: Held, sentence: str) -> None:
        """Wait as the agent does."""
        await self._agent.wait(held, sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        """Fail as the agent does, with a diagnosis if one may help; then call a person."""
        error.diagnosis = error.diagnosis or await self._people.diagnosis.of(held, error)
        try:
            await self._agent.fail(held, error)
        except (Gone, Unauthorized):  # nobody is left to look at it; or it is told again once the token works
            raise
        except Blocked:  # its thread takes no word of ours: somebody has to be called in another way
            await self._people.notifier.failed(held, error)
            raise
        await self._people.notifier.failed(held, error)
