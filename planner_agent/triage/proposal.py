"""Proposals: the schema by which a backend answers, the strict reading of its answer, and the paid call for one.

A prompt is about an issue, whose text is a stranger's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from planner_agent.plan import Line, StrictModel, UnfitAnswer, validated
from planner_agent.text_call import PROMPTS, ask, narrowed
from shared.llm.port import Coder, CoderCall, Request, RunLimits
from shared.llm.role_router import ROLE_OF_CALL
from shared.models import Issue
from shared.text import clean, one_line
from shared.text.prompts import Untrusted

ANSWER_LIMIT = 20_000
"""Maximum number of characters in an answer."""

TEXT_CHARS = 8000
OTHERS = 200
"""Titles of other open issues that a prompt shows, the newest."""

DEADLINE_SECONDS = 300.0

_UNUSABLE = "The backend's proposal cannot be used, and its correction cannot either:"


class TriageKind(StrEnum):
    """Kind of an issue."""

    BUG = "bug"
    FEATURE = "feature"
    QUESTION = "question"
    DUPLICATE = "duplicate"
    VAGUE = "vague"


class Proposal(StrictModel):
    """The kind that an issue seems to have, and the reason; which issue it repeats, or what it does not say."""

    kind: TriageKind
    reason: Line
    duplicate_of: int | None = None
    missing: Line | None = None


def read(text: str, shown: Collection[int]) -> Proposal:
    """Return the proposal in an answer; `shown` are the issues that it may name as repeated. Raises `UnfitAnswer`."""
    if len(text) > ANSWER_LIMIT:
        raise UnfitAnswer([f"it has {len(text):,} characters, {ANSWER_LIMIT:,} are allowed"])
    proposal = validated(Proposal, text)
    faults = list(_contradictions(proposal, shown))
    if faults:
        raise UnfitAnswer(faults)
    return proposal


def recorded(proposal: Proposal) -> dict[str, object]:
    """Return a proposal as a status comment gives it to programs; without a model's words."""
    duplicate = {"duplicate_of": proposal.duplicate_of} if proposal.duplicate_of is not None else {}
    return {"kind": proposal.kind, **duplicate}


def of_record(data: object) -> Proposal | None:
    """Return the proposal, without its words, that was `recorded`; None for anything else."""
    if not isinstance(data, Mapping) or data.get("kind") not in set(TriageKind):
        return None
    kind, duplicate = TriageKind(data["kind"]), data.get("duplicate_of")
    if (kind is TriageKind.DUPLICATE) != (type(duplicate) is int):
        return None
    return Proposal(kind=kind, reason="as it was posted", duplicate_of=duplicate)


def is_decided(data: object) -> bool:
    """Return whether a person has accepted or rejected what was `recorded`."""
    return isinstance(data, Mapping) and "decided" in data


def _contradictions(proposal: Proposal, shown: Collection[int]) -> Iterator[str]:
    if (proposal.kind is TriageKind.DUPLICATE) != (proposal.duplicate_of is not None):
        yield "'duplicate_of' stands with the kind 'duplicate', and with no other"
    elif proposal.duplicate_of is not None and proposal.duplicate_of not in shown:
        yield f"'duplicate_of' is {proposal.duplicate_of}, which is none of the issues in the list"
    if (proposal.kind is TriageKind.VAGUE) != (proposal.missing is not None):
        yield "'missing' stands with the kind 'vague', and with no other"


class ProposalCall:
    """Asks a backend for the kind of an issue; it gets no tree, and the text as that of somebody else."""

    def __init__(self, coder: Coder, limits: RunLimits) -> None:
        self._coder = coder
        self._limits = narrowed(limits, DEADLINE_SECONDS)

    async def proposal(self, issue: Issue, others: Sequence[Issue]) -> Proposal:
        """Return what `issue` seems to be, perhaps one of `others` again.

        Raises `AnswerHidden`, `RunFailed`, `RunEnded`.
        """
        titles = {one.number: f"#{one.number} {one_line(clean(one.title), 200)}" for one in _others(issue, others)}

        def prompt(faults: str) -> str:
            return PROMPTS.render(
                "triage",
                title=Untrusted(issue.title),
                issue=Untrusted(clean(issue.body)[:TEXT_CHARS]),
                others=Untrusted("\n".join(titles.values())),
                faults=Untrusted(faults),
            )

        request = Request(
            call=CoderCall.TRIAGE,
            item=f"#{issue.number}",
            title=issue.title,
            role=ROLE_OF_CALL[CoderCall.TRIAGE],
            prompt="",
            schema=Proposal.model_json_schema(),
            limits=self._limits,
        )
        return await ask(self._coder, request, prompt, lambda text: read(text, titles.keys()), _UNUSABLE)


def _others(issue: Issue, others: Sequence[Issue]) -> list[Issue]:
    wanted = [one for one in others if one.number != issue.number and not one.is_pull_request and one.open]
    return sorted(wanted, key=lambda one: one.number, reverse=True)[:OTHERS]
