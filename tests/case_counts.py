"""One line at the end of a test run that counts cases: what tests gave to `record_property` as numbers, added up."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sums, if any test counted something."""
    counts: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            counted = [one for one in getattr(report, "user_properties", ()) if isinstance(one[1], int)]
            counts.update(dict(counted))
    if counts:
        terminalreporter.write_line(f"cases: {', '.join(f'{count} {name}' for name, count in counts.items())}")
