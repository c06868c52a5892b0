"""Why an approved pull request is not merged by the engine now, and what clears each reason."""

from __future__ import annotations

from enum import StrEnum

from reviewer_agent.review.opinion import Care


class Hindrance(StrEnum):
    """Why an approved pull request is not merged by the engine now, or why a review is not begun."""

    NEVER = "merging is configured to be done by people"
    FLAGGED = "a flag says that a person decides"
    RESOLVED = "a conflict was resolved in it, so a person looks at it"
    BARRED = "a label says that it is not to be merged"
    UNSEEN = "the engine's approval of this commit is not on GitHub"
    REQUESTED = "somebody's request for changes still stands"
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
    CONFLICT = "it cannot be merged into its base as it is"
    TURN = "it is brought up to date with its base when its turn comes"
    REFUSED = "GitHub refused the merge"
    DEQUEUED = "GitHub's merge queue has taken it out"
    QUEUED = "it waits in GitHub's merge queue"
    STOPPED = "its issue was closed, paused or taken back"
    EDITED = "its issue was edited after its text was approved"
    BLOCKED = "its issue is blocked by another one that is open"
    COOLING = "people are given time to object"


OF_CARE = {
    Care.BREAKING: Hindrance.BREAKING,
    Care.PROTECTED: Hindrance.PROTECTED,
    Care.UNSIGNED: Hindrance.UNSIGNED,
    Care.UNASKED: Hindrance.UNASKED,
    Care.DISPUTED: Hindrance.DISPUTED,
}
"""What a review says of a change that only a person merges."""

ON_ORDER = frozenset(
    {
        Hindrance.NOT_ORDERED,
        Hindrance.OWN_ORDER,
        Hindrance.FORK,
        Hindrance.LARGE,
        Hindrance.NO_CI,
        *OF_CARE.values(),
    }
)
"""What a person's `/merge` clears."""

PASSING = frozenset({Hindrance.UNSEEN, Hindrance.CHECKS_RUNNING, Hindrance.CHECKS_AWAITED, Hindrance.BASE_RUNNING})
"""What is worth waiting for with the lease kept."""

UNANNOUNCED = PASSING | {
    Hindrance.REQUIRED,
    Hindrance.CONFLICT,
    Hindrance.TURN,
    Hindrance.REFUSED,
    Hindrance.FLAGGED,
    Hindrance.RESOLVED,
    Hindrance.BARRED,
    Hindrance.REQUESTED,
    Hindrance.CHECKS_RED,
    Hindrance.CHECKS_MISSING,
    Hindrance.BASE_RED,
    Hindrance.STOPPED,
    Hindrance.EDITED,
    Hindrance.BLOCKED,
}
"""What can change without GitHub showing the pull request as changed."""

TOLD_ANEW = frozenset(
    {
        Hindrance.OWN_ORDER,
        Hindrance.FLAGGED,
        Hindrance.RESOLVED,
        Hindrance.CHECKS_RED,
        Hindrance.CHECKS_MISSING,
        Hindrance.CHECKS_AWAITED,
        Hindrance.EDITED,
        Hindrance.BLOCKED,
        Hindrance.REQUIRED,
        Hindrance.CONFLICT,
        Hindrance.TURN,
    }
)
"""What is told as soon as it is so: people may have to do something, whatever they were told to wait for before."""

WAITS = {"stopped": Hindrance.STOPPED, "edited": Hindrance.EDITED, "red-head": Hindrance.CHECKS_RED}
"""The reasons in the fence of a review that is put off, which is looked at before it is claimed again."""

RED_BASE = "red-base"
"""The reason in the fence of an approved pull request that waits for its base branch."""

REFUSED = "merge-refused"
"""The reason in the fence of one that GitHub refused to merge: tried again then, or when GitHub's word changes."""

IN_QUEUE = "merge-queue"
"""The reason in the fence of one that was put into GitHub's merge queue."""

COOLING = "cooling"
"""The reason in the fence of one that is merged at a time, unless somebody speaks against it before."""
