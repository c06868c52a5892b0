"""Every sentence the reviewer posts beside its reviews (`review/text.py`): pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reviewer_agent.links import issue_of
from reviewer_agent.merge.hindrances import ON_ORDER, Hindrance
from reviewer_agent.review.text import REASON_CHARS, line
from shared.errors import Blocked
from shared.github.status import Status
from shared.governance.repair import AnswerUnusable, shown
from shared.governance.rulings import offered
from shared.labels import Flag, Labels
from shared.lock.record import Fence
from shared.models import PullRequest
from shared.text import neutralise, one_line
from shared.workflow import Stage, Track

TITLE_LIMIT = 240

HEAD_MOVED = "head_moved"
"""What a status comment says to programs where commits were pushed that nobody has asked about."""

FORK_MOVED = "fork_moved"
"""The same of somebody else's repository, about which nobody is called."""


def merge_title(pull_request: PullRequest) -> str:
    """The subject of the commit on the base branch; a stranger's title closes and mentions nobody with it."""
    suffix = f" (#{pull_request.number})"
    return neutralise(one_line(pull_request.title, TITLE_LIMIT - len(suffix))) + suffix


@dataclass(frozen=True, slots=True)
class Facts:
    """What a sentence names: a change's lines and their limit, the label that bars it, and when it is merged.

    `blockers` are sentences of the review on what speaks against merging without a person. `base` is the branch it
    goes into, `missing` what that requires and it lacks, `said` GitHub's own words.
    """

    lines: int | None = None
    limit: int | None = None
    barred: str = ""
    until: datetime | None = None
    blockers: tuple[str, ...] = ()
    base: str = "its base branch"
    missing: tuple[str, ...] = ()
    said: str = ""


def approved(fence: Fence, hindrance: Hindrance, names: Labels, facts: Facts | None = None) -> Status:
    """What an approved pull request waits for."""
    facts = facts or Facts()
    then = _NEXT[hindrance].format(
        reviewing=names.of(Stage.REVIEWING),
        changes=names.of(Stage.CHANGES_REQUESTED),
        conflict=names.of(Flag.HAD_CONFLICT),
        size="uncounted" if facts.lines is None else facts.lines,
        limit=facts.limit,
        barred=facts.barred or "it carries a label that says so",
        until=f"{facts.until:%H:%M UTC on %Y-%m-%d}" if facts.until else "a later time",
        base=one_line(facts.base, 100),
        missing=" and ".join(facts.missing),
        said=one_line(facts.said, REASON_CHARS),
    )
    if hindrance in ON_ORDER | {Hindrance.NEVER}:
        then = " ".join([*(f"{one[:1].upper()}{one[1:]}." for one in facts.blockers), then])
    waiting: dict[str, object] = {"why": hindrance.name.casefold()}
    if facts.until:
        waiting["until"] = facts.until.isoformat()
    if facts.missing:
        waiting["for"] = list(facts.missing)
    return Status(f"Approved at {fence.work_head[:12]}. {then}", _where(fence), _data(fence, waiting=waiting))


_NEXT = {
    Hindrance.NEVER: "Merging is up to a person.",
    Hindrance.FLAGGED: "It is not merged by the engine while a flag on it or on its issue says that a person "
    "decides: take the flag off once that is done.",
    Hindrance.RESOLVED: "A coder has resolved a conflict with `{base}` in it, and its tests pass: look at that merge, "
    "then take `{conflict}` off, and it is merged.",
    Hindrance.BARRED: "It is not merged: {barred}.",
    Hindrance.UNSEEN: "It is not merged: the engine's approval is not on GitHub. Set `{reviewing}` for another review.",
    Hindrance.REQUESTED: "It is not merged while a request for changes stands: its author approves, or dismisses it.",
    Hindrance.FORK: "Its branch is in another repository: comment `/merge`, or merge it yourself.",
    Hindrance.NOT_ORDERED: "Comment `/merge` to have this commit merged as soon as its checks are green.",
    Hindrance.OWN_ORDER: "Its requester asks for the merge: somebody else has to, by `/merge` or at the button.",
    Hindrance.BREAKING: "It breaks callers: comment `/merge`, or merge it yourself.",
    Hindrance.PROTECTED: "It touches protected files or dependencies: comment `/merge`, or merge it yourself.",
    Hindrance.UNSIGNED: "Comment `/merge`, or merge it yourself.",
    Hindrance.UNASKED: "Comment `/merge`, or merge it yourself.",
    Hindrance.DISPUTED: "It objects to what an earlier review let pass: comment `/merge`, or merge it yourself.",
    Hindrance.LARGE: "It changes {size} lines, more than {limit}: comment `/merge`, or merge it yourself.",
    Hindrance.CHECKS_RED: "It is not merged: its checks are red. It is merged when they turn green.",
    Hindrance.CHECKS_MISSING: "It is not merged: this commit has no checks, and at least one must pass; "
    "with `ci.none_is_green: true` none is needed.",
    Hindrance.NO_CI: "This repository has no CI: comment `/merge`, or merge it yourself; with `ci.none_is_green: true` "
    "no checks count as green.",
    Hindrance.CHECKS_RUNNING: "Its checks have not finished; it is merged when they are green.",
    Hindrance.CHECKS_AWAITED: "`{base}` requires checks that nobody has reported for this commit: {missing}. "
    "It is merged when they are there and green. What nothing reports any more has to go from what `{base}` requires.",
    Hindrance.BASE_RED: "It is not merged while the checks of the base branch are red.",
    Hindrance.BASE_RUNNING: "The checks of the base branch have not finished since the last merge; it is merged then.",
    Hindrance.REQUIRED: "It waits for {missing}, as `{base}` requires; it is merged as soon as that is there.",
    Hindrance.CONFLICT: "It cannot be merged into `{base}` as it is: merge `{base}` into its branch and push that, "
    "then set `{reviewing}`.",
    Hindrance.TURN: "One pull request at a time is brought up to date with `{base}` and merged; when this was written, "
    "{missing} came before it. It goes on by itself when that is merged, closed or flagged. An approval that is given "
    "before may be dismissed by GitHub then; yet where nothing else is missing here, it brings this one forward after "
    "half an hour.",
    Hindrance.REFUSED: "GitHub refused to merge it: {said} It is tried again at {until}, and as soon as GitHub's word "
    "on it changes.",
    Hindrance.DEQUEUED: "GitHub's merge queue has taken it out, and a worker has found nothing to merge from `{base}`. "
    "Put it into the queue again at the merge button; it is also tried again when `{base}` has moved.",
    Hindrance.QUEUED: "It waits in GitHub's merge queue, which merges it.",
    Hindrance.STOPPED: "It is not merged while its issue is closed, locked, paused, excluded or not at `{reviewing}`.",
    Hindrance.EDITED: "It is not merged: its issue, by somebody without write access, was edited after its text was "
    "approved. It goes on when the text is as it was; set `{changes}` here to have the new one worked on.",
    Hindrance.BLOCKED: "It is not merged while its issue is blocked by another one that is open; it is merged as "
    "soon as that is closed, or the relationship is taken off.",
    Hindrance.COOLING: "It is merged at {until}, if nothing speaks against it then; `/merge` does so at once.",
}


def changes_requested(fence: Fence, pull_request: PullRequest, names: Labels, *, by_person: bool = False) -> Status:
    """Somebody has to change something."""
    who = "A person requests changes" if by_person else f"Changes requested at {fence.work_head[:12]}"
    if issue_of(pull_request) is not None:
        then = "A worker takes them up."
    else:
        then = f"Push them, then set `{names.of(Stage.REVIEWING)}` for another review."
    return Status(f"{who}. {then}", _where(fence), _data(fence))


def given_up(fence: Fence, error: Blocked, names: Labels, text: str = "") -> Status:
    """A person has to act; `text` is a review that could not be posted."""
    advice = f"{error.advice} Or " if error.advice else ""
    notes = (
        f"**What to do:** {advice}merge or close it yourself, or set `{names.of(Stage.CHANGES_REQUESTED)}` "
        f"to have it changed, or `{names.of(Stage.REVIEWING)}` to have it reviewed again."
    )
    notes += f"\n\n{offered(Track.PULL_REQUEST, fence.stage)}"
    if text:
        notes += f"\n\n**The review that could not be posted:**\n\n{text}"
    if isinstance(error, AnswerUnusable):
        notes += f"\n\n{shown(error.raw)}"
    rows = (*_where(fence), ("Category", error.category))
    data = _data(fence, error=line(str(error), REASON_CHARS), category=error.category)
    return Status(str(error), rows, data, notes)


def not_asked(fence: Fence, pull_request: PullRequest, names: Labels) -> Status:
    """The head is another commit, and that alone is no reason to pay for another review."""
    reviewing = names.of(Stage.REVIEWING)
    is_set = fence.stage is Stage.REVIEWING  # else its own label has taken the place of this one
    sentence = (
        f"The commit {pull_request.head_sha[:12]} was pushed after {fence.work_head[:12]} was handed to review. "
        f"{f'Take `{reviewing}` off and set it again' if is_set else f'Set `{reviewing}`'} to have it reviewed."
    )
    why = HEAD_MOVED if pull_request.from_own_branch else FORK_MOVED
    return Status(sentence, _where(fence), _data(fence, waiting={"why": why}))


def merged(fence: Fence) -> Status:
    """It is on the base branch."""
    return Status("Merged.", _where(fence), _data(fence))


def waiting(fence: Fence, sentence: str) -> Status:
    """A run failed and is repeated later, by whichever agent comes first then."""
    until = f"{fence.wait.until:%Y-%m-%d %H:%M} UTC" if fence.wait else "the next look"
    why = {"why": fence.wait.reason, "until": fence.wait.until.isoformat()} if fence.wait else {}
    told = f"Waiting until {until}, no attempt is spent: {one_line(sentence, 400)}"
    return Status(told, _where(fence), _data(fence, waiting=why, failures=fence.failures))


def paused(fence: Fence) -> Status:
    """A person paused it."""
    return Status("Paused by a label; goes on when it is taken off.", _where(fence), _data(fence))


def put_off(fence: Fence, reason: Hindrance, names: Labels) -> Status:
    """Why nothing is paid for now, and what leads on."""
    reviewing, changes = names.of(Stage.REVIEWING), names.of(Stage.CHANGES_REQUESTED)
    sentences = {
        Hindrance.STOPPED: f"It is not reviewed while its issue is closed, locked, paused, excluded or not at "
        f"`{reviewing}`.",
        Hindrance.EDITED: "It is not reviewed: its issue, by somebody without write access, was edited after its text "
        f"was approved. It goes on when the text is as it was; set `{changes}` here to have the new one worked on.",
        Hindrance.CHECKS_RED: "It is not reviewed while its checks are red, which were looked into for this commit. "
        f"It is reviewed when they are not; set `{changes}` to have them looked into again, and what was said here "
        "worked on.",
    }
    return Status(sentences[reason], _where(fence), _data(fence, waiting={"why": reason.name.casefold()}))


def sent_to_base(fence: Fence, base: str) -> Status:
    """It cannot be merged before its base is merged into it."""
    sentence = (
        f"{fence.work_head[:12]} cannot be merged into `{one_line(base, 100)}` as that stands now. A worker merges "
        "the base into it, and resolves what collides; then it goes on here."
    )
    return Status(sentence, _where(fence), _data(fence))


def sent_back(fence: Fence) -> Status:
    """Its checks turned red after it was handed over."""
    sentence = f"The checks of {fence.work_head[:12]} have turned red. A worker looks into them; then it goes on here."
    return Status(sentence, _where(fence), _data(fence))


def withdrawn(fence: Fence, reason: str) -> Status:
    """A person stopped it."""
    return Status(f"Stopped: {reason}.", _where(fence), _data(fence))


def rounds_used_up(rounds: int) -> str:
    """Why a person decides."""
    return f"Changes were requested in {rounds} rounds and the review still asks for some: a person decides."


def reviews_used_up(reviews: int) -> str:
    """Why a person decides."""
    return f"{reviews} commits of this pull request were taken up for a review: a person decides how to go on."


def too_large(missing: Sequence[str]) -> str:
    """Why nothing was approved."""
    named = f" ({', '.join(missing[:5])})" if missing else ""
    return f"The change is too large to be seen as a whole{named}, so the engine does not approve it: a person decides."


def _where(fence: Fence) -> tuple[tuple[str, str], ...]:
    return (
        ("Stage", fence.stage),
        ("Agent", fence.agent),
        ("Round", str(fence.round + 1)),
        ("Commit", fence.work_head[:12]),
    )


def _data(fence: Fence, **more: object) -> dict[str, object]:
    return {"stage": fence.stage, "holder": fence.agent, "round": fence.round, "head": fence.work_head, **more}
