"""One case of the crash matrix for every test run; the whole of it is `make test-crash`."""

from __future__ import annotations

from pathlib import Path

import pytest
from crash_acts import ACTS
from crash_case import Case, Heir, suffer, tell
from crash_gate import Blow


@pytest.mark.fault(37)
async def test_a_planner_killed_when_its_issue_exists(tmp_path: Path) -> None:
    """The planner died after the creation and before the reply, lists are late: another planner makes no second one."""
    (act, *_) = ACTS
    told = (await tell(tmp_path / "told", [act]))[act.name]
    created = next(one.point for one in told.asked if one.method == "POST" and one.path.endswith("/issues"))
    assert await suffer(Case(act, Blow.KILLED_AFTER, Heir.OTHER, created), told, tmp_path / "life", late=0.5)
