"""`dotnet test` with its TRX logger, which every SDK has. Written by its documentation, without .NET to try it.

A build that fails leaves no report: each test file is lost, with the compiler's lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

from worker_agent.tdd.runners import junit
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, FailureKind, Report

_SPACE = "{http://microsoft.com/schemas/VisualStudio/TeamTest/2010}"
_RESULTS = "TestResults"
_OUTCOMES = {
    "Passed": CaseOutcome.PASSED,
    "Failed": CaseOutcome.FAILED,
    "Error": CaseOutcome.ERROR,
    "Timeout": CaseOutcome.ERROR,
}
"""Outcomes; every other one (NotExecuted, Inconclusive ...) means that it did not run."""

_COMPILER = re.compile(r"^(.+?\.cs)\(\d+,\d+\): error (CS\d{4}): (.*?)(?: \[.*)?$", re.MULTILINE)
_MISSING = frozenset({"CS0103", "CS0117", "CS0234", "CS0246", "CS1061", "CS1501", "CS1739", "CS7036"})
"""A missing name, member, namespace, type, method, overload or parameter."""

_ASSERTED = re.compile(r"^(?:Assert|Shouldly|Expected|Xunit\.Sdk|NUnit\.Framework\.Assert|\s*Expected )")


class DotnetRunner(Runner):
    """The runner of any command with `dotnet test`."""

    name = "dotnet test"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a solution or a project of tests."""
        names = [PurePosixPath(path) for path in paths]
        found = any(file.suffix in {".sln", ".slnx"} or _is_test_project(file) for file in names)
        return "dotnet test" if found else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `dotnet` before `test`, also behind `env`."""
        return next((at for at, word in enumerate(argv[:-1]) if word == "dotnet" and argv[at + 1] == "test"), None)

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is C# or F# in a project named like one of tests, or is named like tests itself."""
        file = PurePosixPath(path)
        source = file.suffix in {".cs", ".fs", ".vb"}
        return source and (bool(re.search(r"Tests?$", file.stem)) or any(map(_is_test_directory, file.parts[:-1])))

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command with its report in the checkout, where `reports` finds it: one for each project."""
        argv, at = self.split(test_command)
        chosen: tuple[str, ...] = ()
        if call.selection is not None and "--filter" not in argv:
            classes = sorted({PurePosixPath(path).stem for path in call.selection.files})
            chosen = ("--filter", "|".join(f"FullyQualifiedName~{name}" for name in classes))
        end = argv.index("--", at) if "--" in argv[at:] else len(argv)
        return (*argv[:end], "--logger", "trx", "--results-directory", _RESULTS, "--nologo", *chosen, *argv[end:])

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return variables: no telemetry, and no server of an earlier build."""
        off = dict.fromkeys(("DOTNET_CLI_TELEMETRY_OPTOUT", "DOTNET_NOLOGO", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE"), "1")
        return {**off, "MSBUILDDISABLENODEREUSE": "1", "UseSharedCompilation": "false"}

    def reports(self, place: Path) -> Sequence[Path]:
        """Return the TRX files, which have names of their own: the logger cannot write to a pipe."""
        return sorted(path for path in (place / _RESULTS).glob("*.trx") if path.is_file())

    def parse(self, data: bytes, project: Project) -> Report:
        """Read one TRX file; its tests have no file but the name of their class."""
        problem = junit.inspected(data)
        if problem:
            return Report(problem=problem)
        try:
            root = ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            return Report(problem=f"the test report is not TRX: {error}")
        return Report(tuple(_cases(root, project)))

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return the test files if there is no report because something was not built."""
        errors = list(_COMPILER.finditer(output_tail))
        if reported or code == 0 or not errors:
            return None
        text = "\n".join(error[0] for error in errors)
        message = f"error {errors[0][2]}: {errors[0][3]}"
        return self.lose_files(call, Case("", "", "", CaseOutcome.ERROR, message, text[:MESSAGE_LIMIT], errors[0][2]))

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the compiler's codes if something was not built."""
        if case.name != case.file:
            return FailureKind.ASSERTION_OR_EXCEPTION
        if case.error in _MISSING:
            return FailureKind.FIRST_PARTY_IMPORT
        return FailureKind.SYNTAX if re.match(r"CS1\d{3}$", case.error) else FailureKind.COLLECTION

    def asserted(self, case: Case) -> bool:
        """Return whether the words are those of xUnit, NUnit, MSTest or libraries built on them."""
        return bool(_ASSERTED.match(case.message))


def _is_test_project(file: PurePosixPath) -> bool:
    return file.suffix in {".csproj", ".fsproj", ".vbproj"} and _is_test_directory(file.stem)


def _is_test_directory(name: str) -> bool:
    return bool(re.search(r"(?:^|[.\-_])tests?$|Tests?$", name, re.IGNORECASE))


def _cases(root: ElementTree.Element, project: Project) -> Iterator[Case]:
    classes = {
        unit.get("id", ""): method.get("className", "").partition(",")[0]
        for unit in root.iter(f"{_SPACE}UnitTest")
        for method in unit.iter(f"{_SPACE}TestMethod")
    }
    for result in root.iter(f"{_SPACE}UnitTestResult"):
        scope = classes.get(result.get("testId", ""), "")
        name = result.get("testName", "").removeprefix(f"{scope}.")
        error = result.find(f"{_SPACE}Output/{_SPACE}ErrorInfo")
        message = "" if error is None else error.findtext(f"{_SPACE}Message") or ""
        stack = "" if error is None else error.findtext(f"{_SPACE}StackTrace") or ""
        outcome = _OUTCOMES.get(result.get("outcome", ""), CaseOutcome.SKIPPED)
        simple = re.split(r"[.+]", scope)[-1]
        file = _file_of(simple, project)
        yield Case(name, simple, file, outcome, message[:MESSAGE_LIMIT], stack[-MESSAGE_LIMIT:])


def _file_of(name: str, project: Project) -> str:
    """Return the one file that is named like a class; empty if there is not exactly one."""
    found = [path for path in project.paths if PurePosixPath(path).stem == name]
    return found[0] if len(found) == 1 else ""
