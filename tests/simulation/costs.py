"""Judgement of the lock's requests to GitHub and git: of a claim, of a look, and after a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from shared.lock.fence import read_fence

from .epochs import key_of
from .github import EPOCH, is_engine
from .journal import Claimed, Look
from .people import FOREIGN
from .takeovers import SLACK, TIMEOUT

if TYPE_CHECKING:
    from .schedule import Schedule

CLAIM_REQUESTS = 12
"""Most requests of a claim without any fault (probe, fence, comment, thread, edits, fence, post, fence), also
when another agent takes over while it is shown."""

TRIES_WHILE_REFUSED = 8
"""Most claims of a process that reach the git server while it refuses them: pauses grow from a minute to an hour."""

CONTENT_PER_HOUR = 500
"""GitHub's limit of writes that create content, per account."""


def claims(schedule: Schedule) -> Iterator[str]:
    """Yield each claim that posts more than once, or makes too many requests."""
    for claimed in schedule.journal.claims:
        yield from _cost_of(claimed)
    hours: dict[int, int] = {}
    for texts in schedule.github.authors.values():
        for text in texts:
            if is_engine(text.author):
                hours[int(text.at // 3600)] = hours.get(int(text.at // 3600), 0) + 1
    if max(hours.values(), default=0) > CONTENT_PER_HOUR:
        yield f"{max(hours.values())} comments written in an hour"


def insistent(schedule: Schedule) -> Iterator[str]:
    """Yield each process that does not try ever more rarely while the git server refuses fences."""
    tries: dict[int, int] = {}
    for claimed in schedule.journal.claims:
        if "pushes" in claimed.order and schedule.github.weather.refuses(claimed.at):
            tries[claimed.sender] = tries.get(claimed.sender, 0) + 1
    for sender, count in tries.items():
        if count > TRIES_WHILE_REFUSED:
            yield f"{schedule.journal.agents[sender]} tried {count} claims while the git server refused them"


def _cost_of(claimed: Claimed) -> Iterator[str]:
    if claimed.posts > 1:
        yield f"a claim posted {claimed.posts} ACKs"
    asked = claimed.order.count("reads comment")  # one for each predecessor that is missing from the thread
    if claimed.requests - asked > CLAIM_REQUESTS + claimed.faults:
        yield f"a claim took {claimed.requests} requests: {', '.join(claimed.order)}"


def looks(schedule: Schedule) -> Iterator[str]:
    """Yield each look that reads more than the fence, although the fence alone tells the holder."""
    special, journal = schedule.world.special, schedule.journal
    if special.wrong_dates or special.burst:
        return
    for look in journal.looks:
        if len(look.asked) > 1 and not journal.identities[look.sender].first_format and _is_enough(schedule, look):
            yield f"{journal.agents[look.sender]} asks at {look.began:.0f}: {', '.join(look.asked)}"


def _is_enough(schedule: Schedule, look: Look) -> bool:
    """Return whether the fence that it read is free, or was stamped within the timeout."""
    for seen in schedule.journal.seen:
        if seen.sender != look.sender or seen.name != "reads fence" or not look.began < seen.heard <= look.ended:
            continue
        if not isinstance(seen.value, tuple):
            return False
        fence = read_fence(key_of(str(seen.detail)), *seen.value)
        age = 0.0 if fence is None else look.ended - (fence.stamped - EPOCH).total_seconds()
        return fence is not None and fence.format > 1 and (fence.free or age < TIMEOUT - SLACK)
    return False


def in_vain(schedule: Schedule) -> Iterator[str]:
    """Yield each claim of an item whose ref holds something that is no fence: it would be refused for ever."""
    journal = schedule.journal
    for sent in journal.sent:
        if sent.name != "pushes" or journal.agents[sent.sender].startswith("reviewer"):
            continue
        read = [seen for seen in journal.seen if seen.sender == sent.sender and seen.name == "reads fence"]
        last = max((seen for seen in read if seen.heard <= sent.at), key=lambda one: one.heard, default=None)
        if last is not None and isinstance(last.value, tuple) and last.value[0] == FOREIGN:
            yield f"{journal.agents[sent.sender]} pushes at {sent.at:.0f} over what it cannot read"
