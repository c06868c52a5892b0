"""Proposals: the schema by which a backend answers, and the strict reading of its answer (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any

from planner_agent.plan import Line, StrictModel, UnfitAnswer, validated

ANSWER_LIMIT = 20_000
"""Maximum number of characters in an answer."""


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


def schema() -> Mapping[str, Any]:
    """Return the JSON schema that a backend is given."""
    return Proposal.model_json_schema()


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
