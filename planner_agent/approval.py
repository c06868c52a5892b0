"""Where a plan is approved (pure)."""

from __future__ import annotations

from enum import StrEnum


class Approval(StrEnum):
    """How a plan's approval comes about; the first three are the words of the key `approval`.

    GIVEN: a person at a terminal has approved it before it was posted.
    """

    AUTO = "auto"
    COMMENT = "comment"
    TERMINAL = "terminal"
    GIVEN = "given"
