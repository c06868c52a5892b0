"""The next condition for the merge of an approved pull request: labels, checks, the reviewer's reason (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from console.status.row import Waiting, Whom
from reviewer_agent.comments import FORK_MOVED, HEAD_MOVED
from reviewer_agent.merge.blockers import ON_ORDER, Blocker
from shared.ci.verdict import CiVerdict
from shared.github import status, status_record
from shared.lock.record import Fence
from shared.models import Comment
from shared.text import comment_signatures
from shared.workflow import Role

CONFIGURED = {
    "never": Waiting(Whom.PERSON, "merge it"),
    "approve": Waiting(Whom.PERSON, "/merge"),
    "auto": Waiting(Whom.REVIEWER, "merges it"),
}
"""By the configured word, where nothing else is known."""

_TOLD: Mapping[Blocker, Waiting] = {
    **{reason: Waiting(Whom.PERSON, "/merge") for reason in ON_ORDER - {Blocker.NOT_ORDERED}},
    Blocker.OWN_ORDER: Waiting(Whom.PERSON, "/merge by somebody else"),
    Blocker.REVERT: Waiting(Whom.PERSON, "merge or close it"),
    Blocker.REQUESTED: Waiting(Whom.PERSON, "a request for changes stands"),
    Blocker.CHECKS_MISSING: Waiting(Whom.PERSON, "it has no checks"),
    Blocker.CHECKS_AWAITED: Waiting(Whom.PERSON, "a required check"),
    Blocker.STOPPED: Waiting(Whom.PERSON, "its issue was stopped"),
    Blocker.EDITED: Waiting(Whom.PERSON, "its issue was edited"),
    Blocker.BLOCKED: Waiting(Whom.ITEM, "what blocks its issue"),
    Blocker.REQUIRED: Waiting(Whom.PERSON, "what its base branch requires"),
    Blocker.CONFLICT: Waiting(Whom.PERSON, "merge its base into it"),
    Blocker.TURN: Waiting(Whom.ITEM, "its turn to be brought up to date"),
    Blocker.REFUSED: Waiting(Whom.PERSON, "GitHub refused the merge"),
    Blocker.DEQUEUED: Waiting(Whom.ITEM, "GitHub's merge queue, once more"),
    Blocker.QUEUED: Waiting(Whom.ITEM, "GitHub's merge queue"),
    Blocker.BASE_RED: Waiting(Whom.CI, "the checks of its base"),
}
"""Reasons of the reviewer -> what the merge waits for; labels and checks are read here."""


_NAMED = {Blocker.REQUIRED.name.casefold(): "", Blocker.CHECKS_AWAITED.name.casefold(): "the required check "}
"""Reasons that name what is missing, and what stands before the names."""

UNASKED = frozenset({HEAD_MOVED, FORK_MOVED})
"""Commits that nobody has asked to have reviewed, in the words of the status comment."""


def merging(configured: str, barred: str, ci: CiVerdict | None, word: Mapping[str, object]) -> Waiting:
    """Return what the merge waits for. `barred` is a person's step by labels, `word` the data of the status comment."""
    if configured == "never":
        return CONFIGURED[configured]
    if barred:
        return Waiting(Whom.PERSON, barred)
    why = word.get("why")
    told = next((waiting for reason, waiting in _TOLD.items() if reason.name.casefold() == why), None)
    missing = word.get("for")
    if why in _NAMED and isinstance(missing, list):
        return Waiting(Whom.PERSON, _NAMED[str(why)] + " and ".join(map(str, missing)))
    if told is not None:
        return told
    if configured == "auto" and ci in {CiVerdict.RED, CiVerdict.RUNNING, CiVerdict.UNKNOWN}:
        return Waiting(Whom.CI, "its checks")
    return CONFIGURED[configured]


def last_word(fence: Fence, comments: Iterable[Comment], account: int) -> Mapping[str, object]:
    """Return the reason in the reviewer's status comment why this very commit is not merged; else empty.

    `account` is the one that claimed it: comments of any other account are ignored.
    """
    for comment in comments:
        mark = comment_signatures.find(comment.body.partition("\n")[0])
        ours = comment.number == fence.key.number and comment.author.id == account
        if not ours or mark is None or mark.name != status.MARK or mark.fields.get("kind") != Role.REVIEWER:
            continue
        try:
            data = status_record.read(comment.body)
        except ValueError:  # somebody has edited it
            continue
        waiting = data.get("waiting")
        if data.get("head") == fence.work_head and isinstance(waiting, Mapping):
            return waiting
    return {}
