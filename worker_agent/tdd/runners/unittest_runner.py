"""`python -m unittest`: called through a short reporter, because it has none that a program can read.

Also the kinds of the errors of Python tests, by the one line that names them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from worker_agent.tdd.runners import control_python, json_report
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report

_REPORTER = """\
import json, os, sys, traceback, unittest

REPORT, WANTED = sys.argv[1], json.loads(sys.argv[2])
del sys.argv[1:3]
sys.argv[0] = "python -m unittest"
sys.path[0] = os.getcwd()
dumps, open_report = json.dumps, open


def file_of(test):
    failed = getattr(test, "_exception", None) is not None
    if failed or type(test).__module__ == "unittest.suite":
        return ""
    found = getattr(sys.modules.get(type(test).__module__), "__file__", None) or ""
    return os.path.abspath(found) if found else ""


def wanted(test):
    file, name = file_of(test), getattr(test, "_testMethodName", None)
    if file:
        chosen = os.path.relpath(file, os.getcwd()) in WANTED["files"]
        return chosen and (not WANTED["names"] or name is None or name in WANTED["names"])
    named = test.id().rpartition(".")[2] if hasattr(test, "_exception") else ""
    return any(path[:-3].replace("/", ".").endswith(name or named) for path in WANTED["files"])


def each(suite):
    for test in suite:
        if hasattr(test, "__iter__"):
            yield from each(test)
        else:
            yield test


class Result(unittest.TextTestResult):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.cases = []

    def tell(self, test, outcome, error=None):
        name = getattr(test, "_testMethodName", None) or test.id()
        kind = "" if error is None else error[0].__name__
        text = "" if error is None else "".join(traceback.format_exception(*error))
        message = "" if error is None else "".join(traceback.format_exception_only(*error[:2]))
        loaded = type(test).__module__ != "unittest.loader"
        scope = type(test).__qualname__.split(".") if loaded else ["unittest.loader"]
        self.cases.append(dict(file=file_of(test), scope=scope, name=name, outcome=outcome, error=kind,
                               message=message, text=text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.tell(test, "passed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.tell(test, "failed", error)

    def addError(self, test, error):
        super().addError(test, error)
        self.tell(test, "error", error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.tell(test, "skipped")

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.tell(test, "skipped")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.tell(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.tell(test, "failed" if issubclass(error[0], test.failureException) else "error", error)

    def stopTestRun(self):
        super().stopTestRun()
        with open_report(REPORT, "w") as report:
            report.write(dumps({"cases": self.cases, "ended": True}))


class Runner(unittest.TextTestRunner):
    resultclass = Result

    def run(self, test):
        self.failfast = False
        chosen = test if WANTED is None else unittest.TestSuite(one for one in each(test) if wanted(one))
        return super().run(chosen)


unittest.main(module=None, testRunner=Runner)
"""
_LOADER = "unittest.loader"
_TEST_FILE = re.compile(r"test.*\.py|.*_tests?\.py")
_NO_TESTS = 5
"""The exit code of a run without tests, from Python 3.12 on."""


class UnittestRunner(Runner):
    """The runner of any command with `-m unittest`; an id is like `tests/test_a.py::TestClass::test_name`.

    It is never detected: pytest runs such tests too, and nothing tells that a project does without it.
    """

    name = "unittest"
    action = "call python -m unittest"

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `-m` in `python -m unittest`, also behind `uv run` and `coverage run`."""
        return next((at for at in range(len(argv) - 1) if argv[at] == "-m" and argv[at + 1] == "unittest"), None)

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `test*.py` or `*_test.py`."""
        return bool(_TEST_FILE.fullmatch(PurePosixPath(path).name))

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command with our reporter in place of `-m unittest`, and the same arguments."""
        argv, at = self.split(test_command)
        reporter = json_report.write_reporter(call, "unittest_reporter.py", _REPORTER)
        wanted = _wanted_tests(call.selection) if call.selection else None
        return (*argv[:at], str(reporter), str(call.report), json.dumps(wanted), *argv[at + 2 :])

    def parse(self, data: bytes, project: Project) -> Report:
        """Read the reporter's output; a module that could not be loaded is reported as its file."""
        report = json_report.read_engine(data, project, "::")
        return replace(report, cases=tuple(_with_file(case, project.paths) for case in report.cases))

    def error_line(self, case: Case) -> str:
        """Return the line that names the error: for a module that could not be loaded the traceback's last one."""
        lines = [line.strip() for line in (case.message or case.text).splitlines() if line.strip()]
        if case.name != case.file:
            return lines[0] if lines else ""
        return next((line for line in reversed(lines) if re.match(r"[A-Za-z_.]+(?:Error|Exception)\b", line)), "")

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind of failure, by the same rules as for pytest."""
        error = self.error_line(case)
        missing = missing_import(error, project.modules)
        if missing or case.name != case.file:
            return missing or FailureKind.ASSERTION_OR_EXCEPTION
        return while_collecting(error, project.modules)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether report and exit code agree; the report is written at the end of the run."""
        return code == 1 if any(case.failed for case in cases) else code == 0 or (code == _NO_TESTS and not cases)

    def asserted(self, case: Case) -> bool:
        """Return whether unittest itself calls it a failure."""
        return case.outcome is CaseOutcome.FAILED or asserted(self.error_line(case))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with control methods in its classes."""
        return control_python.control(path, content, names, methods_only=True)


def _wanted_tests(selection: Selection) -> Mapping[str, Sequence[str]]:
    """Return files, and names of methods, empty for all: one with the same name in another class may run too."""
    named = all("::" in test for test in selection.tests)
    methods = (test.rpartition("::")[2].partition("/")[0].partition("[")[0] for test in selection.tests)
    names = set(methods) if named else ()
    return {"files": sorted(selection.files), "names": sorted(names)}


def _with_file(case: Case, paths: Collection[str]) -> Case:
    """Return the case with its file: a module that could not be loaded has only its dotted name."""
    if case.classname != _LOADER:
        return case
    ending = f"{case.name.replace('.', '/')}.py"
    found = sorted(path for path in paths if path == ending or path.endswith(f"/{ending}"))
    file = found[0] if found else ending
    return replace(case, name=file, classname="", file=file, outcome=CaseOutcome.ERROR)


_NO_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'")
_NO_NAME = re.compile(r"ImportError: cannot import name '\w+' from '([\w.]+)'")
_NO_ATTRIBUTE = re.compile(r"AttributeError: module '([\w.]+)' has no attribute '\w+'")
_NO_MEMBER = re.compile(r"AttributeError: (?:type object '(\w+)'|'(\w+)' object) has no attribute")
_BUILT_IN = frozenset(
    {
        *("str", "int", "float", "bool", "bytes", "list", "dict", "set", "frozenset", "tuple"),
        *("NoneType", "function", "type", "object"),
    }
)
_SYNTAX = re.compile(r"(?:SyntaxError|IndentationError|TabError): ")
_ASSERTED = re.compile(
    r"(?:[\w.]*\.)?\w*(?:AssertionError|Failed|AssertionFailure|Mismatch)\b|assert\b|Regex pattern did not match"
)


def missing_import(error: str, first_party: Collection[str]) -> FailureKind | None:
    """Return the kind for a module, or a name in one, that could not be imported."""
    missing = _NO_MODULE.match(error) or _NO_NAME.match(error)
    if missing is None:
        return None
    return FailureKind.FIRST_PARTY_IMPORT if _belongs(missing[1], first_party) else FailureKind.THIRD_PARTY_IMPORT


def while_collecting(error: str, first_party: Collection[str]) -> FailureKind:
    """Return the reason why a file could not be loaded, other than a missing import."""
    if _SYNTAX.match(error):
        return FailureKind.SYNTAX
    attribute = _NO_ATTRIBUTE.match(error)
    if attribute:
        return FailureKind.FIRST_PARTY_IMPORT if _belongs(attribute[1], first_party) else FailureKind.COLLECTION
    member = _NO_MEMBER.match(error)
    own = member is not None and not _BUILT_IN.intersection(filter(None, member.groups()))
    return FailureKind.FIRST_PARTY_IMPORT if own else FailureKind.COLLECTION


def asserted(error: str) -> bool:
    """Return whether it is any AssertionError, or comes from `pytest.fail` and functions built on it."""
    return bool(_ASSERTED.match(error))


def _belongs(module: str, first_party: Collection[str]) -> bool:
    return module.partition(".")[0] in first_party
