"""The ways in which a plan is approved (pure)."""

from __future__ import annotations

from enum import StrEnum


class Approval(StrEnum):
    """Way in which a plan is approved; the first three are the values of the key `approval`.

    GIVEN: a person at a terminal has approved it before it was posted.
    """

    AUTO = "auto"
    COMMENT = "comment"
    TERMINAL = "terminal"
    GIVEN = "given"
