"""On a machine that must have everything (`ENGINE_REQUIRE` is set) a skipped test is a failed test."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

VARIABLE = "ENGINE_REQUIRE"
"""Set, to anything, by `.ci/run`."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail instead of skipping; an expected failure stays one."""
    report = yield
    if not hasattr(report, "wasxfail"):
        _refuse(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail instead of skipping, for a whole module that would skip itself."""
    report = yield
    _refuse(report)
    return report


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and os.environ.get(VARIABLE):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{VARIABLE} is set, but this was skipped: {reason}"
