"""Judging whether an agent goes on with what is its own: no epoch waits for its time-out while its agent lives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.workflow import Role
from worker_agent.decide import WORKING

from .epochs import Lines, Move
from .orders import DELETED, EDITED, looks_edited

if TYPE_CHECKING:
    from .schedule import Schedule

PATIENCE = 900.0
"""Within so many quiet seconds an agent has looked at the item again, and goes on."""

ORDERS = frozenset(
    {"withdrawn by a person", "closed by a person", "transferred by a person", "asked again by a person"}
)


def neglected(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """A live agent that nothing hinders holds what its state directory has begun, or begins after it."""
    special, world, journal = schedule.world.special, schedule.world, schedule.journal
    doubtful = special.rule or special.outage or special.limited or special.wrong_dates or special.burst
    if doubtful or not world.bounded or journal.ref_acts or any(what in ORDERS for _, what, _ in journal.acts):
        return
    for ref, line in lines.items():
        if ref.startswith(f"refs/ack/{Role.WORKER}"):
            for index, move in enumerate(line):
                until = line[index + 1].push.at if index + 1 < len(line) else schedule.kernel.now
                yield from _waits(schedule, line, move, until)


def _waits(schedule: Schedule, line: list[Move], move: Move, until: float) -> Iterator[str]:
    journal, fence = schedule.journal, move.fence
    begun = next((one for one in line if one.fence.nonce == fence.nonce and one.begins), None)
    if fence.format == 1 or fence.free or fence.stage not in WORKING or begun is None:
        return
    nonces = journal.identities[begun.push.sender].nonces
    stopped = any(what.startswith("ACK ") and id == fence.ack_id for _, what, id in journal.acts)
    stopped = stopped or any(loss.nonce == fence.nonce and loss.why in {DELETED, EDITED} for loss in journal.losses)
    for sender, identity in journal.identities.items():
        edited = looks_edited(
            schedule, sender, fence.ack_id, until
        )  # a holder may die right after it was stopped by that
        if stopped or edited or identity.nonces is not nonces or identity.first_format:
            continue
        since, last = max(move.push.at, journal.started[sender]), min(until, journal.ended.get(sender, until))
        moments = [since, *(at for at in journal.troubled.get(sender, ()) if since < at < last), last]
        holds = [hold for hold in journal.holds if hold.sender == sender and hold.ref == move.push.ref]
        asleep = journal.pauses.get(sender, ())
        for one, other in itertools.pairwise(moments):
            is_quiet = other - one > PATIENCE and not any(began < other and ended > one for began, ended in asleep)
            if is_quiet and not any(hold.begun < other and hold.ended > one for hold in holds):
                yield f"{identity.name} leaves its own epoch {fence.epoch} alone from {one:.0f} to {other:.0f}"
