"""`workflow-engine recover`: what a command in a comment does, from a console; the same table, the same effects."""

from __future__ import annotations

import json
import re
import secrets
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import anyio

from config.loading import load
from config.settings import Settings
from config.state import StateDirectory
from runtime.building.assembly import Process, mirror_of
from runtime.building.connections import web_session
from runtime.building.github_adapters import Hub, hub
from runtime.building.identity import claimant_of
from runtime.building.sign_in import SignedIn, completed, signed_in
from runtime.launch import FAILED, OK, code_of
from shared.errors import EngineError, Misconfigured
from shared.git.command import Identity
from shared.git.fences import Fences
from shared.github.status import StatusBoard
from shared.governance.command_rules import Effect, Refused, fitting, ruling
from shared.governance.command_target import CommandTargets, Target
from shared.governance.commands import ALIASES, Verb
from shared.governance.recovery import Recovery
from shared.governance.retry_command import NOT_BEGUN, named
from shared.lock.gateway import Gateway
from shared.lock.view import observe
from shared.lock.write_permit import OperatorPermit
from shared.loop import RealClock
from shared.workflow import Role

_ITEM = re.compile(r"([^/#\s]+/[^/#\s]+)#([1-9][0-9]{0,9})")

DECISIONS = frozenset({Verb.APPROVE, Verb.REJECT, Verb.EDIT, Verb.MERGE})
"""What is decided in the thread, where people see who did it and on which text or commit."""

ACTIONS = tuple(verb for verb in Verb if verb not in DECISIONS)

UNTOUCHED = frozenset({Effect.PAUSE, Effect.RESUME, Effect.STOP})
"""Effects that reach what an agent holds, because labels alone tell it."""

_NEXT = {
    Effect.PAUSE: "An agent that works on it lets go within a heartbeat; `resume` goes on.",
    Effect.RESUME: "The next free agent goes on.",
    Effect.STOP: "An agent that works on it lets go within a heartbeat; `retry` takes it up again.",
    Effect.RETRY: "The next free agent goes on.",
    Effect.RESET_ATTEMPTS: "The next free agent goes on.",
    Effect.SPEC_REVIEW: "Correct the text, then `close-and-reset`.",
    Effect.CLOSE_AND_RESET: "The next free worker begins.",
}


@dataclass(frozen=True, slots=True)
class RecoverOptions:
    """What a person asked for: one of `ACTIONS`, of `owner/repo#7`; `retry` goes on with `backend`, if there is one."""

    action: str
    item: str
    config: Path | None = None
    json: bool = False
    backend: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of it; `fits` are the actions that fit now."""

    item: str
    action: str
    done: bool
    outcome: str
    stage: str
    next: str = ""
    fits: tuple[str, ...] = ()


def recovered(wishes: RecoverOptions, environment: Mapping[str, str]) -> int:
    """Do it and print; 0 when it was done, 1 when it was refused or GitHub failed, 2 for arguments, 4 for rights."""
    try:
        verb, name, number = _read(wishes)
        settings = load(wishes.config, repository=name, environment=environment)
        _check_backend(wishes, settings)
        answer = anyio.run(_recovered, settings, completed(settings, environment), verb, number, wishes.backend)
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return code_of(error)
    sys.stdout.write(f"{json.dumps(asdict(answer)) if wishes.json else _as_text(answer)}\n")
    return OK if answer.done else FAILED


def _read(wishes: RecoverOptions) -> tuple[Verb, str, int]:
    word = ALIASES.get(wishes.action, wishes.action)
    if word in DECISIONS:
        raise Misconfigured(
            f"`{word}` is decided in the thread, where people see who did it and on which text or commit: "
            f"comment `/{word}` on {wishes.item}."
        )
    verb = next((verb for verb in ACTIONS if verb == word), None)
    if verb is None:
        raise Misconfigured(f"'{wishes.action}' is no action; there is {', '.join(ACTIONS)}.")
    found = _ITEM.fullmatch(wishes.item)
    if found is None:
        raise Misconfigured(f"'{wishes.item}' is no issue or pull request: write it as owner/repo#7.")
    return verb, found[1], int(found[2])


def _check_backend(wishes: RecoverOptions, settings: Settings) -> None:
    if wishes.backend and wishes.action != Verb.RETRY:
        raise Misconfigured("Only `retry` takes --backend.")
    found = named(wishes.backend, settings.backends(settings.repositories[0])) if wishes.backend else ""
    if isinstance(found, Refused):
        raise Misconfigured(f"{found.sentence[0].upper()}{found.sentence[1:]}.")


def _as_text(answer: Answer) -> str:
    told = f"{answer.item}: {answer.outcome}. {answer.next}".strip()
    return told if answer.done else f"{told} What fits at '{answer.stage}': {', '.join(answer.fits) or 'nothing'}."


async def _recovered(
    settings: Settings, environment: Mapping[str, str], verb: Verb, number: int, backend: str = ""
) -> Answer:
    with ExitStack() as stack:  # an identity of its own, never that of an agent
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="recover-")))
        agent = stack.enter_context(StateDirectory(place).open().claim_identity(Role.WORKER))
        process = Process(settings, Role.WORKER, RealClock(), agent, environment)
        async with web_session(settings, environment) as session, signed_in(process, session) as known:
            me = next(iter(known.values()))
            seen = await hub(Role.WORKER, me, settings.repositories[0])
            return await _Console(process, me, seen).recover(verb, number, backend)


class _Console:
    """One repository, and a person with the engine's token."""

    def __init__(self, process: Process, me: SignedIn, seen: Hub) -> None:
        self._seen = seen
        self._configured = process.settings.repositories[0]
        self._claimant = claimant_of(process, seen)
        self._mirror = mirror_of(process, me.answers, self._configured.name)
        identity = Identity(seen.account.login, f"{seen.account.id}+{seen.account.login}@users.noreply.github.com")
        fences = Fences(self._mirror, identity)
        self._port = Gateway(seen.comments, fences, process.clock, lambda: me.github.server_time)

    async def recover(self, verb: Verb, number: int, backend: str = "") -> Answer:
        """The answer for one item; raises what asking GitHub and git raises."""
        await self._mirror.ensure()
        seen = self._seen
        docket = CommandTargets(seen.issues, seen.pulls, self._port, seen.names, self._configured.max_attempts)
        matter = await docket.matter(number)
        ruled = ruling(verb, matter.track, matter.stage)
        if isinstance(ruled, Refused):
            return self._answer(matter, verb, ruled.sentence, done=False)
        holder = await self._holder(matter)
        if holder and ruled not in UNTOUCHED:
            return self._answer(matter, verb, f"{holder} is working on it: `recover stop` ends that", done=False)
        case = matter.case_for(ruled)
        if case is None:
            return self._answer(matter, verb, "it is not a pull request of this engine's making", done=False)
        if backend and case.fence is None:
            return self._answer(matter, verb, NOT_BEGUN, done=False)
        case = replace(case, backend=backend)
        by = OperatorPermit(f"/{verb} by {seen.account.login} at a console")
        recovery = Recovery(seen.labels, seen.pulls, self._mirror, self._port, seen.names)
        outcome = await recovery.carry_out(ruled, case.without_fence() if holder else case, by)
        await self._record(matter, verb, outcome, by)
        return self._answer(await docket.matter(number), verb, outcome, done=True, then=_NEXT.get(ruled, ""))

    async def _holder(self, matter: Target) -> str:
        """Who works on it; empty when nobody does."""
        if matter.case.fence is None:
            return ""
        view = await observe(self._port, matter.case.fence.key, self._claimant)
        return (view.taken_by(self._claimant) or "an agent") if view.live(self._claimant.terms) else ""

    async def _record(self, matter: Target, verb: Verb, outcome: str, by: OperatorPermit) -> None:
        board = StatusBoard(self._seen.comments, matter.owner, self._claimant.accounts, self._claimant.keys)
        who = f"{self._seen.account.login}, at a console"
        entry = {"id": f"console-{secrets.token_hex(4)}", "by": who, "command": f"/{verb}", "outcome": outcome}
        await board.note(matter.case.thread.number, by, commands=[entry])

    def _answer(self, matter: Target, verb: Verb, outcome: str, *, done: bool, then: str = "") -> Answer:
        item = f"{self._configured.name}#{matter.case.thread.number}"
        fits = tuple(one for one in fitting(matter.track, matter.stage) if one in ACTIONS)
        return Answer(item, verb, done, outcome.rstrip("."), matter.stage, then, fits)
