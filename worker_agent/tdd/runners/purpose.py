"""Why tests are run, for whoever watches: a proof runs them far more often than a person would."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PurposeKind(StrEnum):
    """What a run is for; an ordinary one has none. docs/observability.md lists the words."""

    ORDINARY = ""
    DAMAGE = "damage"
    """The code was changed to see whether the tests notice: failing tests are good there."""
    EXPECTATIONS = "expectations"
    """What the tests expect was changed: they have to fail."""
    TAKEN_BACK = "taken back"
    """Files of the change are as they were on the base, or parts of them are gone."""
    OLD_TESTS = "old tests"
    """The base's tests on the code of the change."""
    ELSEWHERE = "elsewhere"
    """In another directory and order, at another time."""
    AGAIN = "again"
    """What has failed, once more, to tell chance from fault."""


@dataclass(frozen=True, slots=True)
class RunPurpose:
    """What one run is for: the `number`-th of at most `of` such runs, 0 where nobody knows how many there are."""

    kind: PurposeKind = PurposeKind.ORDINARY
    number: int = 0
    of: int = 0


ORDINARY = RunPurpose()
