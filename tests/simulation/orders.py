"""Judgement of stops on a person's order: only where one was given, released at once, and not continued."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .epochs import Lines
from .github import PERSON
from .journal import Loss
from .takeovers import SLACK, TIMEOUT, stamped
from .threads import key_that_signed

if TYPE_CHECKING:
    from .schedule import Schedule

DELETED, EDITED = "the comment of the lock was deleted", "the comment of the lock was edited"

RELEASE_SECONDS = 15.0
"""Quiet seconds within which a stopping holder has released: the longest that its end may take, and a request."""


def orders(schedule: Schedule, lines: Lines) -> Iterator[str]:
    """Yield errors in every end of a lease that its holder blames on a person."""
    for loss in schedule.journal.losses:
        if loss.why in {DELETED, EDITED} and not schedule.journal.identities[loss.sender].first_format:
            schedule.journal.counts["stop on a person's word judged"] += 1
            yield from _given(schedule, loss)
            yield from _obeyed(schedule, lines, loss)


def _given(schedule: Schedule, loss: Loss) -> Iterator[str]:
    """Yield an error unless a person did the act that is blamed on them."""
    github, journal = schedule.github, schedule.journal
    name = f"{journal.agents[loss.sender]} stops at {loss.at:.0f}, because {loss.why}"
    if loss.why == DELETED:
        deleted = any(what == "ACK deleted by a person" and id == loss.ack_id for _, what, id in journal.acts)
        if not deleted and not github.gone:
            yield f"{name}, and it was not"
        return
    if not looks_edited(schedule, loss.sender, loss.ack_id, loss.at):
        yield f"{name}, and it was not"


def looks_edited(schedule: Schedule, sender: int, ack_id: int, until: float) -> bool:
    """Return whether by then a person wrote into a comment, or somebody with a key that a process does not have."""
    known = {key.id for key in schedule.journal.identities[sender].keys.keys}
    texts = [text for text in schedule.github.authors.get(ack_id, ()) if text.at <= until]
    return any(text.author == PERSON or key_that_signed(text) not in known | {""} for text in texts)


def _obeyed(schedule: Schedule, lines: Lines, loss: Loss) -> Iterator[str]:
    journal, line = schedule.journal, lines[loss.ref]
    name = f"{journal.agents[loss.sender]} stops at {loss.at:.0f}, because {loss.why}"
    nonces = journal.identities[loss.sender].nonces
    until = loss.at + RELEASE_SECONDS
    quiet = not any(loss.at - SLACK <= at <= until for at in journal.troubled.get(loss.sender, ()))
    lives = journal.ended.get(loss.sender, float("inf")) > until and schedule.kernel.now > until
    standing = [move for move in line if move.push.at <= until]
    is_its = bool(standing) and standing[-1].fence.nonce == loss.nonce
    if quiet and lives and is_its and not journal.ref_acts and not standing[-1].fence.free:
        yield f"{name}, and does not let go"
    for index, move in enumerate(line):
        before = move.before
        if not move.begins or before is None or before.nonce != loss.nonce or before.free or move.push.at < loss.at:
            continue
        mine, sent_at = journal.identities[move.push.sender].nonces is nonces, move.push.sent_at
        if mine and sent_at > loss.at and sent_at - stamped(line[:index], loss.nonce) < TIMEOUT - SLACK:
            yield f"{name}, and goes on at {move.push.at:.0f} with what it had begun"
