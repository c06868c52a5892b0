"""The promises of the lock, checked on every schedule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.comment import read_ack
from shared.workflow import Stage
from worker_agent.expected_labels import expected_labels

from .costs import claims, in_vain, insistent, looks
from .epochs import by_ref, epochs, made_anew, stale_writes
from .github import EPOCH, is_engine
from .holders import last_active, paid_twice, two_holders
from .orders import orders
from .own_epochs import neglected
from .people import NONCE
from .proofs import proofs
from .rules import ISSUE, WORK_BRANCH, stages_of
from .takeovers import CERTAIN, TIMEOUT, takeovers
from .threads import losers, overwritten_epochs, too_many, unrecorded_payments, unrecorded_posts, untidied
from .wishes import wishes
from .worlds import HEAL, World

if TYPE_CHECKING:
    from .schedule import Schedule

COSTS = {
    "stop by a signal": (1, 600),
    "ACK deleted by a person": (1, CERTAIN + 900),
    "ACK edited by a person": (1, CERTAIN + 900),
    "withdrawn by a person": (0, 900),
    "opaque": (0, TIMEOUT + 900),
    "ref deleted by a person": (2, CERTAIN + 900),
    "ref put back by a person": (2, CERTAIN + 900),
    "state directory copied": (2, CERTAIN + 900),
}
"""Costs that each event may cause: how many times the work, and how many seconds."""

CHECKS = (
    "1 epochs",
    "2 stale write",
    "3 finished",
    "4 pull request",
    "5 left over",
    "6 progress",
    "7 cost",
    "8 two holders",
    "9 wishes",
    "10 proof",
    "11 take-over",
    "12 recorded",
    "13 losers",
    "14 comments",
    "15 own epoch",
)
"""The promises that are checked after every schedule."""


def violations(schedule: Schedule, world: World) -> list[str]:
    """Return every broken promise, as `number name: what`."""
    lines = by_ref(schedule)
    told: dict[str, list[Iterator[str]]] = {
        "1 epochs": [epochs(schedule, lines), made_anew(schedule, lines)],
        "2 stale write": [stale_writes(schedule, lines)],
        "3 finished": [_unfinished(schedule)],
        "4 pull request": [_pull_requests(schedule)],
        "5 left over": [_left_over(schedule, world), last_active(schedule)],
        "6 progress": [_progress(schedule, world)],
        "7 cost": [claims(schedule), insistent(schedule), looks(schedule), in_vain(schedule)],
        "8 two holders": [two_holders(schedule, world), paid_twice(schedule, world)],
        "9 wishes": [wishes(schedule, world, lines), orders(schedule, lines)],
        "10 proof": [proofs(schedule, lines)],
        "11 take-over": [takeovers(schedule, lines)],
        "12 recorded": [unrecorded_payments(schedule, lines), unrecorded_posts(schedule, lines)],
        "13 losers": [losers(schedule, lines), overwritten_epochs(schedule)],
        "14 comments": [too_many(schedule), untidied(schedule, lines)],
        "15 own epoch": [neglected(schedule, lines)],
    }
    return [f"{name}: {how}" for name, iterators in told.items() for found in iterators for how in found]


def _unfinished(schedule: Schedule) -> Iterator[str]:
    if schedule.finished_at < 0:
        item, fence = schedule.github.items[ISSUE].now, schedule.fence
        stage = fence.stage if fence else "no fence"
        yield f"not at rest at the end: labels {sorted(item.labels)}, fence {stage}"
    elif ISSUE in schedule.github.gone:
        return
    elif (fence := schedule.fence) is not None and schedule.github.items[ISSUE].now.open:
        stages = stages_of(schedule.github.items[ISSUE].now.labels)
        if fence.stage is Stage.REVIEWING and stages - {Stage.READY} and stages != {expected_labels(fence).issue}:
            yield f"labels {sorted(stages)} are not those of {fence.stage}"


def _pull_requests(schedule: Schedule) -> Iterator[str]:
    """Yield errors unless there is one pull request, whose head is the commit of the fence."""
    github, fence = schedule.github, schedule.fence
    if len(github.pulls) > 1 + sum(what == "asked again by a person" for _, what, _ in schedule.journal.acts):
        yield f"there are {len(github.pulls)}"
    if sum(not pull.merged for pull in github.pulls.values()) > 1:
        yield "two are open"
    if fence is not None and fence.stage is Stage.REVIEWING and github.refs.get(WORK_BRANCH) != fence.work_head:
        yield "its head is not the commit of the fence"
    if github.merges > len(github.pulls):
        yield f"{github.merges} merges of {len(github.pulls)} pull requests"


def _left_over(schedule: Schedule, world: World) -> Iterator[str]:
    """Yield each lock that lives on: an ACK that was renewed long after its agent's death."""
    if schedule.finished_at < 0:
        return
    grace = max(TIMEOUT, world.late_seconds) + 60
    for versions in schedule.github.threads.get(ISSUE, ()):
        comment = versions.now
        ack = read_ack(comment) if comment is not None and is_engine(comment.author) else None
        if comment is None or ack is None or ack.state != "active" or ack.nonce.startswith(NONCE):
            continue
        if not is_engine(schedule.github.authors[comment.id][-1].author):
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
    """Yield an error unless it ended in time: the seconds of the work itself, and of everything that went wrong."""
    journal, done = schedule.journal, schedule.finished_at
    work = schedule.plan.seconds
    asked = max([at for at, what, _ in journal.acts if what == "asked again by a person"], default=0.0)
    whats = [what for _, what, _ in journal.acts] + ["stop by a signal"] * journal.counts["stop by a signal"]
    bound = asked + work + 750 + sum(COSTS.get(what, (0, 0))[0] * work + COSTS.get(what, (0, 0))[1] for what in whats)
    bound += schedule.github.weather.seconds + (TIMEOUT if world.special.expires else 0.0)
    bound += work + 900 if world.special.parks else 0.0
    if any(one.identity.keys != schedule.live[0].identity.keys for one in schedule.live):
        # A holder that does not know the key of a command's record takes it for a person's edit, and stops.
        bound += journal.counts["command recorded without holding"] * (work + CERTAIN + 900)
    if world.trouble:
        pauses = journal.counts["pause"] + journal.counts["crash"] + journal.counts["request executed late"]
        lost = journal.counts["reply lost"] + journal.counts["request executed twice"]
        bound += TIMEOUT + 300 * journal.counts["request that met a fault"] + (pauses + lost) * (TIMEOUT + work + 900)
        bound += journal.counts["step tried again"] * work
        bound = max(bound, HEAL + 2 * (TIMEOUT + work + 900)) if not world.bounded else bound
    if done > bound:
        yield f"at rest only after {done:.0f} s, {bound:.0f} were enough"
