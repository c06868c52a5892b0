"""PHPUnit's report: what counts as a failure and what as a test that has not passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker_agent.tdd.runners.phpunit_runner import PhpunitRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import Outcome

REPORT = """<testsuites><testsuite name="PageTest" file="{root}/tests/PageTest.php" tests="1">
<testcase name="testPage" class="PageTest" classname="PageTest" file="{root}/tests/PageTest.php" line="3">
{what}</testcase></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("what", "outcome"),
    [
        ("", Outcome.PASSED),
        ('<failure type="PHPUnit\\Framework\\ExpectationFailedException">no</failure>', Outcome.FAILED),
        ('<error type="PHPUnit\\Framework\\Error\\Warning">Undefined array key "a"</error>', Outcome.ERROR),
        ('<error type="PHPUnit\\Framework\\Error\\Notice">Undefined offset: 0</error>', Outcome.ERROR),
        ('<error type="PHPUnit\\Framework\\RiskyTestError">no assertions</error>', Outcome.SKIPPED),
        ('<error type="PHPUnit\\Framework\\Warning">No tests found</error>', Outcome.SKIPPED),
    ],
)
def test_what_a_case_says(tmp_path: Path, what: str, outcome: Outcome) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "PageTest.php").write_text("<?php")
    project = Project.of(tmp_path, {"tests/PageTest.php": ""})
    report = PhpunitRunner().read(REPORT.format(root=tmp_path, what=what).encode(), project)
    assert [case.outcome for case in report.cases] == [outcome]
