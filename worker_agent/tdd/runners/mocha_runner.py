"""mocha: its command, with a short reporter, because its own leave out the blocks of a test.

A file that cannot be loaded ends the whole run before there is a report: each file that it would have run is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from worker_agent.tdd.runners import json_report
from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.javascript import NO_ARGUMENTS, SCRIPT, JavaScriptRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

_REPORTER = (
    f"""\
'use strict';
{NO_ARGUMENTS}"""
    + """\
const write = require('fs').writeFileSync, json = JSON.stringify, cases = [];
module.exports = class {
  constructor(runner, options) {
    const given = options.reporterOptions || options.reporterOption;
    const tell = (test, outcome, error) => cases.push({
      file: String(test.file || (test.parent && test.parent.file) || ''),
      scope: test.parent ? test.parent.titlePath() : [], name: String(test.title), outcome,
      error: String((error && error.name) || ''), message: String((error && error.message) || ''),
      text: String((error && (error.stack || error.message)) || ''),
    });
    runner.on('pass', (test) => tell(test, 'passed'));
    runner.on('pending', (test) => tell(test, 'skipped'));
    runner.on('fail', (test, error) => tell(test, test.type === 'hook' ? 'error' : 'failed', error));
    runner.once('end', () => write(given.output, json({ cases, ended: true })));
  }
};
"""
)
_LOST = re.compile(r"Exception during run: |^(?:\S*Error|Error \[ERR_\w+\]): |^\s*at \S*requireOrImport", re.MULTILINE)
_NOTHING = "No test files found"
_EXIT_CODE_LIMIT = 255


class MochaRunner(JavaScriptRunner):
    """The runner of any command in which mocha is called by its name."""

    name = "mocha"
    default_command = "npx --no mocha"
    options = ("--no-color", "--no-bail")
    style = Style(body="throw")

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is named like a test, or is a script in a directory of tests."""
        file = PurePosixPath(path)
        below = not {"test", "tests", "spec"}.isdisjoint(file.parts[:-1])
        return super().is_test_file(path) or (below and bool(SCRIPT.fullmatch(file.suffix)))

    def reporting(self, call: Invocation) -> tuple[str, ...]:
        """Return the arguments for the reporter, and for its report's place."""
        reporter = json_report.write_reporter(call, "reporter.cjs", _REPORTER)
        return ("--reporter", str(reporter), "--reporter-option", f"output={call.report}")

    def chosen(self, selection: Selection, project: Project) -> tuple[str, ...]:
        """Return arguments that ignore the other files: mocha would add named ones to those of its configuration."""
        others = selection.others(project.paths, lambda file: bool(SCRIPT.fullmatch(file.suffix)))
        names = (path if SCRIPT.fullmatch(PurePosixPath(path).suffix) else f"{path}/**" for path in sorted(others))
        return tuple(f"--ignore={name}" for name in names)

    def parse(self, data: bytes, project: Project) -> Report:
        return json_report.read_engine(data, project, json_report.BETWEEN)

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return all files if one of them could not be loaded; none if there is no test file."""
        if reported or code != 1:
            return None
        if _NOTHING in output_tail:
            return Report()
        begun = _LOST.search(output_tail)
        if begun is None:
            return None
        text = output_tail[begun.start() :].removeprefix("Exception during run: ")
        error = Case("", "", "", CaseOutcome.ERROR, text[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:])
        return self.lose_files(call, error, lambda path: bool(SCRIPT.fullmatch(PurePosixPath(path).suffix)))

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether the exit code is the number of failures, or 1."""
        failed = sum(case.failed for case in cases)
        if not cases:
            return code == 1 and _NOTHING in output_tail
        return code == 0 if not failed else code in {1, min(failed, _EXIT_CODE_LIMIT)}
