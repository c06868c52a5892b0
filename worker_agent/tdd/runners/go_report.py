"""The reader of `go test -json`, to raw test cases: events, and between them the lines of the compiler.

Go before 1.24 writes the compiler's lines to stderr as they are, later versions as events; here both come mixed in one
stream. All of it is made by untrusted tests. Also the kinds of the compiler's errors about a package that it cannot
build: whose names are missing (pure except for sources).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from worker_agent.tdd.runners.go_packages import Packages, imports, package_name
from worker_agent.tdd.runners.json_report import json_object, lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, SEVERITY, Case, CaseOutcome, FailureKind, Report, worst

IN_SUBTEST = "a subtest failed"
"""The message of a test that failed only because one of its subtests did."""

NOT_RUN = "the package ended before this test was through"

_OUTCOMES = {"pass": CaseOutcome.PASSED, "fail": CaseOutcome.FAILED, "skip": CaseOutcome.SKIPPED}
_HEADING = re.compile(r"# (\S+)(?: \[(\S+)\.test\])?$")
_NOT_BUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]$")
_FRAME = re.compile(r"\s*(?:=== (?:RUN|PAUSE|CONT|NAME)\b|--- (?:PASS|FAIL|SKIP): |PASS$|FAIL$)")
_PANIC = re.compile(r"^[ \t]*((?:panic|fatal error): .*)$", re.MULTILINE)
_SAID = re.compile(r"^[ \t]+(\S+\.go:\d+: ?.*)$", re.MULTILINE)
_TESTIFY = re.compile(r"^[ \t]+Error:\s+(\S.*)$", re.MULTILINE)


@dataclass
class _Test:
    lines: list[str] = field(default_factory=list)
    size: int = 0
    outcomes: list[CaseOutcome] = field(default_factory=list)


@dataclass
class _Package:
    tests: dict[str, _Test] = field(default_factory=dict)
    output: list[str] = field(default_factory=list)
    end: str = ""
    through: bool = False
    """True if the test binary itself reported its end: `PASS` or `FAIL` in a line."""
    built: bool = True


@dataclass
class _Stream:
    packages: dict[str, _Package] = field(default_factory=dict)
    compiler: dict[str, list[str]] = field(default_factory=dict)
    stray: list[str] = field(default_factory=list)
    selected: frozenset[str] = frozenset()
    heading: str = ""

    def package(self, name: str) -> _Package:
        return self.packages.setdefault(name, _Package())


def header(tests: frozenset[str]) -> str:
    """Return the first line of a report: the test functions that the run is about, empty for all."""
    return json.dumps({"selected": sorted(tests)})


def read(data: bytes, project: Project) -> Report:
    """Read one stream; never raise for its content."""
    if data.count(b"\n") > 10 * ELEMENT_LIMIT:
        return Report(problem=f"the test report has more than {10 * ELEMENT_LIMIT} lines")
    stream = _Stream()
    for line in lines(data):
        _take(stream, line)
    packages = Packages(project)
    cases = [case for name, found in stream.packages.items() for case in _cases(stream, name, found, packages)]
    if not stream.packages and (stream.stray or stream.compiler):
        said = [*stream.stray, *(line for lines in stream.compiler.values() for line in lines)]
        return Report(problem="go test ran no package: " + "\n".join(said)[:MESSAGE_LIMIT])
    return Report(tuple(cases))


def _take(stream: _Stream, line: str) -> None:
    event = json_object(line)
    if not event:
        _text(stream, line)
    elif event.get("Action") == "build-output":
        for said in str(event.get("Output", "")).splitlines():
            _text(stream, said)
    elif isinstance(selected := event.get("selected"), list):
        stream.selected = frozenset(map(str, selected))
    elif isinstance(name := event.get("Package"), str):
        _package_event(stream.package(name), event)


def _text(stream: _Stream, line: str) -> None:
    """Take a line of the compiler, or of go itself."""
    heading, not_built = _HEADING.match(line), _NOT_BUILT.match(line)
    if heading:
        stream.heading = heading[2] or heading[1]
    elif not_built:
        stream.package(not_built[1]).built = False
        stream.heading = ""
    elif stream.heading:
        stream.compiler.setdefault(stream.heading, []).append(line)
    elif line.strip():
        stream.stray.append(line)


def _package_event(package: _Package, event: dict[str, Any]) -> None:
    if package.end:
        return  # the session of this package is over: whoever still writes is not the test binary
    action, name, output = event.get("Action"), event.get("Test"), str(event.get("Output", ""))
    if isinstance(name, str):
        test = package.tests.setdefault(name, _Test())
        if action in _OUTCOMES:
            test.outcomes.append(_OUTCOMES[action])
        elif action == "output" and test.size <= 4 * MESSAGE_LIMIT:
            test.lines.append(output)
            test.size += len(output)
    if action == "output":
        package.through = package.through or output in {"PASS\n", "FAIL\n"}
        package.built = package.built and not _NOT_BUILT.match(output.strip("\n"))
        package.output = [*package.output[-100:], output] if name is None else package.output
    elif name is None and action in _OUTCOMES:
        package.end = str(action)
        package.built = package.built and "FailedBuild" not in event


def _cases(stream: _Stream, name: str, package: _Package, packages: Packages) -> Iterator[Case]:
    if not package.built:
        yield from _not_built(stream, name, packages)
        return
    declared = packages.declared(name)
    place = packages.directory(name)
    for test, found in package.tests.items():
        file = declared.get(test.partition("/")[0]) or f"{place}/{test.partition('/')[0]}".strip("/")
        yield _case(test, found, file, package)
    if not package.through and package.end != "skip":
        yield from _missing_tests(stream, package, declared)
    elif package.end == "fail" and not any(CaseOutcome.FAILED in test.outcomes for test in package.tests.values()):
        text = "".join(package.output)[-MESSAGE_LIMIT:]
        for file in packages.test_files(name):
            yield Case(file, "", file, CaseOutcome.ERROR, "the package failed, but none of its tests", text)


def _not_built(stream: _Stream, name: str, packages: Packages) -> Iterator[Case]:
    """Yield each test file of the package, with the lines on it, or with all lines if a dependency failed."""
    lines = stream.compiler.get(name) or stream.compiler.get(f"{name}_test")
    text = "\n".join(lines or [line for found in stream.compiler.values() for line in found] or stream.stray)
    for file in packages.test_files(name):
        yield Case(file, "", file, CaseOutcome.ERROR, "", text[:MESSAGE_LIMIT])


def _missing_tests(stream: _Stream, package: _Package, declared: dict[str, str]) -> Iterator[Case]:
    """Yield the declared tests of a package without a result, because it ended before its tests were through."""
    text = "".join(package.output)[-MESSAGE_LIMIT:]
    for function, file in declared.items():
        wanted = not stream.selected or function in stream.selected
        never_runs = function == "TestMain" or function.startswith("Example")  # an example may be there to be compiled
        if wanted and not never_runs and function not in package.tests:
            yield Case(function, "", file, CaseOutcome.ERROR, NOT_RUN, text)


def _case(name: str, test: _Test, file: str, package: _Package) -> Case:
    text = "".join(line for line in test.lines if not _FRAME.match(line))
    outcome = max(test.outcomes, key=SEVERITY.__getitem__) if test.outcomes else CaseOutcome.ERROR
    if outcome in {CaseOutcome.PASSED, CaseOutcome.SKIPPED}:
        return Case(name, "", file, outcome)
    message = _error(text) or (NOT_RUN if not test.outcomes else _child(name, package) or "failed without a word")
    return Case(name, "", file, outcome, message, text[-MESSAGE_LIMIT:])


def _child(name: str, package: _Package) -> str:
    below = (test for other, test in package.tests.items() if other.startswith(f"{name}/"))
    return IN_SUBTEST if any(CaseOutcome.FAILED in test.outcomes for test in below) else ""


def _error(text: str) -> str:
    """Return the line that names the error: a panic, or else the test's first message."""
    found = _PANIC.search(text) or _SAID.search(text)
    if found is None:
        return next((line.strip() for line in text.splitlines() if line.strip()), "")
    said = found[1].strip().partition(" [recovered")[0]
    more = _TESTIFY.search(text) if said.endswith(":") else None
    return (f"{said} {more[1]}" if more else said)[:MESSAGE_LIMIT]


_LINE = re.compile(r"(?P<file>[^\s:]+\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<said>.*)$")
_NO_PLACE = re.compile(r"(?:package .* is not in |no required module provides |cannot find )")

_SYNTAX = re.compile(
    r"expected .*found|syntax error|expected |illegal character|.* not terminated|newline in |missing ['\"`,]"
)
_NO_PACKAGE = re.compile(
    r".*?(?:no required module provides package|cannot find package|cannot find module providing package"
    r"|does not contain package|cannot load)\s+\"?([^\s\";:]+)|package ([^\s:]+) is not in "
)
_NAMES = (
    re.compile(r"undefined: (?P<name>[\w.]+)"),
    re.compile(r".+ undefined \(type (?P<type>.+?) has no (?:field or )?method"),
    re.compile(r"unknown field '?\w+'? in struct literal(?: of type (?P<type>\S+))?"),
    re.compile(r"(?:not enough|too many) arguments in call to (?P<name>[\w.]+)"),
    re.compile(r"assignment mismatch: .* but (?P<name>[\w.]+)(?:\(.*\))? returns"),
    re.compile(r"cannot use .* as .* value in argument to (?P<name>[\w.]+)(?!.*does not implement)"),
    re.compile(r"(?:cannot use|impossible type assertion).*[:(] ?(?P<type>[^\s:]+) does not implement"),
    re.compile(r"name \w+ not (?:exported|declared) by package (?P<package>\w+)"),
    re.compile(r"cannot refer to unexported (?:name )?(?P<name>[\w.]+)"),
    re.compile(r"cannot use (?P<name>\w[\w.]*)\(.*\) \((?:no )?value"),
    re.compile(r"invalid operation: (?P<name>\w[\w.]*)\(.*mismatched types"),
    re.compile(r"(?P<name>\w[\w.]*)\(.*\) \(no value\) used as value"),
)
"""Messages about a missing function, type, field or method, or one with another shape than the test wants."""

_STANDARD = re.compile(
    r"bufio|bytes|context|errors|filepath|flag|fmt|hash|http|httptest|io|ioutil|json|log|math|net|os|path|rand|reflect"
    r"|regexp|runtime|sort|strconv|strings|sync|atomic|template|testing|time|unicode|url|utf8|xml"
)
"""Packages that a test forgets to import; nobody is going to write their names."""

_BUILT_IN = re.compile(
    r"append|cap|clear|close|complex|copy|delete|imag|len|make|max|min|new|panic|print|println|real|recover|any|bool"
    r"|byte|error|rune|string|uintptr|map|chan|func|struct|interface|u?int(?:8|16|32|64)?|float(?:32|64)|complex\d+"
)


@dataclass(frozen=True, slots=True)
class _Error:
    file: str
    line: int
    message: str


def first_line(text: str) -> str:
    """Return the first error of the compiler, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _LINE.match(line)), lines[0] if lines else "")


def kind(text: str, project: Project) -> FailureKind:
    """Return the reason why a package was not built: the worst kind of its lines."""
    packages = Packages(project)
    return worst({_kind(error, project, packages) for error in _errors(text)})


def _errors(text: str) -> list[_Error]:
    found = []
    for line in re.sub(r"\n\s+", " ", text).splitlines():  # indented lines go on with the error above them
        if placed := _LINE.match(line):
            if placed["said"] != "too many errors":
                found.append(_Error(placed["file"], int(placed["line"]), placed["said"]))
        elif _NO_PLACE.match(line):
            found.append(_Error("", 0, line))
    return found


def _kind(error: _Error, project: Project, packages: Packages) -> FailureKind:
    if missing := _NO_PACKAGE.match(error.message):
        return _of_package(missing[1] or missing[2], packages)
    if _SYNTAX.match(error.message):
        return FailureKind.SYNTAX
    for pattern in _NAMES:
        if named := pattern.match(error.message):
            return _Origin(error, project, packages).kind(named.groupdict())
    return FailureKind.COLLECTION


def _of_package(package: str, packages: Packages) -> FailureKind:
    if packages.is_own(package):
        return FailureKind.FIRST_PARTY_IMPORT
    return FailureKind.THIRD_PARTY_IMPORT if "." in package.partition("/")[0] else FailureKind.COLLECTION


class _Origin:
    """The owner of a name at the place of an error: this repository or others."""

    def __init__(self, error: _Error, project: Project, packages: Packages) -> None:
        self._error = error
        self._packages = packages
        self._source = project.text(project.below(error.file))
        self._imports = imports(self._source)

    def kind(self, named: dict[str, str | None]) -> FailureKind:
        """Return the kind for a missing name of this repository, or else for other people's error."""
        if type_ := named.get("type"):
            return self._verdict(self._type_is_own(type_))
        if package := named.get("package"):
            return self._verdict(self._package_is_own(package))
        name = named.get("name")
        return self._verdict(self._name_is_own(name) if name else self._place_is_own())

    def _verdict(self, is_own: bool) -> FailureKind:
        return FailureKind.FIRST_PARTY_IMPORT if is_own else FailureKind.COLLECTION

    def _name_is_own(self, name: str) -> bool:
        qualifier, _, rest = name.partition(".")
        if not rest:
            return not _BUILT_IN.fullmatch(name) and not (_STANDARD.fullmatch(name) and f"{name}." in self._line())
        return self._package_is_own(qualifier) if qualifier in self._imports else True

    def _type_is_own(self, type_: str) -> bool:
        word = re.sub(r"^(?:variable of type )?[\[\]*&.\d]*", "", type_)
        quoted = re.match(r'"?([\w./-]+/[\w.-]+?)"?\.\w', word)
        if quoted:
            return self._packages.is_own(quoted[1])
        qualifier, _, rest = word.partition("[")[0].partition(".")
        if rest:
            return self._package_is_own(qualifier)
        return bool(re.match(r"\w", qualifier)) and not _BUILT_IN.fullmatch(re.split(r"\W", qualifier)[0])

    def _package_is_own(self, name: str) -> bool:
        if name in self._imports:
            return self._packages.is_own(self._imports[name])
        return name in self._own_names()

    def _own_names(self) -> Collection[str]:
        """Return the names of the checkout's packages, by their directories."""
        return {package_name(package) for package in self._packages.every()}

    def _place_is_own(self) -> bool:
        """Return whether an error without a name is own: unless each qualifier in its line is a foreign package."""
        used = [self._imports[word] for word in re.findall(r"\b(\w+)\.\w", self._line()) if word in self._imports]
        return not used or any(map(self._packages.is_own, used))

    def _line(self) -> str:
        lines = self._source.splitlines()
        return lines[self._error.line - 1] if 0 < self._error.line <= len(lines) else ""
