"""An agent from the lock's point of view: the tick, the claim, the lease with its heartbeat, the stop.

No event loop.
"""

from __future__ import annotations

from typing import Any, Protocol

from shared.errors import EngineError, Transient
from shared.github.status import Status
from shared.lock.write_permit import Notice
from shared.workflow import Role, Stage

from .github import BOT
from .identity import Identity, Plan
from .journal import Claimed, Effect, Hold, Look, Loss, PaidRun
from .kernel import Sleep, Task
from .process import Fate, Process
from .protocol import Protocol as Lock
from .wire import Comments, Fences, Forge

RELEASE_SECONDS = 10.0
"""Seconds that the end of a lease may take, as in `shared.lock.scope`."""

ACCOUNTS = frozenset(range(BOT.id, BOT.id + 10))
"""Ids of the engine's accounts."""


POLL_SECONDS = 180.0
SWEEP_SECONDS = 600.0
SKIP_SECONDS = 300.0
RETRY_SECONDS = 30.0
BACKOFF_SECONDS = 900.0


class Duty(Protocol):
    """The use of the lock by one kind of agent."""

    role: Role

    async def wish(self, agent: Agent) -> tuple[Any, Any] | None:
        """Look for work: the view of the lock and the intent, or None."""
        ...

    async def step(self, agent: Agent, held: Any) -> bool:
        """One step as the holder; true at the end."""
        ...

    async def ordered(self, agent: Agent, held: Any) -> bool:
        """Return whether a person ordered to stop."""
        ...

    async def stop(self, agent: Agent, held: Any) -> None:
        """End the work on a person's order."""
        ...


class Agent:
    """One life of an agent."""

    def __init__(self, fate: Fate, lock: Lock, identity: Identity, process: Process, duty: Duty, plan: Plan) -> None:
        self.fate = fate
        self.lock = lock
        self.identity = identity
        self.process = process
        self.plan = plan
        self.forge = Forge(fate.github)
        self.fences = Fences(fate.github)
        comments = Comments(fate.github, identity.account)
        more = {} if identity.first_format else {"sure": process.sure}
        self.port = lock.Gateway(comments, self.fences, process, process.server_time, **more)
        terms = lock.LockTimes()
        self.claimant = lock.Claimant(identity.name, ACCOUNTS, identity.keys, identity.nonces, terms)
        self._holding: dict[Any, Any] = {}
        self.board = lock.Board(comments, duty.role, ACCOUNTS, identity.keys)
        if not identity.first_format:
            self.board.write_by_leases(self._holding)
        self.held: Any = None
        self._heard = 0
        self._run: PaidRun | None = None
        self.hold_record: Hold | None = None
        self.skip_until = 0.0
        self.skipped: object = None
        self.sweep_at = 0.0
        self._duty = duty
        self._tasks: list[Task] = []
        self._leaving = False

    # The tick

    async def run(self, first: float) -> None:
        """Tick for ever."""
        self.sweep_at = first + SWEEP_SECONDS * self.fate.rng.random()
        await Sleep(first)
        while True:
            try:
                await self._tick()
            except EngineError as error:
                self.say(f"ends its tick: {type(error).__name__} {error}")
            # Between two looks at an item that is skipped, polls answer 304: they are left out here.
            skips = 0.0 if self.held is not None else self.skip_until - self.process.boot()
            poll = self.fate.world.special.quick or POLL_SECONDS
            if self.fate.world.special.in_step:
                await Sleep(poll - self.process.kernel.now % poll)
            else:
                await Sleep(max(poll, skips) * (1 + 0.1 * self.fate.rng.random()))

    async def _tick(self) -> None:
        if self._leaving:
            return
        if self.held is not None:
            held = self.held
            if await self._duty.ordered(self, held) and self.held is held and not self._leaving:
                self.say("stops on a person's order")
                self._tasks[1].close()
                self._tasks[1] = self.process.spawn(self._stop(held), self._over)
            return
        wish = await self._duty.wish(self)
        if wish is not None:
            await self._claim(*wish)

    async def look(self, key: Any) -> Any:
        """Look at the lock once; note the order of its reads."""
        ops, kernel, began = self.process.ops, self.process.kernel, self.process.kernel.now
        ops.clear()
        try:
            return await self.lock.observe(self.port, key, self.claimant)
        finally:
            self.fate.journal.looks.append(Look(began, kernel.now, self.process.sender, tuple(ops)))

    async def sweep(self, key: Any) -> Any:
        """Return the fence as a sweep reads it, after the comments of ended epochs (as `shared.reconcile.sweep`)."""
        self.sweep_at = self.process.kernel.now + SWEEP_SECONDS
        found = await self.fences.read(key.ref)
        fence = None if found is None else self.lock.read_fence(key, *found)
        if self.lock.tell_ends is not None and fence is not None:
            now = self.process.server_time()
            told = await self.lock.tell_ends(self.port, (fence,), self.claimant, now)
            self.fate.journal.counts["end told by a sweep"] += told
        return fence

    async def tell(self, held: Any, sentence: str, stage: Stage | None = None) -> None:
        """Write the progress into the comment, as the real agents do: after the fence, and before the labels.

        `stage` is the end that it is about to reach, which is told before the fence says so.
        """
        if held.ack.id:
            self.effect(held, "status")
            rows = (("Log", "x" * self.plan.log_characters or "empty"),)
            told = Status(sentence, rows, {"stage": stage or held.fence.stage})
            await self.board.show(held.fence.key.number, told, held)

    async def hear(self, number: int) -> None:
        """Record people's commands in the comment, whoever holds it."""
        commands = [] if self.identity.first_format else self.fate.commands[self._heard :]
        if commands:
            self.fate.journal.counts["command recorded without holding"] += self.held is None
            entries = [{"id": id, "by": "octavia"} for id in commands]
            await self.board.note(number, Notice(number, "commands"), commands=entries)
            self._heard += len(commands)

    async def _claim(self, view: Any, intent: Any) -> None:
        process, journal = self.process, self.fate.journal
        process.ops.clear()
        faults, began = process.faults, process.kernel.now
        mine = self.lock.mine(view, self.claimant)
        lease = None
        try:
            lease = await self.lock.claim(self.port, view, self.claimant, intent)
        finally:
            ops = tuple(process.ops)
            journal.claims.append(
                Claimed(
                    began,
                    process.sender,
                    lease is not None,
                    len(ops),
                    ops.count("posts"),
                    process.faults - faults,
                    ops,
                    process.kernel.now,
                )
            )
            self._count(view, mine, lease, ops)
        if lease is not None:
            self._begin(lease)

    def _count(self, view: Any, mine: str, lease: Any, ops: tuple[str, ...]) -> None:
        asked = "reads the comments of" in ops[ops.index("posts") :] if "posts" in ops else False
        if lease is None:
            self._note("fence refused a claim", "pushes" in ops)
            self._note("claim given up after its fence had moved", "posts" in ops or "edits" in ops)
            return
        self.say(f"holds by {lease.ack.nonce[-6:]} under comment {lease.ack.id}")
        if mine:
            known = mine in self.fate.journal.known
            self._note("own epoch gone on with after a restart" if known else "own late push gone on with")
        elif view.fence is not None and view.fence.agent != self.identity.name:
            self._note("takeover at once after a release" if self.lock.was_free(view) else "takeover")
        self._note("lost POST found by its nonce", asked)
        self.fate.journal.known.add(lease.ack.nonce)

    def skip(self, boot: float, seen: object = None) -> None:
        """Leave the item alone for a while, unless it changes; `boot` is the time of the look."""
        self.skip_until, self.skipped = boot + (self.fate.world.special.quick or SKIP_SECONDS), seen

    def _note(self, what: str, times: bool = True) -> None:
        """Count a proof that the lock under test does something; acts of the first format prove nothing."""
        self.fate.journal.counts[what] += times and not self.identity.first_format

    # The lease

    def _begin(self, lease: Any) -> None:
        held = self.held = self.lock.begin(self.port, lease, self.claimant)
        if not self.identity.first_format:
            self.claimant.holding.add(held.fence.key)
            self._holding[held.fence.key] = held
        ack = held.ack
        self.hold_record = Hold(
            held.fence.key.ref, self.process.sender, ack.agent, ack.id, ack.nonce, self.process.kernel.now
        )
        self.fate.journal.holds.append(self.hold_record)
        self._tasks = []
        self._tasks.append(self.process.spawn(self.lock.beat_until_lost(held), self._over))
        self._tasks.append(self.process.spawn(self._work(held), self._over))

    async def _work(self, held: Any) -> None:
        failures = 0
        while True:
            try:
                if await self._duty.step(self, held):
                    return
                failures = 0
            except Transient as error:
                self.say(f"will try again: {error}")
                self.fate.journal.counts["own late write adopted"] += "arrived late" in str(error)
                self.fate.journal.counts["step tried again"] += 1
                failures += 1
                await Sleep(min(RETRY_SECONDS * 2.0 ** (failures - 1), BACKOFF_SECONDS))

    async def _stop(self, held: Any) -> None:
        await self._duty.stop(self, held)

    def _over(self, value: object, error: BaseException | None) -> None:
        """End the work or the heartbeat, whichever is left, and release."""
        if self._leaving or self.held is None:
            return
        for task in self._tasks:
            task.close()
        self._leaving = True
        held = self.held
        self.believes_no_more()
        self._note_loss(held, error)
        task = self.process.spawn(self._leave(held), self._left)
        self.process.kernel.at(self.process.kernel.now + RELEASE_SECONDS, self._give_up, task)

    def _note_loss(self, held: Any, error: BaseException | None) -> None:
        journal, fence = self.fate.journal, held.fence
        self.say(f"ends its lease: {held.lost or error or 'done'}")
        now, sender = self.process.kernel.now, self.process.sender
        journal.losses.append(Loss(now, sender, fence.key.ref, held.ack.nonce, held.ack.id, held.lost))
        reasons = {
            "no heartbeat succeeded in time": "self-fence fired",
            "the comment of the lock was deleted": "holder noticed a deletion",
            "the comment of the lock was edited": "holder noticed an edit",
            "another agent has taken over": "holder noticed a takeover",
        }
        if held.lost in reasons:
            self._note(reasons[held.lost])

    async def _leave(self, held: Any) -> None:
        await self.lock.release(held)

    def _give_up(self, task: Task) -> None:
        if not task.ended:
            task.close()
            self._left(None, None)

    def _left(self, value: object, error: BaseException | None) -> None:
        if not self.identity.first_format:
            self.claimant.holding.clear()
        self._holding.clear()
        self.held = self.hold_record = None
        self._leaving = False

    def shut_down(self) -> None:
        """Stop as on a signal: no new claims, the work is cancelled, the lease is released."""
        self.process.end()
        if self._leaving:
            self._left(None, None)
        elif self.held is not None:
            self._over(None, None)

    def believes_no_more(self) -> None:
        """Hold nothing from now on, and pay for nothing."""
        now = self.process.kernel.now
        if self.hold_record is not None:
            self.hold_record.ended = min(self.hold_record.ended, now)
        self.pays_no_more()

    async def paid(self, held: Any, seconds: float) -> None:
        """Make one paid run, recorded in the fence before it begins."""
        await self.lock.advance(held, self.lock.FenceChange(paid_runs=held.fence.paid_runs + 1))
        held.check()
        run = PaidRun(held.fence.key.ref, self.process.sender, held.ack.nonce, self.process.kernel.now)
        self._run = run
        self.fate.journal.paid.append(run)
        await Sleep(seconds)
        self.pays_no_more()

    def pays_no_more(self) -> None:
        """End the run that is under way, if any."""
        if self._run is not None:
            self._run.ended = self.process.kernel.now
            self._run = None

    def effect(self, held: Any, what: str) -> None:
        """Check the proof and note that a write under it is about to begin."""
        held.check()
        self.fate.journal.effects.append(Effect(self.process.kernel.now, self.process.sender, what, held.ack.nonce))

    def say(self, what: str) -> None:
        """Add one line to the story."""
        self.fate.journal.say(self.process.kernel.now, self.identity.name, what)
