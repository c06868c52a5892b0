"""Every sentence the reviewer posts: pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer_agent.answer import Answer, FindingAnswer
from reviewer_agent.decide import Hindrance
from reviewer_agent.draft import Draft
from reviewer_agent.links import issue_of
from reviewer_agent.opinion import Care, Judgement
from shared.errors import Blocked
from shared.github.status import Status
from shared.governance.repair import AnswerUnusable, shown
from shared.lock.codec import Fence
from shared.markdown import open_fence
from shared.models import Finding, PullRequest
from shared.text import neutralise, one_line, redact
from shared.workflow import Labels, Stage

TITLE_LIMIT = 240

SUMMARY_CHARS = 3000
REASON_CHARS = 400
SUGGESTION_CHARS = 300
NOTE_CHARS = 150
"""Limits of a model's texts: 50 findings and 50 criteria fit into one body."""

BODY_CHARS = 62_000
"""GitHub refuses 65,536; making text harmless lengthens it a little."""

_HEADLINES = {
    Judgement.APPROVED: "**Approved**",
    Judgement.CHANGES_REQUESTED: "**Changes requested**",
    Judgement.INCOMPLETE: "**Not approved: only a part of the change was seen**",
}


def merge_title(pull_request: PullRequest) -> str:
    """The subject of the commit on the base branch; a stranger's title closes and mentions nobody with it."""
    suffix = f" (#{pull_request.number})"
    return neutralise(one_line(pull_request.title, TITLE_LIMIT - len(suffix))) + suffix


def review_body(draft: Draft) -> str:
    """The review without its mark: verdict, summary, criteria, and the findings that no line carries."""
    answer = draft.answer
    parts = [
        f"{_HEADLINES[draft.judgement]} at {draft.sha[:12]} (round {draft.round + 1}).",
        _inert(answer.summary, SUMMARY_CHARS),
        "\n".join(["### Acceptance criteria", "", *_criteria(answer)]) if answer.criteria else "",
        "\n".join(["### Findings outside the shown lines", "", *map(_listed, draft.placed.rest)])
        if draft.placed.rest
        else "",
        *_cautions(draft),
    ]
    return _closed(_cut("\n\n".join(part for part in parts if part), BODY_CHARS))


def inline(draft: Draft) -> tuple[Finding, ...]:
    """The findings that stand on lines of the diff."""
    return tuple(Finding(f.path, f.line, finding_body(f)) for f in draft.placed.inline if f.line is not None)


def finding_body(finding: FindingAnswer) -> str:
    """One finding as an inline comment."""
    body = f"**{finding.severity}:** {_inert(finding.why, REASON_CHARS)}"
    suggestion = _inert(finding.suggestion, SUGGESTION_CHARS)
    return f"{body}\n\n**Suggestion:** {suggestion}" if suggestion else body


def _criteria(answer: Answer) -> list[str]:
    return [
        f"- **{_word(c.id)}** {'met' if c.met else '**not met**'}: {_line(c.note, NOTE_CHARS)}" for c in answer.criteria
    ]


def _listed(finding: FindingAnswer) -> str:
    where = _word(finding.path) + (f":{finding.line}" if finding.line else "")
    suggestion = f" Suggestion: {_line(finding.suggestion, SUGGESTION_CHARS)}" if finding.suggestion.strip() else ""
    return f"- **{finding.severity}** `{where}`: {_line(finding.why, REASON_CHARS)}{suggestion}"


def _cautions(draft: Draft) -> list[str]:
    cautions = []
    if draft.answer.breaking_change.breaks:
        why = _line(draft.answer.breaking_change.why, REASON_CHARS)
        cautions.append(f"**Breaking change:** {why} Only a person merges this.")
    if draft.care is Care.PROTECTED:
        named = ", ".join(f"`{_word(path)}`" for path in draft.patch.sensitive[:10])
        cautions.append(f"**Protected files or dependencies:** {named}. Only a person merges this.")
    if draft.patch.missing:
        named = ", ".join(f"`{_word(path)}`" for path in draft.patch.missing[:10])
        count = len(draft.patch.missing)
        cautions.append(f"**Not seen:** the change is too large; {count} files were left out, for example {named}.")
    return cautions


def approved(fence: Fence, hindrance: Hindrance, names: Labels) -> Status:
    """What an approved pull request waits for."""
    then = _NEXT[hindrance].format(reviewing=names.of(Stage.REVIEWING))
    waiting = {"why": hindrance.name.casefold()}
    return Status(f"Approved at {fence.work_head[:12]}. {then}", _where(fence), _data(fence, waiting=waiting))


_NEXT = {
    Hindrance.NEVER: "Merging is up to a person.",
    Hindrance.FLAGGED: "It is not merged by the engine while a flag says that a person decides.",
    Hindrance.UNSEEN: "It is not merged: the engine's approval is not on GitHub. Set `{reviewing}` for another review.",
    Hindrance.REQUESTED: "It is not merged while a request for changes stands: its author approves, or dismisses it.",
    Hindrance.FORK: "Its branch is in another repository: comment `/merge`, or merge it yourself.",
    Hindrance.NOT_ORDERED: "Comment `/merge` to have this commit merged as soon as its checks are green.",
    Hindrance.BREAKING: "It breaks callers: comment `/merge`, or merge it yourself.",
    Hindrance.PROTECTED: "It touches protected files or dependencies: comment `/merge`, or merge it yourself.",
    Hindrance.CHECKS_RED: "It is not merged: its checks are red. It is merged when they turn green.",
    Hindrance.CHECKS_MISSING: "It is not merged: this commit has no checks, and none is not green.",
    Hindrance.CHECKS_RUNNING: "Its checks have not finished; it is merged when they are green.",
    Hindrance.BASE_RED: "It is not merged while the checks of the base branch are red.",
    Hindrance.STOPPED: "It is not merged while its issue is closed, locked, paused, excluded or not at `{reviewing}`.",
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
    if text:
        notes += f"\n\n**The review that could not be posted:**\n\n{text}"
    if isinstance(error, AnswerUnusable):
        notes += f"\n\n{shown(error.raw)}"
    rows = (*_where(fence), ("Category", error.category))
    data = _data(fence, error=_line(str(error), REASON_CHARS), category=error.category)
    return Status(str(error), rows, data, notes)


def not_asked(fence: Fence, pull_request: PullRequest, names: Labels) -> Status:
    """The head is another commit, and that alone is no reason to pay for another review."""
    sentence = (
        f"The commit {pull_request.head_sha[:12]} was pushed after the review had begun. "
        f"Set `{names.of(Stage.REVIEWING)}` to have it reviewed."
    )
    return Status(sentence, _where(fence), _data(fence, waiting={"why": "head_moved"}))


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


def stopped(fence: Fence, names: Labels) -> Status:
    """A person stopped the issue that it is about."""
    reviewing = names.of(Stage.REVIEWING)
    sentence = f"It is not reviewed while its issue is closed, locked, paused, excluded or not at `{reviewing}`."
    return Status(sentence, _where(fence), _data(fence, waiting={"why": "stopped"}))


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


def _inert(text: str, limit: int) -> str:
    """A model's text as a block: no secret, not ours, not active, and its code fences closed."""
    return _closed(neutralise(_cut(redact(text, ()).strip(), limit)))


def _closed(text: str) -> str:
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def _line(text: str, limit: int) -> str:
    return neutralise(one_line(redact(text, ()), limit))


def _word(text: str) -> str:
    """A name that stays inside its code span."""
    return neutralise(one_line(text, NOTE_CHARS)).replace("`", "'")
