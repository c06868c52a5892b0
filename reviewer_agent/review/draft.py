"""A finished review that is not submitted yet: which of its findings count, and what follows from it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewer_agent.review.answer import HOLDING, Checked, FindingAnswer, ReviewAnswer
from reviewer_agent.review.patch import Patch
from reviewer_agent.review.questions import Answered
from reviewer_agent.review.verdict import Judgement, PersonOnly, ReviewVerdict

_ORDER = ("critical", "major", "minor", "remark")


@dataclass(frozen=True, slots=True)
class Placed:
    """Findings by place: `inline` ones have a path and line that GitHub accepts; both start with the most severe."""

    inline: tuple[FindingAnswer, ...]
    rest: tuple[FindingAnswer, ...]


def place(findings: Sequence[FindingAnswer], patch: Patch) -> Placed:
    """Divide findings by whether their line stands in the diff."""
    ordered = sorted(findings, key=lambda finding: _ORDER.index(finding.severity))
    inline = tuple(finding for finding in ordered if patch.has(finding.path, finding.line))
    return Placed(inline, tuple(finding for finding in ordered if finding not in inline))


def divided(
    findings: Sequence[FindingAnswer], shown: Patch, since: Patch | None
) -> tuple[tuple[FindingAnswer, ...], tuple[FindingAnswer, ...]]:
    """Divide findings into those that count and those that come too late: about lines of the round before.

    A later round may only raise faults in what changed since the round before. `shown` is the whole change, `since`
    its new part; None if there was no round before, or if it is not known any more what that saw: then every finding
    counts.
    """
    if since is None:
        return tuple(findings), ()
    counting = tuple(finding for finding in findings if _is_new(finding, shown, since))
    return counting, tuple(finding for finding in findings if finding not in counting)


def _is_new(finding: FindingAnswer, shown: Patch, since: Patch) -> bool:
    """Return whether it is on a line of the new diff or, if its line is in no diff, in a file changed since."""
    if since.has(finding.path, finding.line):
        return True
    return finding.path in since.paths and not shown.has(finding.path, finding.line)


@dataclass(frozen=True, slots=True)
class Draft:
    """A coder's opinion on merging exactly the commit `sha` into the branch `onto`; rounds count from 0.

    `placed` are the findings that count, `late` those that an earlier round could have raised, `removed` the public
    names that are gone; `checked` is the second pass, None if there was none. `replies` are its answers on changes to
    old tests, `doubt` is the objection to the pull request's claim of its proof. `earlier` is the approval of the same
    change that it repeats, `text` the issue's text that it was made of.
    """

    sha: str
    round: int
    answer: ReviewAnswer
    placed: Placed
    patch: Patch
    removed: tuple[str, ...] = ()
    late: tuple[FindingAnswer, ...] = ()
    checked: Checked | None = None
    onto: str = ""
    replies: tuple[Answered, ...] = ()
    doubt: str = ""
    earlier: ReviewVerdict | None = None
    text: str = ""

    @property
    def judgement(self) -> Judgement:
        """The judgement by the findings that count, not by the coder's word alone; a cut change is never approved."""
        if self.checked is not None and self.checked.unmet:
            return Judgement.CHANGES_REQUESTED
        counting = self.answer.unmet or self.answer.unresolved or self.placed.inline or self.placed.rest or self.unasked
        if self.answer.verdict == "changes_requested" and counting:
            return Judgement.CHANGES_REQUESTED
        return Judgement.INCOMPLETE if self.patch.missing else Judgement.APPROVED

    @property
    def unasked(self) -> tuple[Answered, ...]:
        """Changes to old tests for which it names no criterion."""
        return tuple(reply for reply in self.replies if not reply.criterion)

    @property
    def rest(self) -> tuple[FindingAnswer, ...]:
        """Findings that no line carries; unasked changes of tests are among them if changes are requested anyway."""
        asks = self.judgement is Judgement.CHANGES_REQUESTED
        return (*self.placed.rest, *(one.finding for one in self.unasked if asks))

    @property
    def blockers(self) -> tuple[str, ...]:
        """Sentences that a person has to know who merges it all the same."""
        known = self.earlier.blockers if self.earlier is not None else ()
        found = (*filter(None, [self.doubt]), *(one.question.unasked for one in self.unasked))
        return known or found

    @property
    def disputed(self) -> bool:
        """True if it objects to lines that an earlier round had let pass: too late to ask, not too late to tell."""
        serious = any(finding.severity in HOLDING for finding in self.late)
        return serious or (self.answer.verdict == "changes_requested" and bool(self.late))

    @property
    def care(self) -> PersonOnly:
        """Reason why only a person may merge it."""
        if self.answer.breaking_change.breaks or self.removed:
            return PersonOnly.BREAKING
        if self.patch.sensitive:
            return PersonOnly.PROTECTED
        if self.doubt:
            return PersonOnly.UNSIGNED
        if self.unasked:
            return PersonOnly.UNASKED
        if self.earlier is not None:
            return self.earlier.care
        return PersonOnly.DISPUTED if self.disputed else PersonOnly.NONE
