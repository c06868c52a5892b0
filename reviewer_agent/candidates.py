"""Labels and fence of a pull request: whether a claim begins something there, and whether the work ends (pure)."""

from __future__ import annotations

from shared.ci.ci_round import BASE_MOVED, SENT_BACK
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.reconcile import label_drift
from shared.workflow import HALTED, TERMINAL, Event, Role, Stage, Track, move
from shared.workflow.labels import Flag, Labels

STAGES = frozenset({Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED})
"""Labels under which the reviewer finds work."""


def find_intent(pull_request: PullRequest, fence: Fence | None, names: Labels) -> Intent | str:
    """Return what a claim of this pull request would begin or finish, or the reason why there is nothing to claim."""
    if pull_request.merged and fence is not None and fence.stage not in TERMINAL:
        return Intent(fence.stage)
    if not pull_request.open or pull_request.draft:
        return f"the pull request is {'a draft' if pull_request.open else 'closed'}"
    labels = names.read(pull_request.labels)
    if Flag.PAUSED in labels.flags:
        return f"the pull request carries '{names.of(Flag.PAUSED)}'"
    if fence is not None and not labels.stages and fence.stage not in TERMINAL | HALTED:
        # Lost with its definition, or taken off by a person, who is heard after the claim.
        return Intent(fence.stage, phase=fence.phase)
    if not labels.stages & STAGES:
        return "no stage of the reviewer"
    if fence is None or fence.stage in TERMINAL:
        if labels.stages & STAGES == {Stage.APPROVED}:
            return f"the engine has not reviewed it: set '{names.of(Stage.REVIEWING)}' for a review"
        return _new_review(pull_request, fence)
    if fence.stage in {Stage.REVIEWING, Stage.IN_REVIEW}:
        return Intent(fence.stage, phase=fence.phase)
    if Stage.REVIEWING in labels.stages:  # asks for another review of what was settled
        return _new_review(pull_request, fence)
    # Any other label lags behind, or waits for the merge; why it was given back stands in the phase.
    return Intent(fence.stage, phase=fence.phase)


def _new_review(pull_request: PullRequest, fence: Fence | None) -> Intent:
    to = move(Track.PULL_REQUEST, Stage.REVIEWING, Event.CLAIMED).to
    return Intent(
        to,
        attempt=_attempt(fence),
        round=_round(pull_request, fence),
        pr=pull_request.number,
        work_head=pull_request.head_sha,
    )


def reopening(pull_request: PullRequest, fence: Fence) -> Intent:
    """Return what a claim begins if another head than the fence's is to be reviewed; the new epoch names that head."""
    stage = fence.stage
    if stage is not Stage.REVIEWING:
        stage = move(Track.PULL_REQUEST, stage, Event.HEAD_MOVED).to
    return Intent(stage, attempt=_attempt(fence), work_head=pull_request.head_sha)


def _attempt(fence: Fence | None) -> int:
    """Return the number of reviews begun before this one; 0 if a person asks again after a failure.

    A change that only had its base merged in does not count as another one.
    """
    if fence is None or fence.stage in HALTED:
        return 0
    return fence.attempt if fence.phase == BASE_MOVED else fence.attempt + 1


def _round(pull_request: PullRequest, fence: Fence | None) -> int:
    """Return how often changes were requested and made, by anybody; a repair or a new base does not count."""
    if fence is None or fence.phase in {SENT_BACK, BASE_MOVED}:
        return 0 if fence is None else fence.round
    return fence.round + (fence.stage is Stage.CHANGES_REQUESTED and fence.work_head != pull_request.head_sha)


def expected_stage(fence: Fence) -> Stage | None:
    """Return the stage label that the pull request should carry; None leaves its labels alone."""
    return None if fence.stage in TERMINAL else fence.stage


def stop_request(item: Issue | PullRequest, fence: Fence, names: Labels) -> str | None:
    """Return the reason to stop, as a part of a sentence; None if nobody orders it."""
    labels = names.read(item.labels)
    shown = expected_stage(fence)
    if not item.open or (isinstance(item, Issue) and item.locked):
        return "the pull request was closed or locked"
    if Flag.PAUSED in labels.flags:
        return f"'{names.of(Flag.PAUSED)}' was set"
    if shown is not None and label_drift.ordered_to_stop(labels.stages, shown, before(shown)):
        return "a person moved or removed the stage label"
    return None


def before(stage: Stage) -> frozenset[Stage]:
    """Return the stages from which an agent moves to `stage`: their label may remain while such a move is half done."""
    movers = {Role.WORKER, Role.REVIEWER}
    if stage is Stage.CHANGES_REQUESTED:
        movers.add(Role.PERSON)  # a person's review moves it there, and the reviewer carries that out
    return label_drift.before(stage, tracks={Track.PULL_REQUEST}, movers=movers)
