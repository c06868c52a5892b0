"""The purpose of a test run, shown to observers: a proof runs tests far more often than a person would."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PurposeKind(StrEnum):
    """The purpose of a run; an ordinary one has none. docs/observability.md lists the words."""

    ORDINARY = ""
    DAMAGE = "damage"
    """The code was changed to see whether the tests notice: failing tests are the wanted result."""
    EXPECTATIONS = "expectations"
    """The expectations of the tests were changed: they have to fail."""
    TAKEN_BACK = "taken back"
    """Files of the change have their base version, or parts of them are removed."""
    OLD_TESTS = "old tests"
    """The base's tests on the code of the change."""
    ELSEWHERE = "elsewhere"
    """A run in another directory and order, at another time."""
    AGAIN = "again"
    """Failed tests run once more, to tell chance from fault."""


@dataclass(frozen=True, slots=True)
class RunPurpose:
    """The purpose of one run: the `number`-th of at most `of` such runs, 0 if their number is unknown."""

    kind: PurposeKind = PurposeKind.ORDINARY
    number: int = 0
    of: int = 0


ORDINARY = RunPurpose()
