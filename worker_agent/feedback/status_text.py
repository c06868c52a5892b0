"""The status comment's text about a round of feedback (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from shared.git.notes import RemarkAnswer
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.text import counted
from worker_agent import comments

LISTED = 20
"""The most ignored texts that are listed in the data for programs."""


class Ignored(tuple[tuple[str, str], ...]):
    """Ignored texts: key and reason."""

    __slots__ = ()


def answered(fence: Fence, replies: Sequence[RemarkAnswer], late: int, *, again: bool) -> Status:
    """Return the status after the answers were posted; next comes CI, or remarks made meanwhile."""
    done = sum(one.done for one in replies)
    said = f"Round {fence.round} on #{fence.pr}: {counted(len(replies), 'remark')} answered, {done} with a change."
    if again:
        return _waiting_status(
            fence, f"{said} {counted(late, 'remark')} came meanwhile: the next round begins.", "feedback"
        )
    if late:
        said = f"{said} {counted(late, 'remark')} came meanwhile: ask for another round, or decide."
    return _waiting_status(fence, f"{said} Waiting for CI.", "ci")


def with_ignored(status: Status, ignored: Sequence[tuple[str, str]]) -> Status:
    """Return the status, with the number of ignored texts and the reasons."""
    if not ignored:
        return status
    reasons = Counter(why for _, why in ignored)
    told = ", ".join(f"{count} ({why})" for why, count in sorted(reasons.items()))
    listed = [{"id": key, "why": why} for key, why in ignored[-LISTED:]]
    return replace(status, rows=(*status.rows, ("Ignored remarks", told)), data={**status.data, "ignored": listed})


def _waiting_status(fence: Fence, sentence: str, reason: str) -> Status:
    opened = comments.waiting_for_ci(fence)
    return replace(opened, sentence=sentence, data={**opened.data, "waiting": {"why": reason}})
