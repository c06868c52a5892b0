"""What must be true of every schedule: the nine promises of the lock, judged on what happened."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from shared.lock.codec import read_ack
from shared.workflow import Stage
from worker_agent.projection import projection

from .epochs import by_ref, epochs, stale_writes
from .github import BOT, EPOCH, PERSON
from .journal import Claimed, Hold
from .people import NONCE
from .rules import ISSUE, WORK_BRANCH, stages_of
from .worlds import HEAL, REQUEST_SECONDS, World

if TYPE_CHECKING:
    from .schedule import Schedule

TIMEOUT, SELF_FENCE, HEARTBEAT, SETTLE = 1800.0, 1500.0, 300.0, 5.0
CLAIM_REQUESTS = 12
"""Most requests of a claim that nothing went wrong for, also when another takes over while it is shown."""

COSTS = {
    "stop by a signal": (1, 600),
    "ACK deleted by a person": (1, 1300),
    "ACK edited by a person": (1, TIMEOUT + 900),
    "withdrawn by a person": (0, 900),
    "opaque": (0, TIMEOUT + 900),
}
"""What may be lost by each: so many times the work, and so many seconds."""

CONTENT_PER_HOUR = 500
"""GitHub's limit of writes that create content, per account."""


def violations(schedule: Schedule, world: World) -> list[str]:
    """Every promise that was broken, as `number name: what`."""
    found = [f"3 finished: {how}" for how in _unfinished(schedule, world)]
    if world.fenced:
        lines = by_ref(schedule)
        found += [f"1 epochs: {how}" for how in epochs(schedule, lines)]
        found += [f"2 stale write: {how}" for how in stale_writes(lines)]
        found += [f"4 pull request: {how}" for how in _pull_requests(schedule)]
    found += [f"5 left over: {how}" for how in _left_over(schedule, world)]
    found += [f"6 progress: {how}" for how in _progress(schedule, world)]
    found += [f"7 cost: {how}" for how in _cost(schedule)]
    found += [f"8 two holders: {how}" for how in _two_holders(schedule, world)]
    found += [f"9 wishes: {how}" for how in _wishes(schedule, world)]
    found += [f"10 proof: {how}" for how in _proofs(schedule)]
    return found


def _unfinished(schedule: Schedule, world: World) -> Iterator[str]:
    if schedule.finished_at < 0:
        item, fence = schedule.github.items[ISSUE].now, schedule.fence
        stage = fence.stage if fence else "no fence"
        yield f"not at rest at the end: labels {sorted(item.labels)}, fence {stage}"
    elif world.fenced and (fence := schedule.fence) is not None and schedule.github.items[ISSUE].now.open:
        stages = stages_of(schedule.github.items[ISSUE].now.labels)
        if fence.stage is Stage.REVIEWING and stages - {Stage.READY} and stages != {projection(fence).issue}:
            yield f"labels {sorted(stages)} are not those of {fence.stage}"


def _pull_requests(schedule: Schedule) -> Iterator[str]:
    """One pull request, whose head is the commit of the fence."""
    github, fence = schedule.github, schedule.fence
    if len(github.pulls) > 1 + sum(what == "asked again by a person" for _, what, _ in schedule.journal.acts):
        yield f"there are {len(github.pulls)}"
    if sum(not pull.merged for pull in github.pulls.values()) > 1:
        yield "two are open"
    if fence is not None and fence.stage is Stage.REVIEWING and github.refs.get(WORK_BRANCH) != fence.work_head:
        yield "its head is not the commit of the fence"


def _left_over(schedule: Schedule, world: World) -> Iterator[str]:
    """No lock lives on: none is held at rest, and nobody keeps the ACK of a dead agent alive."""
    if schedule.finished_at < 0:
        return
    grace = max(TIMEOUT, world.late_seconds) + 60
    for versions in schedule.github.threads.get(ISSUE, ()):
        comment = versions.now
        ack = read_ack(comment) if comment is not None and comment.author == BOT else None
        if comment is None or ack is None or ack.state != "active" or ack.nonce.startswith(NONCE):
            continue
        if schedule.github.authors[comment.id][-1][2] != BOT:
            continue
        died = schedule.journal.last_alive.get(ack.agent)
        if (
            died is not None
            and (comment.updated_at - EPOCH).total_seconds() > died + grace
            and not _lives(schedule, ack.agent)
        ):
            yield f"{ack.agent} died at {died:.0f}, its ACK was renewed at {comment.updated_at:%H:%M:%S}"


def _lives(schedule: Schedule, agent: str) -> bool:
    return any(one.identity.name == agent for one in schedule.live)


def _progress(schedule: Schedule, world: World) -> Iterator[str]:
    """It ends in time: the work itself, and so much for everything that went wrong."""
    journal, done = schedule.journal, schedule.finished_at
    work = schedule.plan.seconds
    asked = max([at for at, what, _ in journal.acts if what == "asked again by a person"], default=0.0)
    whats = [what for _, what, _ in journal.acts] + ["stop by a signal"] * journal.counts["stop by a signal"]
    bound = asked + work + 750 + sum(COSTS.get(what, (0, 0))[0] * work + COSTS.get(what, (0, 0))[1] for what in whats)
    if not world.fenced:  # only labels say what another has done: one that lags has it done and paid for again
        bound += journal.counts["pull request adopted"] * (work + 900)
    if world.trouble:
        pauses = journal.counts["pause"] + journal.counts["crash"] + journal.counts["request executed late"]
        lost = journal.counts["reply lost"] + journal.counts["request executed twice"]
        bound += TIMEOUT + 300 * journal.counts["request that met a fault"] + (pauses + lost) * (TIMEOUT + work + 900)
        bound += journal.counts["step tried again"] * work
        bound = max(bound, HEAL + 2 * (TIMEOUT + work + 900)) if not world.bounded else bound
    if done > bound:
        yield f"at rest only after {done:.0f} s, {bound:.0f} were enough"


def _cost(schedule: Schedule) -> Iterator[str]:
    """A claim posts once at most, and asks for little."""
    for claimed in schedule.journal.claims:
        yield from _cost_of(claimed)
    hours: dict[int, int] = {}
    for texts in schedule.github.authors.values():
        for at, _, author, _ in texts:
            if author == BOT:
                hours[int(at // 3600)] = hours.get(int(at // 3600), 0) + 1
    if max(hours.values(), default=0) > CONTENT_PER_HOUR:
        yield f"{max(hours.values())} comments written in an hour"


def _cost_of(claimed: Claimed) -> Iterator[str]:
    if claimed.posts > 1:
        yield f"a claim posted {claimed.posts} ACKs"
    asked = claimed.order.count("reads comment")  # one for each predecessor that is missing from the thread
    if claimed.requests - asked > CLAIM_REQUESTS + claimed.faults:
        yield f"a claim took {claimed.requests} requests: {', '.join(claimed.order)}"


def _two_holders(schedule: Schedule, world: World) -> Iterator[str]:
    """In a world with bounded lags and no pauses nobody else holds, except for a heartbeat after a person's order."""
    holds = schedule.journal.holds
    for index, one in enumerate(holds):
        for other in holds[index + 1 :]:
            overlap = min(one.ended, other.ended) - max(one.begun, other.begun)
            if one.ref != other.ref or one.sender == other.sender or overlap <= 0:
                continue
            schedule.journal.counts["two holders for a while"] += 1
            if not world.trouble and not _excused(schedule, world, one, other):
                yield f"{one.agent} and {other.agent} for {overlap:.1f} s"


def _excused(schedule: Schedule, world: World, one: Hold, other: Hold) -> bool:
    """Whether a person took the ACK of the first one away, which it notices at its next heartbeat.

    Or, without a fence, whether an ACK that nobody can check named the first one's: who succeeds that is not seen by
    the first one, and only a fence would refuse them.
    """
    opaque = any(what == "opaque" and at <= other.begun for at, what, _ in schedule.journal.acts)
    if opaque and not world.fenced:
        return True
    touched = [at for at, what, id in schedule.journal.acts if id == one.ack_id and at <= other.begun]
    return bool(touched) and min(one.ended, other.ended) <= max(touched) + HEARTBEAT + REQUEST_SECONDS


def _wishes(schedule: Schedule, world: World) -> Iterator[str]:
    """What a person ordered is obeyed within a heartbeat, by whoever could have seen it; no edit is written over."""
    journal = schedule.journal
    reach = HEARTBEAT + 2 * REQUEST_SECONDS + world.lag + world.commit
    for at, what, comment in journal.acts:
        for hold in journal.holds:
            touched = what.startswith("ACK ") and hold.ack_id == comment
            stopped = what in {"withdrawn by a person", "closed by a person"} and hold.ref.startswith("refs/ack/worker")
            if not (touched or stopped) or hold.begun > at or (stopped and _crossed(schedule, world, hold, at)):
                continue
            if touched and _unseen(schedule, world, comment, at):
                continue
            for effect in journal.effects:
                late = effect.sender == hold.sender and effect.nonce == hold.nonce and effect.at > at + reach
                if late and not _asked_since(schedule, at, effect.at) and not _hindered(schedule, hold, at, effect.at):
                    yield f"{hold.agent} writes ({effect.what}) {effect.at - at:.0f} s after: {what}"
    yield from _overwritten(schedule, world)


def _unseen(schedule: Schedule, world: World, comment: int, at: float) -> bool:
    """Whether a heartbeat wrote over a person's edit before any reading could show it; no edit is conditional."""
    until = at + world.lag + world.commit + 2 * REQUEST_SECONDS
    return any(author == BOT and at < wrote <= until for wrote, _, author, _ in schedule.github.authors[comment])


def _crossed(schedule: Schedule, world: World, hold: Hold, at: float) -> bool:
    """Whether the agent was moving the labels at that moment: its new label hides that the old one was taken."""
    until = at + world.lag + world.commit + 2
    return any(
        e.what == "label" and e.sender == hold.sender and at - 2 <= e.at <= until for e in schedule.journal.effects
    )


def _asked_since(schedule: Schedule, at: float, until: float) -> bool:
    return any(at <= act <= until and what == "asked again by a person" for act, what, _ in schedule.journal.acts)


def _hindered(schedule: Schedule, hold: Hold, at: float, until: float) -> bool:
    return _between(schedule.journal.troubled.get(hold.sender, ()), at - HEARTBEAT, until)


def _between(moments: Iterable[float], first: float, last: float) -> bool:
    return any(first <= moment <= last for moment in moments)


def _overwritten(schedule: Schedule, world: World) -> Iterator[str]:
    for id, texts in schedule.github.authors.items():
        for (at, _, author, edited), (_, sent_at, next_author, body) in itertools.pairwise(texts):
            seen = at + world.lag + world.commit + 2 * REQUEST_SECONDS
            beats = body.split("nonce=")[1][:32] in edited if "state=active" in body else False
            unhindered = not any(_between(moments, at, sent_at) for moments in schedule.journal.troubled.values())
            if author == PERSON and next_author == BOT and sent_at > seen and beats and unhindered:
                yield f"a person's edit of comment {id} was written over {sent_at - at:.0f} s later"


def _proofs(schedule: Schedule) -> Iterator[str]:
    """No effect is begun when the last proof is older than the self-fence; a look reads the fence first."""
    for effect in schedule.journal.effects:
        if effect.proof_age >= SELF_FENCE:
            yield f"{effect.what} at {effect.at:.0f} on a proof that is {effect.proof_age:.0f} s old"
    for first, second in schedule.journal.looks:
        if first != "reads fence" or "comment" not in second:
            yield f"a look begins with: {first}, {second}"
