"""What a repair is told of failed checks, whatever of it GitHub still keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import pytest

from shared.errors import Gone, Transient
from shared.models import Check, CheckOutcome
from worker_agent.ci.logs import told

T = TypeVar("T")


@dataclass
class FakeChecks:
    """Logs and annotations of one job; None: GitHub says that they are gone."""

    kept_log: str | None = None
    remarks: tuple[str, ...] | None = None
    fails: bool = False

    async def of(self, sha: str) -> tuple[Check, ...]:
        raise AssertionError("nobody asks")

    async def log(self, job_id: int) -> str:
        if self.fails:
            raise Transient
        return _kept(self.kept_log)

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        return _kept(self.remarks)


def _kept(value: T | None) -> T:
    if value is None:
        raise Gone
    return value


JOB = Check("test", CheckOutcome.FAILED, "failure: 2 tests failed", job_id=7)
STATUS = Check("lint", CheckOutcome.FAILED, "E501 in a.py")


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("checks", "wanted"),
    [
        (FakeChecks("a log", ("a.py:1: failure: no",)), "a log"),
        (FakeChecks(None, ("a.py:1: failure: no",)), "failure: 2 tests failed\na.py:1: failure: no"),
        (FakeChecks(None, ()), "failure: 2 tests failed"),
        (FakeChecks(None, None), "failure: 2 tests failed"),
    ],
)
async def test_the_best_evidence_that_is_left_is_used(checks: FakeChecks, wanted: str) -> None:
    said = await told(checks, [JOB, STATUS], 1000)
    assert said == f"### test\n{wanted}\n\n### lint\nE501 in a.py"


async def test_a_log_that_cannot_be_read_just_now_is_waited_for() -> None:
    with pytest.raises(Transient):
        await told(FakeChecks(fails=True, remarks=()), [JOB], 1000)


async def test_each_check_has_its_share_of_the_room() -> None:
    said = await told(FakeChecks("x" * 5000 + "the end"), [JOB, STATUS], 400)
    assert len(said) < 600
    assert "the end" in said
    assert "E501" in said
