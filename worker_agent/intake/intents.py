"""Decisions on the work that a claim would begin, its text, and the label that asks for it (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.pending import mark
from shared.specification import Provenance, authentic, body_sha256
from shared.text.comment_signatures import Keyring
from shared.workflow import HALTED, Event, Stage, Track, move
from shared.workflow.labels import Flag, Labels
from worker_agent.decide import SETTLED, WORKING, NextStep
from worker_agent.expected_labels import is_doubled
from worker_agent.policy import Policy

UNAPPROVED = "0" * 64
"""The hash of no text: a plan's text was edited before it was begun, so nobody has approved its present text."""

_BUILDS = frozenset({"", NextStep.RED, NextStep.GREEN, NextStep.REFACTOR, NextStep.CONFIRMED, NextStep.DECLINED})
"""Phases before the pull request; in every other one the branch is finished as far as the tests here can tell."""

_ANSWERS = frozenset({NextStep.FEEDBACK, NextStep.TEXT, NextStep.ANSWER, NextStep.ROUNDS})
"""Phases of an open pull request in which remarks are handled before CI results.

At `answer` the change is made and paid for: only the answers are missing.
"""


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason of new work: one of these stage labels, on this thread."""

    number: int
    stages: frozenset[Stage]


def find_intent(
    issue: Issue, pull_request: PullRequest | None, fence: Fence | None, policy: Policy, keys: Keyring
) -> Intent | str:
    """Return the work that a claim of this item would begin, or the sentence why there is nothing to claim."""
    names = policy.names
    if not issue.open or issue.locked:
        return "the issue is closed or locked"
    labels = names.read(issue.labels)
    if Flag.PAUSED in labels.flags:
        return f"the issue carries '{names.of(Flag.PAUSED)}'"
    if pull_request is not None and pull_request.open:
        return _fix_round(issue, pull_request, fence, policy)
    if Stage.READY in labels.stages and (fence is None or fence.stage not in WORKING):
        text = _approved_text(issue, fence, keys)
        if fence is not None and fence.stage is Stage.READY:  # a command leads on from where it stopped
            bound = "" if fence.body_sha256 else text  # the command was bound to the text that stood there
            built = fence.phase not in _BUILDS  # and could not be shown: no remark is there to be answered
            return Intent(Stage.IMPLEMENTING, NextStep.CI if built else fence.phase or NextStep.RED, body_sha256=bound)
        return Intent(
            Stage.IMPLEMENTING, NextStep.RED, attempt=0, round=0, pr=0, base="", work_head="", body_sha256=text
        )
    if fence is not None and (fence.stage in WORKING or (fence.stage in SETTLED and labels.stages & WORKING)):
        return Intent(fence.stage, fence.phase)
    if fence is not None and labels.stages == {Stage.REVIEWING} and _is_left(pull_request, fence, policy):
        return Intent(fence.stage, fence.phase)
    if fence is not None and _is_mislabelled(fence, labels.stages):
        return Intent(fence.stage, fence.phase)
    if labels.stages & WORKING and fence is None:
        return Intent(Stage.IMPLEMENTING, NextStep.RED, attempt=0, body_sha256=_approved_text(issue, fence, keys))
    return "no stage of the worker"


def _is_mislabelled(fence: Fence, of_issue: frozenset[Stage]) -> bool:
    """Return whether handed-over work shows no stage, or two. Work is claimed even if a person removed the label."""
    return fence.stage is Stage.REVIEWING and (not of_issue or is_doubled(of_issue))


def _is_left(pull_request: PullRequest | None, fence: Fence, policy: Policy) -> bool:
    """Return whether the pull request of handed-over work has ended while GitHub leaves its issue open.

    It was merged into a branch for which GitHub closes no issue, or closed without being merged.
    """
    if pull_request is None or fence.stage is not Stage.REVIEWING or pull_request.open:
        return False
    return not pull_request.merged or pull_request.base_branch != policy.default_branch


def _approved_text(issue: Issue, fence: Fence | None, keys: Keyring) -> str:
    """Return the hash of the text that a fresh start is bound to.

    A plan's text that was edited before its first start is asked about once. If there is a fence, there was a start
    before: a person has set the label again, on the text as it is.
    """
    if fence is None and (authentic(issue.body, keys) is Provenance.EDITED or _is_edited_pending(issue, keys)):
        return UNAPPROVED
    return body_sha256(issue.title, issue.body)


def _is_edited_pending(issue: Issue, keys: Keyring) -> bool:
    """Return whether the text of an issue about a pending test differs from the engine's own."""
    found = mark.read(issue.body, keys)
    return found.edited if found is not None else mark.is_pending(issue.body)


def _fix_round(issue: Issue, pull_request: PullRequest, fence: Fence | None, policy: Policy) -> Intent | str:
    """Return the work of an item with an open pull request; labels of either that lag count as work.

    After a halt only a person continues the work. That approves the issue's text and the branch's head as they are, and
    one more round. Otherwise git decides about a head that is not ours, see `branch/update.py`.
    """
    if fence is None:
        return "the pull request is not of this engine's making"
    stages, of_issue = (policy.names.read(item.labels).stages for item in (pull_request, issue))
    if fence.stage in WORKING or (fence.stage in SETTLED and (stages | of_issue) & WORKING):
        return Intent(fence.stage, fence.phase, pr=pull_request.number)
    if Stage.CHANGES_REQUESTED not in stages:
        mislabelled = _is_mislabelled(fence, of_issue)
        return Intent(fence.stage, fence.phase, pr=pull_request.number) if mislabelled else "no changes are requested"
    to = move(Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, Event.CLAIMED).to
    halted = fence.stage in HALTED | {Stage.READY}
    commanded = fence.stage is Stage.READY and fence.body_sha256
    continued = fence.stage is Stage.READY  # by a command
    if fence.round >= policy.bounds.rounds and not halted:
        return Intent(to, NextStep.ROUNDS, pr=pull_request.number)
    text = body_sha256(issue.title, issue.body)
    renewed = halted and fence.body_sha256 not in {"", text}
    return Intent(
        to,
        _again(fence.phase) if continued else NextStep.TEXT if renewed else NextStep.FEEDBACK,
        round=fence.round + 1,
        pr=pull_request.number,
        work_head=pull_request.head_sha if halted else None,
        body_sha256=text if halted and not commanded else "",
    )


def _again(phase: str) -> NextStep:
    """Return the phase from which a command continues an open pull request: the same question, or else CI."""
    if phase not in _ANSWERS:
        return NextStep.CI
    return NextStep(phase) if phase in {NextStep.ANSWER, NextStep.TEXT} else NextStep.FEEDBACK


def asked_in_vain(issue: Issue, pull_request: PullRequest | None, fence: Fence | None, names: Labels) -> Cause | None:
    """Return the `ready` label on stopped work whose pull request is still open; nothing else tells its author."""
    if fence is None or fence.stage is not Stage.WITHDRAWN or pull_request is None or not pull_request.open:
        return None
    asks = issue.open and not issue.locked and Stage.READY in names.read(issue.labels).stages
    return Cause(issue.number, frozenset({Stage.READY})) if asks else None


def opened_again(issue: Issue, pull_request: PullRequest | None, fence: Fence | None, names: Labels) -> bool:
    """Return whether stopped work has an open pull request for which no label asks for anything."""
    if fence is None or fence.stage is not Stage.WITHDRAWN or pull_request is None or not pull_request.open:
        return False
    asked = names.read(pull_request.labels).stages
    return issue.open and not issue.locked and not asked and names.read(issue.labels).stages == {Stage.REVIEWING}


def urged(issue: Issue, pull_request: PullRequest | None, fence: Fence | None, names: Labels) -> Cause | None:
    """Return the label that may ask again for work that waits; None if nothing waits or no such label is set."""
    if fence is None or fence.wait is None or fence.stage not in WORKING:
        return None
    if pull_request is not None and pull_request.open:
        number, labels, asked = pull_request.number, pull_request.labels, Stage.CHANGES_REQUESTED
    else:
        number, labels, asked = issue.number, issue.labels, Stage.READY
    return Cause(number, frozenset({asked})) if asked in names.read(labels).stages else None


def cause(
    intent: Intent, issue: Issue, pull_request: PullRequest | None, fence: Fence | None, names: Labels
) -> Cause | None:
    """Return the label that asks for `intent`; None for work that needs none: work in progress, and ended work."""
    begins = intent.stage is Stage.IMPLEMENTING
    if (fence is not None and fence.stage in WORKING | {Stage.READY}) or (
        pull_request and not pull_request.open and not begins
    ):
        return None
    if begins and pull_request is not None and pull_request.open:
        return Cause(pull_request.number, frozenset({Stage.CHANGES_REQUESTED}))
    stages = names.read(issue.labels).stages
    if fence is not None and not begins and not stages & WORKING and _is_mislabelled(fence, stages):
        return None
    if begins and Stage.READY in stages:
        return Cause(issue.number, frozenset({Stage.READY}))
    lagging = issue if pull_request is None or stages & WORKING else pull_request
    return Cause(lagging.number, WORKING)
