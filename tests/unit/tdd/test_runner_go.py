"""`go test`: how it is called, and what recorded streams of two versions mean. The real tool: `tests/cheats`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.errors import Misconfigured
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.go_runner import GoRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind

GO = GoRunner()
FILES = {
    "go.mod": "module example.com/calc // the module\n\ngo 1.19\n",
    "calc.go": "package calc\n",
    "calc_test.go": (
        'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {}\nfunc TestLast(t *testing.T) {}\n'
    ),
    "calc_windows_test.go": "package calc\n\nfunc TestAdd(t *testing.T) {}\n",
    "sub/sub_test.go": 'package sub\n\nimport "example.com/calc"\n\nfunc TestSub(t *testing.T) { calc.Sub() }\n',
    "sub/ok_test.go": "package sub\n\nfunc TestOk(t *testing.T) {}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return Project.of(tmp_path, FILES)


def words(project: Project, command: str, selection: Selection | None = None) -> list[str]:
    """Return the arguments with which go is called."""
    argv = GO.command(command, Invocation(Path("/report"), project, selection, Path("/caches")))
    return list(argv[5:])


COMMANDS = [
    ("go test ./...", "go test -json -count=1 -vet=off ./..."),
    ("go test", "go test -json -count=1 -vet=off"),
    ("CGO_ENABLED=0 go test -race -v ./a ./b", "env CGO_ENABLED=0 go test -json -count=1 -vet=off -race ./a ./b"),
    ("GOROOT=/usr/local/go go test ./...", "env GOROOT=/usr/local/go go test -json -count=1 -vet=off ./..."),
    ("env -C server/go go test", "env -C server/go go test -json -count=1 -vet=off"),
    (
        "go test -failfast -count 3 -tags integration -timeout=9m ./... -args -json",
        "go test -json -count=1 -vet=off -tags integration -timeout=9m ./... -args -json",
    ),
]


@pytest.mark.parametrize(("command", "called"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_how_it_is_called(project: Project, command: str, called: str) -> None:
    assert " ".join(words(project, command)) == called


def test_a_selection_becomes_packages_and_functions(project: Project) -> None:
    files = frozenset({"sub/sub_test.go", "sub/testdata/golden.txt", "calc_test.go"})
    assert words(project, "go test ./...", Selection(files))[-2:] == [".", "./sub"]
    tests = frozenset({"calc_test.go::TestAdd/one_two", "calc_test.go::ExampleAdd"})
    called = words(project, "go test ./...", Selection(frozenset({"calc_test.go"}), tests))
    assert called[-3:] == ["-run", "^(ExampleAdd|TestAdd)$", "."]


@pytest.mark.parametrize("command", ["gotestsum ./...", "make go test", "go build ./...", "go vet test"])
def test_what_is_no_call_of_it(project: Project, command: str) -> None:
    assert not GO.runs(tuple(command.split()))
    with pytest.raises(Misconfigured):
        words(project, command)


def test_it_is_found_by_its_module(project: Project) -> None:
    assert GO.detect(project.paths, lambda _: None) == "go test ./..."
    assert GO.detect({"sub/go.mod"}, lambda _: None) is None
    assert [path for path in ("a_test.go", "a.go", "x/testdata/a.go", "test.go") if GO.is_test_file(path)] == [
        "a_test.go",
        "x/testdata/a.go",
    ]


def events(*lines: dict[str, str] | str) -> bytes:
    """Return a stream as go writes it; a string is a line of the compiler."""
    written = [line if isinstance(line, str) else json.dumps({"Package": "example.com/calc", **line}) for line in lines]
    return "\n".join(['{"selected": []}', *written, ""]).encode()


def said(output: str, test: str | None = None) -> dict[str, str]:
    return {"Action": "output", "Output": output, **({"Test": test} if test else {})}


def found(data: bytes, project: Project) -> dict[str, tuple[CaseOutcome, FailureKind | None, str]]:
    """Return outcome, kind and the first told line of each test."""
    report = GO.read(data, project)
    assert not report.problem
    return {
        GO.identify(case)[0]: (
            case.outcome,
            GO.classify(case, project) if case.outcome in {CaseOutcome.FAILED, CaseOutcome.ERROR} else None,
            GO.explain(case).partition("\n")[0],
        )
        for case in report.cases
    }


def test_events_become_tests_of_files(project: Project) -> None:
    data = events(
        {"Action": "run", "Test": "TestAdd"},
        said("=== RUN   TestAdd/bad\n", "TestAdd/bad"),
        said("    calc_test.go:12: got 2\n", "TestAdd/bad"),
        said("        want 3\n", "TestAdd/bad"),
        said("    --- FAIL: TestAdd/bad (0.00s)\n", "TestAdd/bad"),
        {"Action": "fail", "Test": "TestAdd/bad"},
        {"Action": "fail", "Test": "TestAdd"},
        {"Action": "skip", "Test": "TestLast"},
        said("FAIL\n"),
        {"Action": "fail"},
        {"Action": "pass", "Test": "TestAdd/bad"},
    )
    assert found(data, project) == {
        "calc_test.go::TestAdd": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "a subtest failed"),
        "calc_test.go::TestAdd/bad": (CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "calc_test.go:12: got 2"),
        "calc_test.go::TestLast": (CaseOutcome.SKIPPED, None, ""),
    }
    cases = GO.read(data, project).cases
    assert [GO.asserted(case) for case in cases] == [False, True, False]
    assert GO.complete(1, cases, "")
    assert not GO.complete(0, cases, "")


def test_a_panic_leaves_the_tests_after_it_without_a_result(project: Project) -> None:
    data = events(
        {"Action": "run", "Test": "TestAdd"},
        said("panic: assignment to entry in nil map [recovered]\n", "TestAdd"),
        said("\tpanic: assignment to entry in nil map\n", "TestAdd"),
        {"Action": "fail", "Test": "TestAdd"},
        said("FAIL\texample.com/calc\t0.012s\n"),
        {"Action": "fail"},
    )
    assert found(data, project) == {
        "calc_test.go::TestAdd": (
            CaseOutcome.FAILED,
            FailureKind.ASSERTION_OR_EXCEPTION,
            "panic: assignment to entry in nil map",
        ),
        "calc_test.go::TestLast": (
            CaseOutcome.ERROR,
            FailureKind.OTHER,
            "the package ended before this test was through",
        ),
    }


def test_a_package_that_passed_without_running_is_no_success(project: Project) -> None:
    data = events(said("ok  \texample.com/calc\t0.006s\n"), {"Action": "pass"})
    assert {outcome for outcome, _, _ in found(data, project).values()} == {CaseOutcome.ERROR}
    assert GO.complete(0, GO.read(data, project).cases, ""), "others of the run still count"


def test_a_package_that_fails_after_its_tests_is_told(project: Project) -> None:
    data = events({"Action": "pass", "Test": "TestAdd"}, said("PASS\n"), said("leaked\n"), {"Action": "fail"})
    assert found(data, project)["calc_test.go"] == (
        CaseOutcome.ERROR,
        FailureKind.COLLECTION,
        "the package failed, but none of its tests",
    )


OLD_BUILD = (
    "# example.com/calc/sub [example.com/calc/sub.test]",
    "sub/sub_test.go:5:38: undefined: calc.Sub",
    "FAIL\texample.com/calc/sub [build failed]",
)
NEW_BUILD = (
    *(
        {"ImportPath": "example.com/calc/sub [calc.test]", "Action": "build-output", "Output": f"{line}\n"}
        for line in OLD_BUILD[:2]
    ),
    {"Action": "output", "Package": "example.com/calc/sub", "Output": "FAIL\texample.com/calc/sub [build failed]\n"},
    {"Action": "fail", "Package": "example.com/calc/sub", "FailedBuild": "example.com/calc/sub [x]"},
)


@pytest.mark.parametrize("lines", [OLD_BUILD, NEW_BUILD], ids=["Go 1.19", "Go 1.27"])
def test_a_package_that_was_not_built_is_a_case_for_each_file(
    project: Project, lines: tuple[dict[str, str] | str, ...]
) -> None:
    red = (CaseOutcome.ERROR, FailureKind.FIRST_PARTY_IMPORT, "sub/sub_test.go:5:38: undefined: calc.Sub")
    assert found(events(*lines), project) == {"sub/ok_test.go": red, "sub/sub_test.go": red}


def test_what_go_says_without_a_package_is_the_problem(project: Project) -> None:
    report = GO.read(events("go: go.mod file not found in current directory"), project)
    assert report.problem == "go test ran no package: go: go.mod file not found in current directory"
    assert GO.read(b"x" * (50 * 2**20 + 1), project).problem
    assert not GO.complete(1, (), "")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (FILES["calc_test.go"], {"TestOneTwoThree"}),
        (
            'package x\n\nimport tt "testing"\n\nfunc Test_a(t *tt.T) {}\nfunc Test_b(t *tt.T) {}\n',
            {"Test_OneTwoThree"},
        ),
        ('package x\n\nimport (\n\t. "testing"\n)\n', {"TestOneTwoThree"}),
    ],
)
def test_control_tests_are_written_like_the_others(content: str, names: set[str]) -> None:
    drawn = ("one_two_three", "two_two", "three_two", "four_one")
    control = GO.control("calc_test.go", content.encode(), drawn)
    assert isinstance(control, Control)
    assert names <= control.passing
    assert len(control.names) == 4
    assert all(f"func {name}(".encode() in control.content for name in control.names)


@pytest.mark.parametrize("content", ["package x\n", 'package x\n\nimport "testing"\n\nfunc {'])
def test_no_control_tests_where_none_can_stand(content: str) -> None:
    assert GO.control("calc_test.go", content.encode(), ("a_b", "b_c", "c_d", "d_e")) is None
