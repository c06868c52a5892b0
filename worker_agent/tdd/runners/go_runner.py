"""Go: the command `go test` and the reading of its events (pure except for sources of the checkout).

Control tests for a Go test file: functions at random places among its own, with ordinary bodies.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.runners import go_report
from worker_agent.tdd.runners.control import Control, fill
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report
from worker_agent.tdd.syntax.source import parse

_OPTIONS = ("-json", "-count=1", "-vet=off")

_SWITCH = re.compile(
    r"a|asan|benchmem|c|cover|failfast|fullpath|i|json|linkshared|modcacherw|msan|n|race|short|trimpath|v|work|x"
)
"""Options of `go test` without a value; every other one takes the next word, unless it has a `=`."""

_LEFT_OUT = frozenset({"json", "failfast", "v", "count", "vet", "c", "i", "n"})
"""Options that would change the report or end the run early."""

_INTO_REPORT = 'exec >"$0" 2>&1; printf "%s\\n" "$1"; shift; exec "$@"'
"""A line of our own, then all output of go: older versions report build errors on stderr."""

TESTS_LIMIT = 200
"""The most test functions for which `-run` is given; above, the whole packages run."""


class GoRunner(Runner):
    """The runner of any command in which `go test` is called.

    An id is like `path/x_test.go::TestName/sub`; the file of a package that was not built is its own id.
    """

    name = "go test"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a module at the root, with tests or not."""
        return "go test ./..." if "go.mod" in paths else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the word `test` of `go test`, also behind `env`."""
        for index, word in enumerate(argv[:-1]):
            if PurePosixPath(word).name == "go" and argv[index + 1] == "test":
                return index + 1  # a directory of env's arguments may be named go as well, as in GOROOT=/usr/local/go
            if index == 0 and PurePosixPath(word).name != "env":
                return None
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*_test.go` or in `testdata`."""
        file = PurePosixPath(path)
        return file.name.endswith("_test.go") or "testdata" in file.parts[:-1]

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with events and without the cache; all its output goes to `call.report`."""
        argv, called = self.split(test_command)
        end = next((at for at, word in enumerate(argv) if word in {"-args", "--args"}), len(argv))
        options, packages = _options_and_packages(argv[called + 1 : end])
        functions = _functions(call.selection)
        if call.selection is not None:
            packages = sorted({_package(path) for path in call.selection.files}) or packages
        if functions:
            options = [*options, "-run", f"^({'|'.join(sorted(functions))})$"]
        go = (*argv[: called + 1], *_OPTIONS, *options, *packages, *argv[end:])
        return ("/bin/sh", "-c", _INTO_REPORT, str(call.report), go_report.header(functions), *go)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return variables: no network, no other toolchain, and one build cache for all runs of an item."""
        offline = {"GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOTELEMETRY": "off"}
        return offline if call.caches is None else {**offline, "GOCACHE": str(call.caches / "go-build")}

    def parse(self, data: bytes, project: Project) -> Report:
        """Read the events of `go test -json`, and the compiler's lines between them."""
        return go_report.read(data, project)

    def error_line(self, case: Case) -> str:
        return case.message or go_report.first_line(case.text)

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the compiler's lines if it was not built; a test that had no turn says nothing."""
        if case.name == case.file:
            return FailureKind.COLLECTION if case.message else go_report.kind(case.text, project)
        if case.message.startswith("panic: test timed out"):
            return FailureKind.TIMEOUT
        return FailureKind.OTHER if case.message == go_report.NOT_RUN else FailureKind.ASSERTION_OR_EXCEPTION

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return True for 0 without failures, or 1 (2 of older versions, after a build error) with some.

        Tests whose package ended with 0 before they had run are reported by their own cases.
        """
        failed = [case for case in cases if case.failed]
        if code == 0:
            return all(case.message == go_report.NOT_RUN for case in failed)
        return code in {1, 2} and bool(failed)

    def asserted(self, case: Case) -> bool:
        """Return whether the test called `t.Error` or its like, or an example printed something else: no panic."""
        crashed = case.message.startswith(("panic: ", "fatal error: ")) or "race detected" in case.message
        return case.outcome is CaseOutcome.FAILED and not crashed and case.message != go_report.IN_SUBTEST

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with two passing and two failing control tests; None without `testing`, or with errors."""
        imported = _TESTING.search(content)
        if not path.endswith("_test.go") or imported is None or imported[1] == b"_" or parse(path, content) is None:
            return None
        alias = (imported[1] or b"testing").decode()
        type_ = "T" if alias == "." else f"{alias}.T"
        joined = "_" if content.count(b"\nfunc Test_") * 2 > content.count(b"\nfunc Test") else ""
        words = [f"Test{joined}{''.join(part.title() for part in name.split('_'))}" for name in names[:4]]
        for index, word in enumerate(words):
            body = fill(secrets.choice(_PASSING if index < 2 else _FAILING), names[index])
            content = _insert_function(path, content, f"func {word}(t *{type_}) {{\n{body}\n}}\n\n")
        return Control.of(path, content, words)


def _options_and_packages(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options with their values, without those that are left out, and the packages."""
    options: list[str] = []
    packages: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            packages.append(word)
            continue
        name, has_value, _ = word.lstrip("-").partition("=")
        whole = [word] if has_value or _SWITCH.fullmatch(name) else [word, *islice(rest, 1)]
        options += [] if name.removeprefix("test.") in _LEFT_OUT else whole
    return options, packages


def _functions(selection: Selection | None) -> frozenset[str]:
    """Return the test functions of the selected tests, empty if there are too many or none."""
    tests = selection.tests if selection is not None else frozenset()
    found = frozenset(test.partition("::")[2].partition("/")[0] for test in tests)
    return found if len(found) <= TESTS_LIMIT and all(name.isidentifier() for name in found) else frozenset()


def _package(path: str) -> str:
    """Return the package of a test file; for a file in `testdata`, the package above it."""
    parts = PurePosixPath(path).parts[:-1]
    kept = parts[: parts.index("testdata")] if "testdata" in parts else parts
    return "/".join((".", *kept))


_TESTING = re.compile(rb'^\s*(?:import\s+)?(?:([\w.]+)\s+)?"testing"', re.MULTILINE)
_PASSING = (
    '\t{a} := {number}\n\tif {a}+1 != {more} {{\n\t\tt.Errorf("{b}: %d", {a})\n\t}}',
    '\t{a} := []string{{"{b}", "{a}"}}\n\tif len({a}) != 2 {{\n\t\tt.Fatalf("{b}: %v", {a})\n\t}}',
)
_FAILING = (
    '\t{a} := {number}\n\tif {a} != {more} {{\n\t\tt.Errorf("{b}: %d", {a})\n\t}}',
    '\t{a} := []string{{"{b}", "{a}"}}\n\tif len({a}) != {more} {{\n\t\tt.Fatalf("{b}: %v", {a})\n\t}}',
    '\t{a} := map[string]int{{"{b}": {number}}}\n\tif {a}["{b}"] > 1 {{\n\t\tt.Error("{b}", {a})\n\t}}',
)


def _insert_function(path: str, content: bytes, text: str) -> bytes:
    """Return the file with a function before one of its top-level functions, or at its end."""
    source = parse(path, content)
    places = [] if source is None else [_start(node) for node in source.root.children if _is_function(node)]
    at = secrets.choice([*places, len(content)])
    lead = b"" if not at or content[:at].endswith(b"\n\n") else b"\n" if content[:at].endswith(b"\n") else b"\n\n"
    return content[:at] + lead + text.encode() + content[at:]


def _is_function(node: Node) -> bool:
    return node.type in {"function_declaration", "method_declaration"} and node.start_point[1] == 0


def _start(node: Node) -> int:
    """Return the start of a function, its comment included."""
    start, row = node.start_byte, node.start_point[0]
    above = node.prev_sibling
    while above is not None and above.type == "comment" and above.end_point[0] == row - 1 and not above.start_point[1]:
        start, row, above = above.start_byte, above.start_point[0], above.prev_sibling
    return start
