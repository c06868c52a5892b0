"""The reasons why an approved pull request is not merged now, and what clears them; `merge_decision` picks one."""

from __future__ import annotations

from enum import StrEnum

from reviewer_agent.review.verdict import PersonOnly


class Blocker(StrEnum):
    """Reason why the engine does not merge an approved pull request now, or does not begin a review."""

    NEVER = "merging is configured to be done by people"
    REVERT = "it takes back a merge, so a maintainer merges it"
    FLAGGED = "a flag says that a person decides"
    RESOLVED = "a conflict was resolved in it, so a person looks at it"
    BARRED = "a label says that it is not to be merged"
    UNSEEN = "the engine's approval of this commit is not on GitHub"
    REQUESTED = "somebody's request for changes still stands"
    REMARKED = "somebody has commented on this commit"
    FORK = "its branch is in another repository, so a maintainer merges"
    NOT_ORDERED = "it waits for `/merge`"
    OWN_ORDER = "only its requester has asked for the merge, and that does not count"
    BREAKING = "it is a breaking change, so a maintainer merges"
    PROTECTED = "it touches protected files or dependencies, so a maintainer merges"
    UNSIGNED = "the claim of its proof is not the engine's own, so a maintainer merges"
    UNASKED = "no criterion asks for what was done to old tests, or for what no test decides, so a maintainer merges"
    DISPUTED = "its review objects to what an earlier one had let pass, so a maintainer merges"
    LARGE = "it changes more lines than the engine merges by itself, so a maintainer merges"
    CHECKS_RED = "its checks fail"
    CHECKS_MISSING = "it has no checks"
    NO_CI = "the repository has no CI, so a maintainer merges"
    CHECKS_RUNNING = "its checks have not finished"
    CHECKS_AWAITED = "nobody has reported a check that its base branch requires"
    BASE_RED = "the checks of the base branch fail"
    BASE_RUNNING = "the checks of the base branch have not finished since the last merge"
    REQUIRED = "its base branch requires more than it has"
    UNDECIDED = "GitHub has not found out yet if it has what its base branch requires"
    CONFLICT = "it cannot be merged into its base as it is"
    TURN = "it is brought up to date with its base when its turn comes"
    REFUSED = "GitHub refused the merge"
    DEQUEUED = "GitHub's merge queue has taken it out, and gets it again later"
    TAKEN_OUT = "it was taken out of GitHub's merge queue, so a maintainer has it put in again"
    QUEUED = "it waits in GitHub's merge queue"
    STOPPED = "its issue was closed, paused or taken back"
    EDITED = "its issue was edited after its text was approved"
    REWORDED = "its issue was edited after its last review"
    BLOCKED = "its issue is blocked by another one that is open"
    COOLING = "people are given time to object"


OF_CARE = {
    PersonOnly.BREAKING: Blocker.BREAKING,
    PersonOnly.PROTECTED: Blocker.PROTECTED,
    PersonOnly.UNSIGNED: Blocker.UNSIGNED,
    PersonOnly.UNASKED: Blocker.UNASKED,
    PersonOnly.DISPUTED: Blocker.DISPUTED,
}
"""Property of a change, named by its review, that leaves the merge to a person -> the blocker."""

ON_ORDER = frozenset(
    {
        Blocker.NOT_ORDERED,
        Blocker.OWN_ORDER,
        Blocker.FORK,
        Blocker.LARGE,
        Blocker.NO_CI,
        Blocker.TAKEN_OUT,
        Blocker.REWORDED,
        Blocker.REMARKED,
        *OF_CARE.values(),
    }
)
"""Blockers that a person's `/merge` clears."""

PASSING = frozenset(
    {Blocker.UNSEEN, Blocker.CHECKS_RUNNING, Blocker.CHECKS_AWAITED, Blocker.BASE_RUNNING, Blocker.UNDECIDED}
)
"""Blockers that are worth waiting for with the lease kept."""

UNANNOUNCED = PASSING | {
    Blocker.REQUIRED,
    Blocker.CONFLICT,
    Blocker.TURN,
    Blocker.REFUSED,
    Blocker.FLAGGED,
    Blocker.RESOLVED,
    Blocker.BARRED,
    Blocker.REQUESTED,
    Blocker.CHECKS_RED,
    Blocker.CHECKS_MISSING,
    Blocker.BASE_RED,
    Blocker.STOPPED,
    Blocker.EDITED,
    Blocker.BLOCKED,
}
"""Blockers that can change without GitHub showing the pull request as changed."""

TOLD_ANEW = ON_ORDER | frozenset(
    {
        Blocker.REVERT,
        Blocker.UNSEEN,
        Blocker.REQUESTED,
        Blocker.BARRED,
        Blocker.FLAGGED,
        Blocker.RESOLVED,
        Blocker.CHECKS_RED,
        Blocker.CHECKS_MISSING,
        Blocker.CHECKS_AWAITED,
        Blocker.STOPPED,
        Blocker.EDITED,
        Blocker.BLOCKED,
        Blocker.REQUIRED,
        Blocker.CONFLICT,
        Blocker.TURN,
    }
)
"""Blockers that are posted as soon as they apply, whatever was posted before: people may have to act."""

WAITS = {"stopped": Blocker.STOPPED, "edited": Blocker.EDITED, "red-head": Blocker.CHECKS_RED}
"""Reason in the fence of a review that is put off -> the blocker, which is checked before the next claim."""


class WaitReason(StrEnum):
    """Reason in the fence of an approved pull request that is not looked at before a given time."""

    RED_BASE = "red-base"
    """It waits for its base branch."""
    REFUSED = "merge-refused"
    """GitHub refused its merge, which is retried then, or when GitHub's merge state changes."""
    QUEUED = "merge-queue"
    """It was put into GitHub's merge queue."""
    OUT_OF_QUEUE = "out of the merge queue"
    """GitHub's merge queue removed it: it is put in again then, or when its base changes."""
    COOLING = "cooling"
    """It is merged then, unless somebody objects before."""
