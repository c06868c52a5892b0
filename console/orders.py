"""One person's order for one item, carried out and reported in its thread: for `recover` and the dashboard's page."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from config.settings import Settings
from runtime.building.assembly import Process, mirror_of
from runtime.building.github_adapters import GitHubAdapters, github_adapters
from runtime.building.identity import claimant_of, git_identity
from runtime.building.sign_in import SignedIn, visiting
from shared.commands.command import Verb
from shared.commands.command_rules import NOT_BEGUN, OF_THE_ISSUE, CommandRefused, Effect, fitting, ruling
from shared.commands.command_target import CommandTarget, CommandTargets
from shared.commands.recovery import Recovery
from shared.git.fences import Fences
from shared.github.errors import NotFound
from shared.github.people import invisible_item
from shared.github.status import StatusBoard
from shared.lock.gateway import Gateway
from shared.lock.view import observe
from shared.lock.write_permit import OperatorPermit
from shared.loop.real_clock import RealClock
from shared.workflow import Role, Track

DECISIONS = frozenset({Verb.APPROVE, Verb.REJECT, Verb.EDIT, Verb.MERGE})
"""Commands that are given only in the thread, where people see who decided and on which text or commit."""

ACTIONS = tuple(verb for verb in Verb if verb not in DECISIONS)

UNTOUCHED = frozenset({Effect.PAUSE, Effect.RESUME, Effect.STOP})
"""Effects that are allowed while an agent holds the item, because labels alone tell it."""

NEXT = {
    Effect.START: "The next free agent begins it.",
    Effect.DECIDE: "The agent that asked reads it at its next look.",
    Effect.PAUSE: "An agent that works on it lets go within a heartbeat; `resume` goes on.",
    Effect.RESUME: "The next free agent goes on.",
    Effect.STOP: "An agent that works on it lets go within a heartbeat; `retry` takes it up again.",
    Effect.RETRY: "The next free agent goes on.",
    Effect.RESET_ATTEMPTS: "The next free agent goes on.",
    Effect.SPEC_REVIEW: "Correct the text, then `close-and-reset`.",
    Effect.CLOSE_AND_RESET: "The next free worker begins.",
}
"""Sentences that say what follows each effect."""


@dataclass(frozen=True, slots=True)
class Order:
    """One action for one item, and the place where it was ordered; `retry` goes on with `backend`, if one is named."""

    verb: Verb
    number: int
    backend: str = ""
    place: str = "at a console"


@dataclass(frozen=True, slots=True)
class OrderResult:
    """Outcome of an order; `fits` are the actions that fit now."""

    item: str
    action: str
    done: bool
    outcome: str
    stage: str
    next: str = ""
    fits: tuple[str, ...] = ()


async def ordered(settings: Settings, environment: Mapping[str, str], order: Order) -> OrderResult:
    """Carry out the order in the one repository of `settings`; raises what asking GitHub and git raises."""
    async with visiting(settings, environment, RealClock(), apart=False) as (process, known):
        me = next(iter(known.values()))
        adapters = await github_adapters(Role.WORKER, me, settings.repositories[0])
        return await _Console(process, me, adapters).carry_out(order)


class _Console:
    """One repository, and a person with the engine's token."""

    def __init__(self, process: Process, me: SignedIn, adapters: GitHubAdapters) -> None:
        self._hub, self._github = adapters, me.github
        self._configured = process.settings.repositories[0]
        self._claimant = claimant_of(process, adapters)
        self._mirror = mirror_of(process, me.answers, self._configured.name)
        fences = Fences(self._mirror, git_identity(adapters.account))
        self._port = Gateway(adapters.comments, fences, process.clock, adapters.server_time)

    async def carry_out(self, order: Order) -> OrderResult:
        """Carry out the order and return its result; raises what asking GitHub and git raises."""
        verb, number = order.verb, order.number
        await self._mirror.ensure()
        adapters = self._hub
        most = self._configured.max_attempts
        targets = CommandTargets(adapters.issues, adapters.pulls, self._port, adapters.names, most)
        try:
            target = await targets.target(number)
        except NotFound as error:
            raise await invisible_item(self._github, self._configured.name, number) from error
        ruled = ruling(verb, target.track, target.stage)
        if isinstance(ruled, CommandRefused):
            return self._answer(target, verb, ruled.sentence, done=False)
        if ruled is Effect.DECIDE:
            return await self._decide(target, order)
        holder = await self._holder(target)
        if holder and ruled not in UNTOUCHED:
            return self._answer(target, verb, f"{holder} is working on it: `recover stop` ends that", done=False)
        case = target.case_for(ruled)
        if case is None:
            return self._answer(target, verb, "it is not a pull request of this engine's making", done=False)
        if order.backend and case.fence is None:
            return self._answer(target, verb, NOT_BEGUN, done=False)
        case = replace(case, backend=order.backend)
        by = OperatorPermit(f"/{verb} by {adapters.account.login} {order.place}")
        recovery = Recovery(adapters.labels, adapters.pulls, self._mirror, self._port, adapters.names)
        outcome = await recovery.carry_out(ruled, replace(case, fence=None) if holder else case, by)
        await self._record(target, order, outcome, by)
        return self._answer(await targets.target(number), verb, outcome, done=True, then=NEXT.get(ruled, ""))

    async def _decide(self, target: CommandTarget, order: Order) -> OrderResult:
        """Post the command: the agent that asked for the decision reads it there, as anybody's."""
        login, command = self._hub.account.login, f"/{order.verb}"
        if not (await self._hub.people.permission(login)).may_write:
            told = f"{login} is no person with write access: comment `{command}` in the thread yourself"
            return self._answer(target, order.verb, told, done=False)
        by = OperatorPermit(f"{command} by {login} {order.place}")
        await self._hub.comments.post(target.case.thread.number, command, by)
        return self._answer(target, order.verb, f"{login} commented `{command}`", done=True, then=NEXT[Effect.DECIDE])

    async def _holder(self, target: CommandTarget) -> str:
        """Return the agent that works on the item; empty if none does."""
        if target.case.fence is None:
            return ""
        view = await observe(self._port, target.case.fence.key, self._claimant)
        return (view.other_holder or "an agent") if view.is_live else ""

    async def _record(self, target: CommandTarget, order: Order, outcome: str, by: OperatorPermit) -> None:
        board = StatusBoard(self._hub.comments, target.owner, self._claimant.accounts, self._claimant.keys)
        who = f"{self._hub.account.login}, {order.place}"
        entry = {"id": f"console-{secrets.token_hex(4)}", "by": who, "command": f"/{order.verb}", "outcome": outcome}
        await board.note(target.case.thread.number, by, commands=[entry])

    def _answer(self, target: CommandTarget, verb: Verb, outcome: str, *, done: bool, then: str = "") -> OrderResult:
        item = f"{self._configured.name}#{target.case.thread.number}"
        ours = target.track is not Track.PULL_REQUEST or target.case.issue is not None
        fitted = fitting(target.track, target.stage, without=() if ours else OF_THE_ISSUE)
        fits = tuple(one for one in fitted if one in ACTIONS)
        return OrderResult(item, verb, done, outcome.rstrip("."), target.stage, then, fits)
