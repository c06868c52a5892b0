"""Every sentence the reviewer posts beside its reviews (`review/text.py`): pure functions from facts to Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reviewer_agent.links import issue_of
from reviewer_agent.merge.blockers import ON_ORDER, Blocker
from reviewer_agent.review.text import REASON_CHARS, line
from shared.commands.command_rules import OF_THE_ISSUE, offered
from shared.errors import Blocked
from shared.github.status import Status, before_any_label, waiting_status
from shared.lock.fence import Fence
from shared.models import Issue, PullRequest
from shared.retry.answer_retry import AnswerUnusable, shown
from shared.text import change_summary, neutralise, one_line, redact
from shared.workflow import Stage, Track
from shared.workflow.labels import Flag, Labels

TITLE_LIMIT = 240

LINE_CHARS = 72
"""Characters of a line of a commit message."""

HEAD_MOVED = "head_moved"
"""Machine-readable reason in a status comment: commits were pushed that nobody asked to review."""

FORK_MOVED = "fork_moved"
"""The same reason for a branch of another repository; nobody is notified about that one."""


def merge_title(pull_request: PullRequest) -> str:
    """Return the subject of the merge commit; a stranger's title closes no issue and mentions nobody with it."""
    suffix = f" (#{pull_request.number})"
    return neutralise(one_line(pull_request.title, TITLE_LIMIT - len(suffix))) + suffix


SENTENCES = 2
"""Maximum number of sentences about the change in the message of a merge commit."""


def merge_message(pull_request: PullRequest, trailers: Sequence[str] = ()) -> str:
    """Return the whole message of the merge commit: subject, what the change does by its description, and trailers."""
    said = change_summary.first_sentences(change_summary.read(pull_request.body), SENTENCES)
    told = "\n".join(textwrap.wrap(neutralise(redact(said, ())), LINE_CHARS, break_long_words=False))
    return "\n\n".join(filter(None, [merge_title(pull_request), told, "\n".join(trailers)]))


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a sentence: changed lines and their limit, the label that bars the merge, the time of the merge.

    `blockers` are the review's sentences against merging without a person. `base` is the branch it goes into, `missing`
    what that branch requires and the change lacks, `github_text` GitHub's own words. `ours`: a worker can change it.
    """

    lines: int | None = None
    limit: int | None = None
    barred: str = ""
    until: datetime | None = None
    blockers: tuple[str, ...] = ()
    base: str = "its base branch"
    missing: tuple[str, ...] = ()
    github_text: str = ""
    ours: bool = True


def approved(fence: Fence, blocker: Blocker, names: Labels, facts: Facts | None = None) -> Status:
    """Return the status of an approved pull request: what it waits for."""
    facts = facts or Facts()
    then = _NEXT[blocker].format(
        reviewing=names.of(Stage.REVIEWING),
        changes=names.of(Stage.CHANGES_REQUESTED),
        answered=_answered(names, ours=facts.ours),
        conflict=names.of(Flag.HAD_CONFLICT),
        size="uncounted" if facts.lines is None else facts.lines,
        limit=facts.limit,
        barred=facts.barred or "it carries a label that says so",
        until=f"{facts.until:%H:%M UTC on %Y-%m-%d}" if facts.until else "a later time",
        base=one_line(facts.base, 100),
        missing=" and ".join(facts.missing),
        said=one_line(facts.github_text, REASON_CHARS),
    )
    if blocker in ON_ORDER | {Blocker.NEVER}:
        then = " ".join([*(f"{one[:1].upper()}{one[1:]}." for one in facts.blockers), then])
    waiting: dict[str, object] = {"why": blocker.name.casefold()}
    if facts.until:
        waiting["until"] = facts.until.isoformat()
    if facts.missing:
        waiting["for"] = list(facts.missing)
    return Status(f"Approved at {fence.work_head[:12]}. {then}", _rows(fence), _data(fence, waiting=waiting))


def _answered(names: Labels, *, ours: bool) -> str:
    """Return the step that has people's comments worked on: no worker changes what a person has opened."""
    if ours:
        return f"set `{names.of(Stage.CHANGES_REQUESTED)}` to have the comments worked on"
    return f"push what they ask for, then set `{names.of(Stage.REVIEWING)}` for another review"


_NEXT = {
    Blocker.NEVER: "A maintainer merges it.",
    Blocker.REVERT: "It takes back a merge: a maintainer merges it, or closes it.",
    Blocker.FLAGGED: "It is not merged while a flag on it or on its issue asks for a maintainer. "
    "Remove the flag when you are done.",
    Blocker.RESOLVED: "A merge conflict with `{base}` was resolved by the coder, and the tests pass. Check "
    "that merge, then remove `{conflict}` to have it merged.",
    Blocker.BARRED: "It is not merged: {barred}.",
    Blocker.UNSEEN: "It is not merged: the engine's approval for `{base}` is not on GitHub. Set `{reviewing}` for "
    "another review.",
    Blocker.REQUESTED: "Changes are still requested: whoever requested them has to approve or dismiss that review.",
    Blocker.REMARKED: "{missing} commented on this commit. It is merged when they approve it, or somebody comments "
    "`/merge`; {answered}.",
    Blocker.FORK: "Its branch is in another repository: comment `/merge`, or merge it yourself.",
    Blocker.NOT_ORDERED: "Comment `/merge` to have this commit merged when its checks pass.",
    Blocker.OWN_ORDER: "Only its requester asked for the merge: somebody else has to comment `/merge` or press the "
    "button.",
    Blocker.BREAKING: "This is a breaking change: comment `/merge`, or merge it yourself.",
    Blocker.PROTECTED: "It touches protected files or dependencies: comment `/merge`, or merge it yourself.",
    Blocker.UNSIGNED: "Comment `/merge`, or merge it yourself.",
    Blocker.UNASKED: "Comment `/merge`, or merge it yourself.",
    Blocker.DISPUTED: "This review objects to something that an earlier one accepted: comment `/merge`, or merge it "
    "yourself.",
    Blocker.LARGE: "It changes {size} lines, more than {limit}: comment `/merge`, or merge it yourself.",
    Blocker.CHECKS_RED: "Its checks fail; it is merged when they pass.",
    Blocker.CHECKS_MISSING: "This commit has no CI checks; at least one must pass. "
    "(`ci.none_is_green: true` would need none.)",
    Blocker.NO_CI: "This repository has no CI: comment `/merge`, or merge it yourself. "
    "(`ci.none_is_green: true` would need no checks.)",
    Blocker.CHECKS_RUNNING: "Its checks are running; it is merged when they pass.",
    Blocker.CHECKS_AWAITED: "Required checks are missing: {missing}. It is merged when they pass. "
    "If nothing reports them any more, remove them from the requirements of `{base}`.",
    Blocker.BASE_RED: "The checks of the base branch fail; it is merged when they pass.",
    Blocker.BASE_RUNNING: "The checks of the base branch are running since the last merge; it is merged after that.",
    Blocker.REQUIRED: "It waits for {missing}, as `{base}` requires; it is merged then.",
    Blocker.UNDECIDED: "GitHub has not said yet if it has what `{base}` requires; it is merged then.",
    Blocker.CONFLICT: "It conflicts with `{base}`: merge `{base}` into its branch, push that, then set `{reviewing}`.",
    Blocker.TURN: "One pull request at a time is brought up to date with `{base}` and merged; {missing} came first "
    "when this was written. This one continues by itself when that is merged, closed or flagged. GitHub may dismiss an "
    "approval that is given before; where nothing else is missing, it comes first after half an hour.",
    Blocker.REFUSED: "GitHub refused to merge it: {said} It is tried again at {until}, or as soon as GitHub "
    "says something else.",
    Blocker.DEQUEUED: "{said} It is put in again at {until}, or as soon as `{base}` changes; `/merge` does that now.",
    Blocker.TAKEN_OUT: "{said} Comment `/merge` to have it put in again, or do that with the merge button.",
    Blocker.QUEUED: "It waits in GitHub's merge queue.",
    Blocker.STOPPED: "It is not merged while its issue is closed, locked, paused, excluded, gone or not at "
    "`{reviewing}`. Merge it yourself if you want it all the same, or close it if it is not wanted any more.",
    Blocker.EDITED: "It is not merged: its issue, by somebody without write access, was edited after its text was "
    "approved. It continues when the text is restored; set `{changes}` here to have the new one worked on.",
    Blocker.REWORDED: "Its issue was edited after this commit was reviewed, and it was reviewed too often to be "
    "reviewed again: comment `/merge` to have it merged as it is, or set `{changes}` to have the new text worked on.",
    Blocker.BLOCKED: "It is not merged while its issue is blocked by another one that is open; it is merged as "
    "soon as that is closed, or the relationship is taken off.",
    Blocker.COOLING: "It is merged at {until}, unless something blocks it; `/merge` merges it now.",
}


def read_anew(fence: Fence) -> Status:
    """Return the status of a commit that is reviewed again, because its issue was edited after the approval."""
    sentence = (
        f"The issue was edited after {fence.work_head[:12]} was reviewed: it is reviewed by the new text before it is "
        "merged."
    )
    return Status(sentence, _rows(fence), _data(fence))


def changes_requested(fence: Fence, pull_request: PullRequest, names: Labels, *, by_person: bool = False) -> Status:
    """Return the status of a pull request that the worker or its author has to change."""
    who = "A maintainer requested changes" if by_person else f"Changes requested at {fence.work_head[:12]}"
    if issue_of(pull_request) is not None:
        then = "A worker will address them."
    else:
        then = f"Push them, then set `{names.of(Stage.REVIEWING)}` for another review."
    return Status(f"{who}. {then}", _rows(fence), _data(fence))


def given_up(fence: Fence, error: Blocked, names: Labels, text: str = "", *, ours: bool = True) -> Status:
    """Return the status of one that needs a maintainer; `text` is a review that could not be posted.

    `ours`: a worker can change it, and it has an issue that commands can concern.
    """
    advice = f"{error.advice} Or " if error.advice else ""
    changed = f"`{names.of(Stage.CHANGES_REQUESTED)}` to have it changed, or " if ours else ""
    notes = (
        f"**What to do:** {advice}merge or close it yourself, or set {changed}"
        f"`{names.of(Stage.REVIEWING)}` to have it reviewed again."
    )
    notes += f"\n\n{offered(Track.PULL_REQUEST, fence.stage, without=() if ours else OF_THE_ISSUE)}"
    if text:
        notes += f"\n\n**The review that could not be posted:**\n\n{text}"
    if isinstance(error, AnswerUnusable):
        notes += f"\n\n{shown(error.raw)}"
    rows = (*_rows(fence), ("Category", error.category))
    data = _data(fence, error=line(str(error), REASON_CHARS), category=error.category)
    return Status(str(error), rows, data, notes)


def not_asked(fence: Fence, pull_request: PullRequest, names: Labels) -> Status:
    """Return the status of a pull request with a new head: a push alone is no reason to pay for another review."""
    reviewing = names.of(Stage.REVIEWING)
    is_set = fence.stage is Stage.REVIEWING  # else its own label has taken the place of this one
    sentence = (
        f"The commit {pull_request.head_sha[:12]} was pushed after {fence.work_head[:12]} was handed to review. "
        f"{f'Take `{reviewing}` off and set it again' if is_set else f'Set `{reviewing}`'} to have it reviewed."
    )
    why = HEAD_MOVED if pull_request.from_own_branch else FORK_MOVED
    return Status(sentence, _rows(fence), _data(fence, waiting={"why": why}))


def of_issues(label: str, names: Labels) -> str:
    """Return the reply to a label of issues that was set on a pull request, where it starts nothing."""
    return (
        f"`{one_line(label, 60)}` is a label of issues and starts nothing on a pull request: set "
        f"`{names.of(Stage.REVIEWING)}` here to have it reviewed, or, if the engine has opened it, "
        f"`{names.of(Stage.CHANGES_REQUESTED)}` to have it changed."
    )


def merged(fence: Fence) -> Status:
    """Return the status of a pull request that is on the base branch."""
    return Status("Merged.", _rows(fence), _data(fence))


def waiting(fence: Fence, sentence: str) -> Status:
    """Return the status after a failed run."""
    return waiting_status(fence, sentence, _rows(fence), _data(fence))


def paused(fence: Fence) -> Status:
    """Return the status of a pull request that a person paused."""
    return Status("Paused. Remove the label to continue.", _rows(fence), _data(fence))


def put_off(fence: Fence, reason: Blocker, names: Labels) -> Status:
    """Return the status of a review that is put off: why nothing is paid for now, and what makes it continue."""
    reviewing, changes = names.of(Stage.REVIEWING), names.of(Stage.CHANGES_REQUESTED)
    sentences = {
        Blocker.STOPPED: f"It is not reviewed while its issue is closed, locked, paused, excluded, gone or not "
        f"at `{reviewing}`. Close it if it is not wanted any more.",
        Blocker.EDITED: "It is not reviewed: its issue, by somebody without write access, was edited after its text "
        f"was approved. It continues when the text is restored; set `{changes}` here to have the new one worked on.",
        Blocker.CHECKS_RED: "It is not reviewed while its checks fail; a repair was tried for this commit already. "
        f"It is reviewed when they pass; set `{changes}` to have the checks and the remarks here worked on "
        "again.",
    }
    return Status(sentences[reason], _rows(fence), _data(fence, waiting={"why": reason.name.casefold()}))


def sent_to_base(fence: Fence, base: str) -> Status:
    """Return the status of a pull request that cannot be merged before its base is merged into it."""
    sentence = (
        f"{fence.work_head[:12]} cannot be merged into `{one_line(base, 100)}` as that stands now. A worker merges "
        "the base into it, and resolves the conflicts; then the review continues here."
    )
    return Status(sentence, _rows(fence), _data(fence))


def sent_back(fence: Fence) -> Status:
    """Return the status of a pull request whose checks turned red after it was handed over."""
    sentence = (
        f"The checks of {fence.work_head[:12]} failed after it was handed over. A worker looks into them; then the "
        "review continues here."
    )
    return Status(sentence, _rows(fence), _data(fence))


def withdrawn(fence: Fence, reason: str, names: Labels | None = None, thread: Issue | None = None) -> Status:
    """Return the status of one that a person stopped; `names` only if it is open and can be taken up again.

    `thread` is the same pull request as an issue, which may be locked.
    """
    then = ""
    if names:
        steps = f"{before_any_label(thread)}set `{names.of(Stage.REVIEWING)}`"
        then = f" {steps[0].upper()}{steps[1:]} to have it reviewed again, and merged where nothing blocks it."
    return Status(f"Stopped: {reason}.{then}", _rows(fence), _data(fence))


def rounds_used_up(rounds: int) -> str:
    """Return the reason why a person decides: all rounds of changes are used up."""
    return f"After {rounds} rounds the review still requests changes: a maintainer decides."


def reviews_used_up(reviews: int) -> str:
    """Return the reason why a person decides: too many commits were reviewed."""
    return f"{reviews} commits of this pull request were reviewed: a maintainer decides how to continue."


def too_large(missing: Sequence[str]) -> str:
    """Return the reason why nothing was approved: the change is too large to be reviewed completely."""
    named = f" ({', '.join(missing[:5])})" if missing else ""
    return f"The change is too large to review completely{named}, so it is not approved: a maintainer decides."


def _rows(fence: Fence) -> tuple[tuple[str, str], ...]:
    return (
        ("Stage", fence.stage),
        ("Agent", fence.agent),
        ("Round", str(fence.round + 1)),
        ("Commit", fence.work_head[:12]),
    )


def _data(fence: Fence, **more: object) -> dict[str, object]:
    return {"stage": fence.stage, "holder": fence.agent, "round": fence.round, "head": fence.work_head, **more}
