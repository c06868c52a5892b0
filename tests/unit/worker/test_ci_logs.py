"""The logs of failed checks for a repair, from whatever GitHub still keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from fakes.unasked import UnaskedChecks

from shared.ci.logs import brief, failures, outputs
from shared.errors import Gone, Transient
from shared.models import Check, CheckOutcome

T = TypeVar("T")


@dataclass
class FakeChecks(UnaskedChecks):
    """Logs and annotations of one job; None: GitHub says that they are gone."""

    kept_log: str | None = None
    remarks: tuple[str, ...] | None = None
    fails: bool = False
    asked: list[int] = field(default_factory=list)

    async def of(self, sha: str) -> tuple[Check, ...]:
        raise AssertionError("nobody asks")

    async def log(self, job_id: int) -> str:
        if self.fails:
            raise Transient
        return _kept(self.kept_log)

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        self.asked.append(check_run_id)
        return _kept(self.remarks)


def _kept(value: T | None) -> T:
    if value is None:
        raise Gone
    return value


JOB = Check("test", CheckOutcome.FAILED, "failure: 2 tests failed", job_id=7, check_run_id=7)
REPORTED = Check("scan", CheckOutcome.FAILED, "failure: 1 problem", check_run_id=9)
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
    said = outputs(await failures(checks, [JOB, STATUS], 1000))
    assert said == f"### test\n{wanted}\n\n### lint\nE501 in a.py"


async def test_a_log_that_cannot_be_read_just_now_is_waited_for() -> None:
    with pytest.raises(Transient):
        await failures(FakeChecks(fails=True, remarks=()), [JOB], 1000)


async def test_each_check_has_its_share_of_the_room() -> None:
    said = outputs(await failures(FakeChecks("x" * 5000 + "the end"), [JOB, STATUS], 400))
    assert len(said) < 600
    assert "the end" in said
    assert "E501" in said


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("remarks", "wanted"),
    [
        (("a.py:3: failure: injected", "b.py:7: warning: slow"), "\na.py:3: failure: injected\nb.py:7: warning: slow"),
        (None, ""),
    ],
)
async def test_a_check_without_a_job_is_told_with_its_annotations(remarks: tuple[str, ...] | None, wanted: str) -> None:
    checks = FakeChecks("never read", remarks)
    (found,) = await failures(checks, [REPORTED], 1000)
    assert found.output.rstrip("\n") == "failure: 1 problem" + wanted
    assert checks.asked == [9]


async def test_a_commit_status_has_no_annotations() -> None:
    checks = FakeChecks(remarks=("not its own",))
    assert [found.output.rstrip("\n") for found in await failures(checks, [STATUS], 1000)] == ["E501 in a.py"]
    assert checks.asked == []


async def test_many_annotations_stay_within_the_room() -> None:
    checks = FakeChecks(remarks=tuple(f"a.py:{line}: failure: no" for line in range(5000)))
    (found,) = await failures(checks, [REPORTED], 400)
    assert len(found.output) < 500


async def test_in_brief_each_check_says_how_it_ended() -> None:
    found = await failures(FakeChecks("one\n\ntwo\nthree\nfour\n"), [JOB, STATUS], 1000)
    assert brief(found) == "test: two three four\nlint: E501 in a.py"
    (long,) = await failures(FakeChecks("x" * 900 + "the end"), [JOB], 1000)
    assert len(brief([long])) < 120
    assert brief([long]).endswith("the end")
