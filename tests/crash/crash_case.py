"""One case: a life up to a point, a blow, another agent that finishes, and whether it ended as if nothing had been."""

from __future__ import annotations

import signal
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import anyio
from crash_acts import ACTS, Act
from crash_gate import Asked, Blow, Point, Strike
from crash_life import PAUSE, Agent, Life, life_in
from crash_picture import Picture, differences, picture

from shared.github.at_most_once import NAMED

ZOMBIE_SECONDS = 0.4
"""Real time for which an agent that stood still may go on after another one has finished."""

REST_SECONDS = 1.0
"""Real time for which an agent goes on after an act of the life without a fault, so that nothing is left to be done."""

ALIKE_SECONDS = 60.0
"""Real time within which the end must look as it should: as long as a start on a busy machine may take."""

_OF_NAMES = (f"{NAMED}:", "At:")
"""The lines of a fence that change when it names what is going to be posted."""


class Heir(StrEnum):
    """The agent that finishes after a death."""

    OTHER = "another agent"
    """An agent with another id and an empty state directory, after the lock has expired."""
    SAME = "the same agent"
    """The agent restarted with its state directory, at once."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case: an act, a blow and its point; with `call` instead, killed in that paid call (word, before|after)."""

    act: Act
    blow: Blow
    heir: Heir
    point: Point | None = None
    call: tuple[str, str] = ("", "")
    draw: int = 0

    @property
    def seed(self) -> int:
        """Seed of the late answers of this case's replicas: the same in each run with the same `draw`."""
        return zlib.crc32(f"{self.act.name} {self.blow} {self.heir} {self.point} {self.call}".encode()) ^ self.draw


@dataclass(frozen=True, slots=True)
class Told:
    """An act without any fault: from where it begins, its requests, its paid calls, and how it ends."""

    act: Act
    begins: Path
    asked: tuple[Asked, ...]
    calls: tuple[str, ...]
    ends: Picture

    def points(self, *, reads: bool) -> tuple[Point, ...]:
        """Return the points to strike: every write and, if wanted, every read."""
        return tuple(sorted({one.point for one in self.asked if reads or one.point.read == 0}))


async def tell(root: Path, acts: Sequence[Act] = ACTS) -> dict[str, Told]:
    """Run a life once, each act from a copy of the previous act's end; return the acts by name."""
    told: dict[str, Told] = {}
    begins = root / "story"
    async with life_in(begins):
        pass
    for act in acts:
        place = root / act.name
        async with life_in(place, copied_from=begins) as life:
            life.settings = act.settings
            agent = life.cast(act.role)
            life.gate.watch(agent.token)
            agent.start()
            await life.until(act.over, act.name, stalls=False)
            await anyio.sleep(REST_SECONDS)
            asked, ends = tuple(life.gate.asked), await picture(life)
            calls = tuple(sorted({str(line["call"]) for line in _of(life, agent)}))
            await life.end()
            life.journal.unlink(missing_ok=True)
        told[act.name] = Told(act, begins, asked, calls, ends)
        begins = place
    return told


_WHOLE: dict[str, Told] = {}


async def whole_life(make: Callable[[], Path]) -> dict[str, Told]:
    """Return all acts without any fault, run once per test process in a directory that `make` makes."""
    if not _WHOLE:
        _WHOLE.update(await tell(make() / "life"))
    return _WHOLE


async def suffer(case: Case, told: Told, place: Path, *, patience: float = ALIKE_SECONDS, late: float = 0.0) -> bool:
    """Let it happen; False when the agent never came to the point. Raises AssertionError for a wrong end.

    `late` is the share of what replicas may answer late that is.
    """
    async with life_in(place, copied_from=told.begins) as life:
        life.lab.lag.begin(case.seed, share=late)
        life.settings = case.act.settings
        victim = life.cast(case.act.role, state=f"{case.act.name}-1", dies=case.call)
        strike = None if case.point is None else Strike(case.blow, case.point, lambda: _halt(case.blow, victim))
        life.gate.watch(victim.token, strike)
        victim.start()
        await life.until(lambda life: _hit(strike, victim) or case.act.over(life), "the point", stalls=False)
        if not _hit(strike, victim):
            if strike is None or not strike.path:
                return False
            await strike.struck.wait()  # the act was over as soon as the last call was carried out
        await _go_on(life, case, victim)
        if case.blow is Blow.PAUSED and strike is not None:
            await _ends_alike(life, told, patience)
            await _wake(victim, strike)
        await _ends_alike(life, told, patience)
        await _paid_once(life, case, victim, told)
    return True


async def _go_on(life: Life, case: Case, victim: Agent) -> None:
    if case.blow in {Blow.LOST_REPLY, Blow.TWICE}:
        await life.until(case.act.over, f"{case.act.name} by itself")
        return
    if case.heir is Heir.SAME and case.blow is not Blow.PAUSED:
        again = [life.cast(case.act.role, state=f"{case.act.name}-1")]
    else:
        life.pass_time(PAUSE)
        again = [life.cast(case.act.role, name="second", state=f"{case.act.name}-2")]
    again += [life.cast(role, name="second", state="beside") for role in case.act.beside]
    for agent in again:
        agent.start()
    await life.until(case.act.over, f"{case.act.name} by {case.heir}")


async def _wake(victim: Agent, strike: Strike) -> None:
    """Let the agent that stood still get its answer and go on for a while: it must change nothing any more."""
    strike.resumed.set()
    victim.signal(signal.SIGCONT)
    await anyio.sleep(ZOMBIE_SECONDS)
    await victim.killed()


async def _ends_alike(life: Life, told: Told, patience: float) -> None:
    found: Picture = {}
    with anyio.move_on_after(patience):
        while True:
            found = await picture(life)
            if found == told.ends:
                return
            life.pass_time(5.0)
            await anyio.sleep(0.05)
    raise AssertionError(differences(told.ends, found))


async def _paid_once(life: Life, case: Case, victim: Agent, told: Told) -> None:
    """Assert that every paid call began once, and once more only if its agent died before it had recorded the result.

    Recorded means: the first push, comment or review after the call's end was carried out. A push by which the fence
    only names what is posted next records nothing yet.
    """
    begun = Counter(str(line["call"]) for line in life.calls() if line["event"] == "begin")
    own = _of(life, victim)
    survived = case.blow in {Blow.LOST_REPLY, Blow.TWICE}
    wanted = {call: 1 + (not survived and await _unrecorded(life, own, call)) for call in told.calls}
    assert begun == Counter(wanted), f"paid calls: {dict(begun)} instead of {wanted}"


async def _unrecorded(life: Life, own: list[Mapping[str, object]], call: str) -> bool:
    lines = [line for line in own if line["call"] == call]
    ended = [line["at"] for line in lines if line["event"] == "end"]
    if not lines or not ended:
        return bool(lines)
    for one in life.gate.asked:
        if one.records and one.at > float(str(ended[0])) and not await _names_only(life, one):
            return not one.executed
    return True


async def _names_only(life: Life, one: Asked) -> bool:
    """Return whether a push changes nothing in a fence but the names of what is going to be posted (and the time)."""
    if not one.pushed or not one.executed:
        return False
    commits = await life.repository.bare.log(None, one.pushed, 2)
    said = [[line for line in commit.message.splitlines() if not line.startswith(_OF_NAMES)] for commit in commits]
    return len(said) == 2 and said[0] == said[1]


def _of(life: Life, agent: Agent) -> list[Mapping[str, object]]:
    """Return the calls that one process has noted; the same agent restarted is another process."""
    return [line for line in life.calls() if line["pid"] == agent.process.pid]


def _hit(strike: Strike | None, victim: Agent) -> bool:
    if strike is None:
        return victim.process.pid is not None and not victim.process.is_alive()
    return strike.struck.is_set()


async def _halt(blow: Blow, victim: Agent) -> None:
    if blow is Blow.PAUSED:
        victim.signal(signal.SIGSTOP)
    else:
        await victim.killed()
