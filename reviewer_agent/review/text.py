"""The text of a review: verdict, criteria, findings, and why only a person merges it (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewer_agent.review.answer import CriterionAnswer, EarlierAnswer, FindingAnswer, ReviewAnswer
from reviewer_agent.review.draft import Draft
from reviewer_agent.review.questions import Answered
from reviewer_agent.review.verdict import Judgement, PersonOnly
from shared.models import Finding
from shared.text import neutralise, one_line, redact
from shared.text.markdown import open_fence

SUMMARY_CHARS = 3000
REASON_CHARS = 400
SUGGESTION_CHARS = 300
NOTE_CHARS = 150
"""Limits of a model's texts: 50 findings and 50 criteria fit into one body."""

SHA = 7
"""Characters of a commit, as GitHub shows and links it."""

BODY_CHARS = 62_000
"""GitHub refuses 65,536; making text harmless lengthens it a little."""

_HEADLINES = {
    Judgement.APPROVED: "**Approved**",
    Judgement.CHANGES_REQUESTED: "**Changes requested**",
    Judgement.INCOMPLETE: "**Not approved: the change is too large to review completely**",
}


def review_body(draft: Draft) -> str:
    """Return the review without its mark: verdict, summary, criteria, and the findings that no line carries."""
    answer = draft.answer
    parts = [
        f"{_HEADLINES[draft.judgement]} at {draft.sha[:SHA]} (round {draft.round + 1}).",
        _harmless_block(answer.summary, SUMMARY_CHARS),
        _section("Acceptance criteria", _criteria(answer)),
        _section("Criteria checked again", _second_pass(draft)),
        _section("Earlier findings", [*map(_earlier_line, answer.earlier)]),
        _section("Changes to existing tests", [*map(_reply_line, draft.replies)]),
        _section("Other findings", [*map(_finding_line, draft.rest)]),
        *_cautions(draft),
    ]
    return _close_fence(_cut("\n\n".join(part for part in parts if part), BODY_CHARS))


def inline(draft: Draft) -> tuple[Finding, ...]:
    """Return the findings that stand on lines of the diff."""
    return tuple(Finding(f.path, f.line, finding_body(f)) for f in draft.placed.inline if f.line is not None)


def finding_body(finding: FindingAnswer) -> str:
    """Return one finding as an inline comment."""
    body = f"**{finding.severity}:** {_harmless_block(finding.why, REASON_CHARS)}"
    suggestion = _harmless_block(finding.suggestion, SUGGESTION_CHARS)
    return f"{body}\n\n**Suggestion:** {suggestion}" if suggestion else body


def _criteria(answer: ReviewAnswer) -> list[str]:
    return [
        f"- **{_word(c.id)}** {'met' if c.met else '**not met**'}: {line(c.note, NOTE_CHARS)}" for c in answer.criteria
    ]


def _finding_line(finding: FindingAnswer) -> str:
    where = _word(finding.path) + (f":{finding.line}" if finding.line else "")
    suggestion = f" Suggestion: {line(finding.suggestion, SUGGESTION_CHARS)}" if finding.suggestion.strip() else ""
    return f"- **{finding.severity}** `{where}`: {line(finding.why, REASON_CHARS)}{suggestion}"


def _section(title: str, bullets: Sequence[str]) -> str:
    return "\n".join([f"### {title}", "", *bullets]) if bullets else ""


def _earlier_line(earlier: EarlierAnswer) -> str:
    outcome = "Resolved" if earlier.resolved else "**Not resolved**"
    return f"- {outcome} ({_word(earlier.id)}): {line(earlier.note, NOTE_CHARS)}"


def _reply_line(reply: Answered) -> str:
    """Return the line about one answer; a change that no criterion asks for is listed even in an approval."""
    asks = f"asked for by **{_word(reply.criterion)}**" if reply.criterion else "**no criterion asks for it**"
    why = f": {line(reply.why, NOTE_CHARS)}" if reply.why.strip() else ""
    return f"- {reply.question.kind} {reply.question.name}: {asks}{why}"


def _second_pass(draft: Draft) -> list[str]:
    if draft.checked is None:
        return []
    return [*map(_unmet_line, draft.checked.unmet)] or ["Every criterion was checked again against the test evidence."]


def _unmet_line(criterion: CriterionAnswer) -> str:
    return f"- **{_word(criterion.id)}** **not met**: {line(criterion.note, REASON_CHARS)}"


def _cautions(draft: Draft) -> Iterator[str]:
    if draft.answer.breaking_change.breaks:
        why = line(draft.answer.breaking_change.why, REASON_CHARS)
        yield f"**Breaking change:** {why} A maintainer has to merge this."
    if draft.removed:
        yield f"**Removed public names:** {_listing(draft.removed)}. A maintainer has to merge this."
    if draft.patch.sensitive:
        yield f"**Protected files or dependencies:** {_listing(draft.patch.sensitive)}. A maintainer has to merge this."
    if draft.blockers and draft.judgement is Judgement.APPROVED:
        told = "; ".join(draft.blockers[:10])
        yield f"**Please check before merging:** {told}. A maintainer has to merge this."
    if draft.patch.missing:
        count = len(draft.patch.missing)
        named = _listing(draft.patch.missing)
        files = "1 file was" if count == 1 else f"{count} files were"
        yield f"**Not seen:** the change is too large; {files} left out, for example {named}."
    if draft.late:
        yield from _late_findings(draft)


def _late_findings(draft: Draft) -> Iterator[str]:
    """Yield the late findings; only who may merge is told what they are: a worker has nothing to do with them."""
    count = len(draft.late)
    said = f"**Not counted:** {count} finding{'' if count == 1 else 's'} about lines that an earlier round let pass"
    if draft.judgement is Judgement.CHANGES_REQUESTED or draft.care is not PersonOnly.DISPUTED:
        yield f"{said}."
    else:
        yield f"{said}. A maintainer has to merge this:"
        yield "\n".join(f"> {_finding_line(finding)[2:]}" for finding in draft.late[:10])


def _listing(names: Sequence[str]) -> str:
    return ", ".join(f"`{_word(name)}`" for name in names[:10])


def _harmless_block(text: str, limit: int) -> str:
    """Return a model's text as a block: no secret, not ours, not active, and its code fences closed."""
    return _close_fence(neutralise(_cut(redact(text, ()).strip(), limit)))


def _close_fence(text: str) -> str:
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def line(text: str, limit: int) -> str:
    """Return a model's text on one line: no secret, not ours, not active."""
    return neutralise(one_line(redact(text, ()), limit))


def _word(text: str) -> str:
    """Return a name that stays inside its code span, without a secret that the cut would hide from the gate."""
    return neutralise(one_line(redact(text, ()), NOTE_CHARS)).replace("`", "'")
