"""Rust: the command `cargo test` and the reading of its report (pure except for sources of the checkout).

Control tests for a Rust file: functions among the tests of a module, or at the top level of an integration test.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from textwrap import indent

from tree_sitter import Node

from worker_agent.tdd.runners import cargo_report, cargo_script, command_line, rust_build, rust_doctests
from worker_agent.tdd.runners.cargo_targets import Manifests
from worker_agent.tdd.runners.control import Control, fill, insert_indented
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.rust_doctests import attributes
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report
from worker_agent.tdd.syntax.source import Source, parse, walk

_TARGET = re.compile(r"--(?:lib|bins?|tests?|examples?|benche?s?|all-targets|doc)(?:=.*)?")
_PACKAGE = re.compile(r"--(?:workspace|all|package|exclude)(?:=.*)?|-p.*")
_LEFT_OUT = re.compile(r"--(?:no-fail-fast|no-run|message-format|quiet|verbose|target-dir|color)(?:=.*)?|-[qv]+")
_TAKES_VALUE = re.compile(
    r"--(?:bin|test|example|bench|package|exclude|message-format|target-dir|color|features|target|manifest-path|profile"
    r"|jobs|config|lockfile-path)|-[pFjZ]"
)
_HARNESS_LEFT_OUT = re.compile(r"--(?:nocapture|no-capture|show-output|quiet|format|color|logfile)(?:=.*)?|-q|-Z.*")
_HARNESS_VALUE = re.compile(r"--(?:format|color|logfile|skip|test-threads)|-Z")

TESTS_LIMIT = 60
"""The most tests for which a filter is given; above, the whole targets run."""


@dataclass
class _Words:
    """The words after `cargo test`, by their purpose."""

    options: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


class CargoRunner(Runner):
    """The runner of any command with `cargo test`; nextest writes JUnit XML, which any command may.

    An id is like `src/lib.rs::tests::adds`; the file of a target that was not built is its own id.
    """

    name = "cargo test"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a package or workspace at the root."""
        return "cargo test" if "Cargo.toml" in paths else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the word `test` of `cargo test`, also with a toolchain or behind `env`."""
        cargo = command_line.called_at(argv, ("cargo",))
        rest = [] if cargo is None else [at for at in range(cargo + 1, len(argv)) if not argv[at].startswith("+")]
        return rest[0] if rest and argv[rest[0]] in {"test", "t"} else None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is in `tests` or named like tests; inline tests are found by content alone."""
        file = PurePosixPath(path)
        named = file.suffix == ".rs" and file.stem in {"test", "tests"}
        return named or file.name.endswith(("_test.rs", "_tests.rs")) or "tests" in file.parts[:-1]

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` target by target, reporting to `call.report`."""
        argv, called = self.split(test_command)
        words = _sort_words(argv[called + 1 :])
        manifests = Manifests(call.project)
        custom = sorted(manifests.without_harness)
        every = manifests.is_virtual or not {"--workspace", "--all"}.isdisjoint(words.packages)
        files = sorted(call.selection.files) if call.selection is not None else []
        header = json.dumps({"selected": files, "custom": custom, "every": every and not files})
        chosen = _chosen_targets(call.selection, manifests)
        plan = cargo_script.CargoCall(
            cargo=argv[:called],
            options=words.options,
            packages=() if chosen else words.packages,
            targets=words.targets or ["--tests"],
            arguments=[*words.arguments, *_filters(call.selection)],
            chosen=chosen,
            doctests=_doctests(call.selection, words),
            without_harness=custom,
        )
        return ("/bin/sh", "-c", cargo_script.script(plan), str(call.report), header)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return variables: no network, the same words for each failure, one target directory for all runs."""
        quiet = {"CARGO_NET_OFFLINE": "true", "CARGO_TERM_COLOR": "never", "RUST_BACKTRACE": "0"}
        return quiet if call.caches is None else {**quiet, "CARGO_TARGET_DIR": str(call.caches / "cargo-target")}

    def parse(self, data: bytes, project: Project) -> Report:
        """Read the output of cargo and the test binaries, one after another."""
        return cargo_report.read(data, project)

    def error_line(self, case: Case) -> str:
        return case.message or rust_build.first_line(case.text)

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the compiler's errors if it was not built; documentation tests included."""
        if case.name == case.file and not case.message:
            return _why_not_built(case, project)
        if case.message.startswith(cargo_report.NOT_RUN):
            return FailureKind.COLLECTION if case.name == case.file else FailureKind.OTHER
        if case.name.startswith(rust_doctests.PREFIX) and case.message.startswith("error"):
            return _why_not_built(case, project)
        return FailureKind.ASSERTION_OR_EXCEPTION

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return True for 0 without failures, or 1 with some; a binary that left with 0 is judged by its own cases."""
        failed = [case for case in cases if case.failed]
        if code == 0:
            return all(case.message.startswith(cargo_report.NOT_RUN) for case in failed)
        return code == 1 and bool(failed)

    def asserted(self, case: Case) -> bool:
        """Return whether an assertion failed, or the test itself panicked, or did not panic although it should."""
        if case.outcome is not CaseOutcome.FAILED:
            return False
        message = case.message
        return message.startswith(cargo_report.IN_THE_TEST) or "assertion" in message or "did not panic" in message

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with two passing and two failing control tests; None if it has no tests, or errors."""
        if not path.endswith(".rs"):
            return None
        words = [f"{_prefix(content)}{name}" for name in names[:4]]
        for index, word in enumerate(words):
            body = fill(secrets.choice(_PASSING if index < 2 else _FAILING), names[index], "_value")
            changed = _insert_test(path, content, word, body)
            if changed is None:
                return None
            content = changed
        return Control.of(path, content, words)


def _why_not_built(case: Case, project: Project) -> FailureKind:
    text = case.text.replace(f"{project.root}/", "").replace(f"{project.root.resolve()}/", "")
    return rust_build.kind(text, Manifests(project))


def _sort_words(words: Sequence[str]) -> _Words:
    end = words.index("--") if "--" in words else len(words)
    found = _Words(arguments=list(_harness_arguments(words[end + 1 :])))
    rest = iter(words[:end])
    for word in rest:
        if not word.startswith("-"):
            found.arguments.append(word)  # the name of a test, as cargo hands it on
            continue
        whole = [word, *islice(rest, 1)] if _TAKES_VALUE.fullmatch(word) else [word]
        if _TARGET.fullmatch(word):
            found.targets += whole
        elif _PACKAGE.fullmatch(word):
            found.packages += whole
        elif not _LEFT_OUT.fullmatch(word):
            found.options += whole
    return found


def _harness_arguments(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of the test binaries without those that change their report."""
    rest = iter(arguments)
    for word in rest:
        whole = [word, *islice(rest, 1)] if _HARNESS_VALUE.fullmatch(word) else [word]
        yield from () if _HARNESS_LEFT_OUT.fullmatch(word) else whole


def _chosen_targets(selection: Selection | None, manifests: Manifests) -> list[tuple[str, ...]]:
    """Return the targets of a selection; empty, and so all of them, if a file's target is not known."""
    if selection is None:
        return []
    found = [manifests.targets(path) for path in sorted(selection.files) if path.endswith(".rs")]
    if not all(found):
        return []
    return sorted({target for targets in found for target in targets or ()})


def _filters(selection: Selection | None) -> list[str]:
    """Return the last parts of the selected tests' names: they may match more, never less."""
    if selection is None:
        return []
    names = {test.rpartition("::")[2] for test in selection.tests if f"::{rust_doctests.PREFIX}" not in test}
    return sorted(names) if names and len(names) <= TESTS_LIMIT and all(re.fullmatch(r"\w+", n) for n in names) else []


def _doctests(selection: Selection | None, words: _Words) -> list[str] | None:
    """Return the words that choose the documentation's tests; None if they do not run."""
    if selection is None:
        return [] if not words.targets or words.targets == ["--doc"] else None
    if not selection.tests:
        found = [path for path in sorted(selection.files) if path.endswith(".rs") and "tests" not in path.split("/")]
        return [PurePosixPath(path).name for path in found] or None
    asked = {test.partition("::")[0] for test in selection.tests if f"::{rust_doctests.PREFIX}" in test}
    return [PurePosixPath(path).name for path in sorted(asked)] or None


_PASSING = ("let {a} = {number};\nassert_eq!({a} + 1, {more});", 'let {a} = ["{b}", "{a}"];\nassert_eq!({a}.len(), 2);')
_FAILING = (
    "let {a} = {number};\nassert_eq!({a}, {more});",
    'let {a} = ["{b}", "{a}"];\nassert_eq!({a}.len(), {more});',
    'let {a} = "{b}";\nassert!({a}.is_empty());',
)


def _prefix(content: bytes) -> str:
    """Return the usual beginning of the file's test functions."""
    return "test_" if content.count(b"fn test_") * 2 > content.count(b"#[test]") else ""


def _insert_test(path: str, content: bytes, word: str, body: str) -> bytes | None:
    """Return the file with a test before one of its tests, at any place."""
    source = parse(path, content)
    tests = [] if source is None else [node for node in walk(source.root) if _is_test(source, node)]
    if source is None or not tests:
        return None
    node = secrets.choice(tests)
    start = _start(node)
    test = f"#[test]\nfn {word}() {{\n{indent(body, '    ')}\n}}\n"
    return insert_indented(content, start.start_byte, test, b" " * start.start_point[1])


def _is_test(source: Source, node: Node) -> bool:
    """Return whether a node is a test function of a module or file, not inside another function."""
    parent = node.parent
    if node.type != "function_item" or parent is None:
        return False
    module = parent.parent if parent.type == "declaration_list" else None
    within = parent.type == "source_file" or (module is not None and module.type == "mod_item")
    return within and "#[test]" in attributes(source, node)


def _start(node: Node) -> Node:
    """Return the first of the attributes and comments that belong to a function."""
    first, above = node, node.prev_sibling
    while above is not None and above.type in {"attribute_item", "line_comment"}:
        if above.type == "line_comment" and above.end_point[0] < first.start_point[0] - 1:
            break
        first, above = above, above.prev_sibling
    return first
