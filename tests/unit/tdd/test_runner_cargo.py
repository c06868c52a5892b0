"""`cargo test`: how it is called, and what recorded streams mean. The real tool: `tests/cheats`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from worker_agent.tdd.runners import cargo_script, rust_build
from worker_agent.tdd.runners.cargo_runner import CargoRunner
from worker_agent.tdd.runners.cargo_targets import Manifests
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind

CARGO = CargoRunner()
LIB = """pub mod deep;
#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert!(true); }
}
"""
FILES = {
    "Cargo.toml": '[package]\nname = "calc-x"\n[[test]]\nname = "own"\nharness = false\n',
    "src/lib.rs": LIB,
    "src/deep/mod.rs": "pub mod er;\n",
    "src/deep/er.rs": "#[cfg(test)]\nmod tests { #[test] fn x() {} }\n",
    "src/bin/tool.rs": "fn main() {}\n",
    "tests/it.rs": "mod common;\n#[test]\nfn adds() {}\n",
    "tests/common/mod.rs": "",
    "tests/own.rs": "fn main() {}\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    return Project.of(tmp_path, FILES)


def script(project: Project, command: str, selection: Selection | None = None) -> str:
    argv = CARGO.command(command, Invocation(Path("/report"), project, selection, Path("/caches")))
    assert argv[:2] == ("/bin/sh", "-c")
    return argv[2]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("cargo test", "cargo test --no-run --message-format json   --tests"),
        ("cargo test --workspace -q", "cargo test --no-run --message-format json  --workspace --tests"),
        ("cargo test --lib --all-features", "cargo test --no-run --message-format json --all-features  --lib"),
        ("cargo +nightly test adds -- --nocapture --test-threads 1", "run  --tests -- --test-threads 1 adds"),
        ("RUSTFLAGS=-g cargo test", 'cargo() { env RUSTFLAGS=-g cargo "$@"; }'),
        ("cargo test --doc", 'printf \'\\n{"target":"doctests"}'),
    ],
)
def test_how_it_is_called(project: Project, command: str, said: str) -> None:
    assert said in script(project, command)


def test_the_documentation_is_tested_with_everything_only(project: Project) -> None:
    assert "--doc" in script(project, "cargo test")
    assert "--doc" not in script(project, "cargo test --lib")
    assert "--no-run" not in script(project, "cargo test --doc")
    assert "--doc" not in script(project, "cargo test", Selection(frozenset({"tests/it.rs"})))


SELECTED = [
    ("tests/it.rs", {"run -p calc-x --test it"}),
    ("src/deep/er.rs", {"run -p calc-x --lib"}),
    ("src/bin/tool.rs", {"run -p calc-x --bin tool"}),
    ("tests/common/mod.rs", {"run -p calc-x --tests"}),
]


@pytest.mark.parametrize(("path", "called"), SELECTED, ids=[path for path, _ in SELECTED])
def test_a_selection_becomes_targets(project: Project, path: str, called: set[str]) -> None:
    lines = script(project, "cargo test", Selection(frozenset({path}))).splitlines()
    assert {line.partition(" --\n")[0].removesuffix(" --") for line in lines if line.startswith("run -p")} == called


def test_selected_tests_become_filters_by_their_last_names(project: Project) -> None:
    tests = frozenset({"tests/it.rs::adds", "tests/it.rs::deep::x"})
    assert "run -p calc-x --test it -- adds x" in script(
        project, "cargo test", Selection(frozenset({"tests/it.rs"}), tests)
    )


@pytest.mark.parametrize("command", ["cargo nextest run", "cargo build", "make cargo test", "cross test"])
def test_what_is_no_call_of_it(command: str) -> None:
    assert not CARGO.runs(tuple(command.split()))


def test_where_tests_are() -> None:
    paths = (
        "tests/a.rs",
        "src/lib.rs",
        "src/tests.rs",
        "src/a_test.rs",
        "crates/x/tests/common/mod.rs",
        "tests/data/a.txt",
    )
    assert [path for path in paths if not CARGO.is_test_file(path)] == ["src/lib.rs"]


def artifact(project: Project, kind: str, name: str, source: str) -> str:
    target = {"kind": [kind], "name": name, "src_path": str(project.root / source)}
    return json.dumps(
        {
            "reason": "compiler-artifact",
            "manifest_path": str(project.root / "Cargo.toml"),
            "target": target,
            "profile": {"test": True},
            "executable": f"/t/{name}-1",
        }
    )


def error(project: Project, kind: str, name: str, source: str, rendered: str, package: str = ".") -> str:
    target = {"kind": [kind], "name": name, "src_path": str(project.root / source)}
    said = {"level": "error", "rendered": rendered}
    manifest = str(project.root / package / "Cargo.toml")
    return json.dumps({"reason": "compiler-message", "manifest_path": manifest, "target": target, "message": said})


def session(binary: str, code: int, *lines: str) -> list[str]:
    return [f'{{"target":"/t/{binary}"}}', *lines, f'{{"target":"/t/{binary}","code":{code}}}']


def harness_line(name: str, event: str, **more: str) -> str:
    return '{ "type": "test", "event": "%s", "name": "%s"%s }' % (  # noqa: UP031  # as the harness writes it
        event,
        name,
        "".join(f', "{key}": {json.dumps(value)}' for key, value in more.items()),
    )


def end(passed: int, failed: int, ignored: int = 0) -> str:
    word = "failed" if failed else "ok"
    return (
        f'{{ "type": "suite", "event": "{word}", "passed": {passed}, "failed": {failed}, "ignored": {ignored}, '
        '"measured": 0 }'
    )


def stream(*lines: str) -> bytes:
    return "\n".join(['{"selected": [], "custom": ["own"], "every": false}', *lines, ""]).encode()


NEW_PANIC = (
    "\nthread 'tests::adds' (41) panicked at src/lib.rs:5:17:\nassertion `left == right` failed: sum\n  left: 3\n"
)
OLD_PANIC = "thread 'tests::adds' panicked at 'assertion failed: `(left == right)`\n  left: `3`', src/lib.rs:5:17\n"
CODE_PANIC = "\nthread 'tests::adds' (41) panicked at src/deep/mod.rs:1:4:\nindex out of bounds: the len is 0\n"
UNWRAPPED = "\nthread 'tests::adds' (41) panicked at src/lib.rs:5:17:\ncalled `Option::unwrap()` on a `None` value\n"
FAILURES = [
    (NEW_PANIC, "in the test, src/lib.rs:5: assertion `left == right` failed: sum", True),
    (OLD_PANIC, "in the test, src/lib.rs:5: assertion failed: `(left == right)`", True),
    (CODE_PANIC, "src/deep/mod.rs:1: index out of bounds: the len is 0", False),
    (UNWRAPPED, "in the test, src/lib.rs:5: called `Option::unwrap()` on a `None` value", True),
    ('Error: "no"\n', 'Error: "no"', False),
]


@pytest.mark.parametrize(("text", "told", "asserted"), FAILURES, ids=[told for _, told, _ in FAILURES])
def test_what_a_failure_says(project: Project, text: str, told: str, asserted: bool) -> None:
    lines = session("calc_x-1", 101, harness_line("tests::adds", "failed", stdout=text), end(0, 1))
    report = CARGO.read(stream(artifact(project, "lib", "calc_x", "src/lib.rs"), *lines), project)
    (case,) = report.cases
    assert not report.problem
    assert CARGO.identify(case) == ("src/lib.rs::tests::adds", "src/lib.rs")
    assert CARGO.explain(case).partition("\n")[0] == told
    assert CARGO.asserted(case) is asserted
    assert CARGO.complete(1, report.cases, "")
    assert not CARGO.complete(0, report.cases, "")


def test_events_become_tests_of_files(project: Project) -> None:
    inline = session(
        "calc_x-1",
        0,
        harness_line("deep::er::tests::x", "ok"),
        "noise of a child" + harness_line("tests::adds", "ok"),
        harness_line("tests::later", "ignored"),
        end(2, 0, 1),
    )
    doc = [
        '{"target":"doctests"}',
        "test src/lib.rs - (line 2) ... ok",
        "test src/lib.rs - add (line 7) ... ok",
        "test src/lib.rs - add (line 17) - compile fail ... ignored",
        "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured",
        '{"target":"doctests","code":0}',
    ]
    own = session("own-1", 3, "test adds ... ok")
    built = [artifact(project, "lib", "calc_x", "src/lib.rs"), artifact(project, "test", "own", "tests/own.rs")]
    report = CARGO.read(stream(*built, *inline, *own, *doc), project)
    assert not report.problem
    assert {CARGO.identify(case)[0]: case.outcome for case in report.cases} == {
        "src/deep/er.rs::tests::x": CaseOutcome.PASSED,
        "src/lib.rs::tests::adds": CaseOutcome.PASSED,
        "src/lib.rs::tests::later": CaseOutcome.SKIPPED,
        "tests/own.rs::main": CaseOutcome.FAILED,
        "src/lib.rs::doctest": CaseOutcome.PASSED,
        "src/lib.rs::doctest add": CaseOutcome.PASSED,
        "src/lib.rs::doctest add #2": CaseOutcome.SKIPPED,
    }


LIES = [
    [harness_line("adds", "ok"), harness_line("fails", "ok"), end(1, 0)],
    [harness_line("adds", "ok"), end(1, 0), end(1, 0)],
]


@pytest.mark.parametrize("lines", LIES)
def test_a_binary_must_agree_with_itself(project: Project, lines: list[str]) -> None:
    data = stream(artifact(project, "test", "it", "tests/it.rs"), *session("it-1", 0, *lines))
    assert CARGO.read(data, project).problem


def test_a_binary_that_ended_early_is_told(project: Project) -> None:
    lines = session("it-1", 0, harness_line("adds", "started"))
    report = CARGO.read(stream(artifact(project, "test", "it", "tests/it.rs"), *lines), project)
    told = "the test binary ended before its tests were through (exit code 0)"
    assert [(CARGO.identify(case)[0], case.message) for case in report.cases] == [
        ("tests/it.rs::adds", told),
        ("tests/it.rs", told),
    ]
    assert [CARGO.classify(case, project) for case in report.cases] == [FailureKind.OTHER, FailureKind.COLLECTION]


@pytest.mark.parametrize(
    ("code", "others", "said", "crashed"),
    [
        (134, (), "free(): invalid pointer", True),
        (3, (), "", True),
        (134, ("rests",), "thread 'adds' (7) has overflowed its stack", True),
        (134, ("rests",), "thread 'adds' has overflowed its stack", True),
        (134, ("rests",), "thread 'other' has overflowed its stack", False),
        (139, ("rests",), "", False),
        (137, (), "", False),
        (0, (), "", False),
    ],
)
def test_a_test_that_crashed_failed_for_a_reason(
    project: Project, code: int, others: tuple[str, ...], said: str, crashed: bool
) -> None:
    begun = [harness_line(name, "started") for name in ("adds", *others)]
    lines = session("it-1", code, *begun, *said.split("\n"))
    cases = CARGO.read(stream(artifact(project, "test", "it", "tests/it.rs"), *lines), project).cases
    kinds = {CARGO.identify(case)[0]: CARGO.classify(case, project) for case in cases}
    found, lost = FailureKind.ASSERTION_OR_EXCEPTION, {f"tests/it.rs::{name}": FailureKind.OTHER for name in others}
    whole = {} if crashed else {"tests/it.rs": FailureKind.COLLECTION}
    assert kinds == {"tests/it.rs::adds": found if crashed else FailureKind.OTHER, **lost, **whole}
    assert not any(CARGO.asserted(case) for case in cases)


def test_a_target_that_was_not_built_is_a_case_for_each_file_with_tests(project: Project) -> None:
    said = "error[E0432]: unresolved import `crate::sub`\n --> src/lib.rs:1:5\n"
    report = CARGO.read(stream(error(project, "lib", "calc_x", "src/lib.rs", said)), project)
    found = {CARGO.identify(case)[0]: CARGO.classify(case, project) for case in report.cases}
    red = FailureKind.FIRST_PARTY_IMPORT
    assert found == {"src/lib.rs": red, "src/deep/er.rs": red, "tests/it.rs": red}


def test_a_test_file_that_two_packages_share_has_the_errors_of_one(project: Project) -> None:
    said = ["error[E0432]: unresolved import `calc_x::sub`", "error[E0432]: unresolved import `rand`"]
    lines = [
        error(project, "test", "it", "tests/it.rs", text, package) for text, package in zip(said, "ab", strict=True)
    ]
    (case,) = [case for case in CARGO.read(stream(*lines), project).cases if case.file == "tests/it.rs"]
    assert case.text == said[0]


BUILDS = [
    ("error[E0432]: unresolved import `calc_x::sub`\n --> tests/it.rs:1:5\n", FailureKind.FIRST_PARTY_IMPORT),
    ("error[E0432]: unresolved import `std::nothing`\n --> tests/it.rs:1:5\n", FailureKind.COLLECTION),
    (
        "error[E0432]: unresolved import `rand`\n --> tests/it.rs:3:5\n  |\n3 | use rand::Rng;\n"
        "  |     ^^^^ use of unresolved module or unlinked crate `rand`\n",
        FailureKind.THIRD_PARTY_IMPORT,
    ),
    (
        "error[E0425]: cannot find function `other` in this scope\n --> tests/it.rs:5:1\n",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    ("error[E0425]: cannot find function `x` in module `std::mem`\n --> tests/it.rs:5:1\n", FailureKind.COLLECTION),
    (
        "error[E0061]: this function takes 2 arguments but 1 argument was supplied\n --> tests/it.rs:5:1\n"
        "note: function defined here\n --> src/lib.rs:10:8\n",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
    ("error[E0308]: mismatched types\n --> tests/it.rs:5:1\n", FailureKind.COLLECTION),
    ("error: expected expression, found `;`\n --> tests/syn.rs:2:18\n", FailureKind.SYNTAX),
    (
        "error[E0432]: unresolved import `calc_x::sub`\n --> tests/it.rs:1:5\n"
        "error[E0282]: type annotations needed\n --> tests/it.rs:2:5\n"
        "error: aborting due to 2 previous errors\n",
        FailureKind.FIRST_PARTY_IMPORT,
    ),
]


@pytest.mark.parametrize(("text", "kind"), BUILDS, ids=[text.partition("\n")[0] for text, _ in BUILDS])
def test_why_something_was_not_built(project: Project, text: str, kind: FailureKind) -> None:
    assert rust_build.kind(text, Manifests(project)) is kind


def test_control_tests_stand_among_the_others() -> None:
    drawn = ("one_two_three", "two_two_one", "three_two_one", "four_one_one")
    control = CARGO.control("src/lib.rs", LIB.encode(), drawn)
    assert isinstance(control, Control)
    assert control.names == set(drawn)
    text = control.content.decode()
    assert text.index("mod tests {") < min(text.index(name) for name in drawn)
    assert CARGO.control("tests/own.rs", b"fn main() {}\n", drawn) is None


def test_the_script_names_no_file_of_this_machine(project: Project) -> None:
    assert str(project.root) not in script(project, "cargo test")
    assert cargo_script.DOCTESTS == "doctests"


@pytest.mark.parametrize("library", ["", "/no/libclock.so"])
def test_a_shifted_clock_is_for_the_tests_and_not_for_the_compiler(
    project: Project, tmp_path: Path, library: str
) -> None:
    said = script(project, "cargo test").splitlines()
    assert said[0] == 'export CLOCK_LIBRARY="$LD_PRELOAD"; unset LD_PRELOAD'
    (runner,) = (line.partition('.runner="')[2] for line in said if ".runner=" in line)
    binary = tmp_path / "own-1"
    binary.write_text('#!/bin/sh\necho "told: $LD_PRELOAD"\n')
    binary.chmod(0o755)
    argv = [*json.loads(shlex.split(runner)[0]), str(binary)]
    environment = {"CLOCK_LIBRARY": library, "PATH": os.defpath}
    ran = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert f"told: {library}" in ran.stdout.splitlines()
