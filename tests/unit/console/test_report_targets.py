"""Targets of a report: met, missed, or unknown, at and beside their bounds."""

from __future__ import annotations

import pytest

from console.report.figures import COST, REWORK, RUNS, TRIES, ZERO_TOUCH, Target


@pytest.mark.parametrize(
    ("target", "value", "met"),
    [
        *((ZERO_TOUCH, value, met) for value, met in ((0.7, True), (0.69, False), (None, None))),
        *((TRIES, value, met) for value, met in ((1.5, True), (1.51, False), (None, None))),
        *((REWORK, value, met) for value, met in ((0.1, True), (0.2, False))),
        *((COST, value, met) for value, met in ((5.0, True), (5.01, False))),
        *((RUNS, value, met) for value, met in ((0.9, True), (0.5, False))),
    ],
)
def test_a_target_is_met_missed_or_unknown(target: Target, value: float | None, met: bool | None) -> None:
    assert target.met(value) is met
    said = target.formatted(value)
    assert target.spelled in said
    assert ("met" in said, "missed" in said) == (met is True, met is False)
