"""Judgement of holders by the requests on the wire: who holds, who pays and who seems to be at work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.comment import read_ack

from .journal import Hold
from .worlds import World

if TYPE_CHECKING:
    from .schedule import Schedule

LEAVING_SECONDS = 1.0
"""Seconds for which a holder that stops on a person's order may overlap: its lock is free before it notices."""


def two_holders(schedule: Schedule, world: World) -> Iterator[str]:
    """Yield each two holders at a time, in worlds where no request is lost and no process is paused."""
    holds = schedule.journal.holds
    for index, one in enumerate(holds):
        for other in holds[index + 1 :]:
            overlap = min(one.ended, other.ended) - max(one.begun, other.begun)
            if one.ref != other.ref or one.sender == other.sender or overlap <= LEAVING_SECONDS:
                continue
            schedule.journal.counts["two holders for a while"] += 1
            if not world.trouble and not _excused(schedule, one, other):
                yield f"{one.agent} and {other.agent} for {overlap:.1f} s"


def paid_twice(schedule: Schedule, world: World) -> Iterator[str]:
    """Yield each two paid runs for one item at a time, unless an agent was paused or people moved refs of the lock."""
    runs = schedule.journal.paid
    for index, one in enumerate(runs):
        for other in runs[index + 1 :]:
            overlap = min(one.ended, other.ended) - max(one.began, other.began)
            if one.ref != other.ref or one.sender == other.sender or overlap <= 0:
                continue
            schedule.journal.counts["runs paid for at a time"] += 1
            if not world.pause and not _moved_by_people(schedule):
                who = f"{schedule.journal.agents[one.sender]} and {schedule.journal.agents[other.sender]}"
                yield f"{who} pay for {overlap:.1f} s at a time"


def _moved_by_people(schedule: Schedule) -> bool:
    """Return whether a person moved the ref, or copied a state directory: the foundations of a lock."""
    acts = {what for _, what, _ in schedule.journal.acts}
    return bool(schedule.journal.ref_acts) or "state directory copied" in acts


def _excused(schedule: Schedule, one: Hold, other: Hold) -> bool:
    return _moved_by_people(schedule)


def last_active(schedule: Schedule) -> Iterator[str]:
    """Yield each comment of this layout that at rest says that somebody is at work."""
    if schedule.finished_at < 0 or (schedule.fence is None and schedule.journal.ref_acts):
        return  # without its fence nobody knows of it any more
    accounts = {agent.identity.account.id for agent in schedule.live}
    for number, thread in schedule.github.threads.items():
        for versions in thread:
            comment = versions.now
            if comment is None or number in schedule.github.gone or comment.author.id not in accounts:
                continue
            ack = read_ack(comment)
            if ack is not None and ack.shared and not ack.opaque and ack.state == "active":
                yield f"comment {comment.id} of #{number} says since {comment.updated_at:%H:%M} that {ack.agent} works"
