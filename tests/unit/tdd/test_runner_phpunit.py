"""PHPUnit's report: what counts as a failure and what as a test that has not passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import CaseOutcome

REPORT = """<testsuites><testsuite name="PageTest" file="{root}/tests/PageTest.php" tests="1">
<testcase name="testPage" class="PageTest" classname="PageTest" file="{root}/tests/PageTest.php" line="3">
{what}</testcase></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("", CaseOutcome.PASSED),
        ('<failure type="PHPUnit\\Framework\\ExpectationFailedException">no</failure>', CaseOutcome.FAILED),
        ('<error type="PHPUnit\\Framework\\Error\\Warning">Undefined array key "a"</error>', CaseOutcome.ERROR),
        ('<error type="PHPUnit\\Framework\\Error\\Notice">Undefined offset: 0</error>', CaseOutcome.ERROR),
        ('<error type="PHPUnit\\Framework\\RiskyTestError">no assertions</error>', CaseOutcome.SKIPPED),
        ('<error type="PHPUnit\\Framework\\Warning">No tests found</error>', CaseOutcome.SKIPPED),
    ],
)
def test_what_a_case_says(tmp_path: Path, what: str, outcome: CaseOutcome) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "PageTest.php").write_text("<?php")
    project = Project.of(tmp_path, {"tests/PageTest.php": ""})
    report = PhpunitRunner().read(REPORT.format(root=tmp_path, what=what).encode(), project)
    assert [case.outcome for case in report.cases] == [outcome]
