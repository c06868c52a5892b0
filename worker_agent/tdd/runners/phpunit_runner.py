"""PHPUnit: its command and the reading of its JUnit report (tried with 9.6; from 10 on by its documentation).

A file that cannot be loaded ends the whole run before there is a report: each test file of it is lost. Control tests
for a PHP file: methods at random places of a class of tests.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from tree_sitter import Node

from worker_agent.tdd.runners import junit
from worker_agent.tdd.runners.control import Control, expression, insert_texts
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, FailureKind, Report

_OPTIONS = ("--colors=never", "--order-by=default", "--do-not-cache-result", "--no-coverage")
NAMES_LIMIT = 200
"""The most tests that `--filter` names singly; above, it names only their classes."""

_FATAL = re.compile(r"^(?:PHP )?(?:Fatal|Parse) error: .*|^An error occurred inside PHPUnit\.?.*", re.MULTILINE)
_NO_CLASS = re.compile(r"(?:Class|Interface|Trait|Enum) ['\"]([\w\\]+)['\"] not found")
_NO_NAME = re.compile(
    r"Call to undefined (?:method|function)|[Uu]ndefined (?:class )?constant|Undefined property|Unknown named parameter"
)
_SYNTAX = re.compile(r"ParseError|Parse error|syntax error")
_PROVIDER = re.compile(r"data provider specified for (?:[\w\\]+\\)?(\w+)::(\w+) is invalid")
_DOUBTED = re.compile(r"Risky|(?<!\\Error\\)Warning")
"""Words of PHPUnit's own doubts; `PHPUnit\\Framework\\Error\\Warning` is a warning of PHP in the code: a failure."""
_PASSED_WITH_DOUBT = CaseOutcome.SKIPPED
_FAILED = frozenset({1, 2})
"""The exit codes with failures and with errors."""
_CRASHED = 255


class PhpunitRunner(Runner):
    """The runner of any command in which phpunit is called by its name; PHPUnit itself tells failures from errors.

    An id is like `tests/SumTest.php::SumTest::testAdds with data set "one"`.
    """

    name = "phpunit"

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command by its configuration, or its package in composer.json."""
        composed = b"phpunit/phpunit" in (read("composer.json") or b"")
        configured = not {"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}.isdisjoint(paths)
        return ("vendor/bin/phpunit" if composed else "phpunit") if composed or configured else None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `phpunit`, `vendor/bin/phpunit` or `phpunit.phar`: first, or after a mere starter."""
        for at, word in enumerate(argv):
            if re.fullmatch(r"(?:simple-)?phpunit(?:[-.\d]*)(?:\.phar)?", PurePosixPath(word).name):
                return at
            if not re.fullmatch(r"env|php[\d.]*|-.*|\w+=.*|\w+", PurePosixPath(word).name):
                return None
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*Test.php`, `*.phpt`, or PHP in a directory of tests."""
        file = PurePosixPath(path)
        below = not {"test", "tests", "Test", "Tests"}.isdisjoint(file.parts[:-1])
        return file.name.endswith("Test.php") or file.suffix == ".phpt" or below

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with the report, in one order, never from a cache: the last of two options counts."""
        argv, _ = self.split(test_command)
        filtered = any(word == "--filter" or word.startswith("--filter=") for word in argv)
        chosen = ("--filter", _filter(call.selection)) if call.selection and not filtered else ()
        return (*argv, "--log-junit", str(call.report), *_OPTIONS, *chosen)

    def parse(self, data: bytes, project: Project) -> Report:
        """Read JUnit XML; a test that PHPUnit calls risky proves nothing."""
        report = junit.read(data, project)
        return replace(report, cases=tuple(map(_clear, report.cases)))

    def unreported(self, reported: Sequence[Case], code: int, output_tail: str, call: Invocation) -> Report | None:
        """Return all files if one of them could not be loaded."""
        fatal = _FATAL.search(output_tail)
        if reported or fatal is None or code not in {2, _CRASHED}:
            return None
        text = output_tail[fatal.start() :]
        error = Case("", "", "", CaseOutcome.ERROR, text[:MESSAGE_LIMIT], text[:MESSAGE_LIMIT])
        return self.lose_files(call, error, lambda path: path.endswith("Test.php"))

    def error_line(self, case: Case) -> str:
        """Return the error as PHP reports it: the first line is the test's name."""
        lines = [line.strip() for line in (case.message or case.text).splitlines() if line.strip()]
        if case.name == case.file:
            telling = (
                line for line in lines if _NO_CLASS.search(line) or _NO_NAME.search(line) or _SYNTAX.search(line)
            )
            return next(telling, lines[0] if lines else "")
        told = [line for line in lines if not line.endswith(f"::{case.name}") and not _PROVIDER.search(line)]
        told = [line for line in told if not re.match(r"[\w\\]+::\w+(?: with data set .*)?$|Error$", line)]
        return told[0] if told else ""

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind: own classes, functions and constants that are missing, apart from those of packages."""
        error = self.error_line(case)
        missing = _NO_CLASS.search(error)
        if missing:
            return FailureKind.FIRST_PARTY_IMPORT if _is_own(missing[1], project) else FailureKind.THIRD_PARTY_IMPORT
        if case.name != case.file:
            return FailureKind.ASSERTION_OR_EXCEPTION
        if _NO_NAME.search(error):
            return FailureKind.FIRST_PARTY_IMPORT
        return FailureKind.SYNTAX if _SYNTAX.search(error) else FailureKind.COLLECTION

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether it reported tests, and its exit code agrees; a risky test may cause a failure code."""
        if any(case.failed for case in cases):
            return code in _FAILED or (code == _CRASHED and all(case.name == case.file for case in cases))
        doubted = any(_DOUBTED.search(case.error) for case in cases)
        nothing = not cases and "No tests executed" in output_tail
        return (bool(cases) and (code == 0 or (code in _FAILED and doubted))) or (nothing and code in {0, 1})

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with two passing and two failing control methods; None if no class can take them."""
        from worker_agent.tdd.syntax.source import parse  # grammars are loaded when a file is parsed

        source = parse(path, content) if path.endswith(".php") else None
        places = [] if source is None else _places(source.root)
        if not places:
            return None
        words = ["test" + name.title().replace("_", "") for name in names[:4]]
        laid = []
        for index, word in enumerate(words):
            name = word.removeprefix("test").lower()
            first, last = name[: 3 + secrets.randbelow(4)], name[-(3 + secrets.randbelow(4)) :]
            left, right = expression(_LEFT, first, last, index < 2)
            method = (
                f"public function {word}(): void\n    {{\n        $this->assertSame({right}, {left});\n    }}\n\n    "
            )
            laid.append((secrets.choice(places), method))
        return Control.of(path, insert_texts(content, laid), words)


def _filter(selection: Selection) -> str:
    """Return the filter: classes are named like their files; single tests unless there are too many."""
    classes = "|".join(sorted({re.escape(PurePosixPath(path).stem) for path in selection.files})) or "(?!)"
    names = {test.rpartition("::")[2].partition(" with data set ")[0] for test in selection.tests}
    single = names and len(names) <= NAMES_LIMIT and all(re.fullmatch(r"\w+", name) for name in names)
    tests = f"(?:{'|'.join(sorted(names))})(?: with data set .*)?$" if single else ""
    return f"/(?:^|\\\\)(?:{classes})::{tests}/s"


def _clear(case: Case) -> Case:
    """Return a case under the name of its test: a failing provider has none, a risky test has not passed."""
    case = replace(case, classname=re.split(r"[\\.]", case.classname)[-1])
    provider = _PROVIDER.search(case.text)
    if provider:
        return replace(case, classname=provider[1], name=provider[2], outcome=CaseOutcome.ERROR)
    if case.outcome is CaseOutcome.ERROR and _DOUBTED.search(case.error):
        return replace(case, outcome=_PASSED_WITH_DOUBT)
    return case


def _is_own(name: str, project: Project) -> bool:
    """Return whether a class is own: in a namespace that composer.json maps; without a map, all not installed ones."""
    known = _namespaces(project)
    return "\\" not in name or not known or any(name.startswith(prefix) for prefix in known)


def _namespaces(project: Project) -> set[str]:
    try:
        composer = json.loads(project.text("composer.json") or "{}")
        return {
            prefix for part in ("autoload", "autoload-dev") for prefix in (composer.get(part) or {}).get("psr-4") or ()
        }
    except (ValueError, AttributeError, TypeError, RecursionError):
        return set()


_LEFT = ("{number} + 1", "strlen('{a}') + {rest}", "count(['{a}', '{b}']) + {less}")
_NEEDS = frozenset({"setup", "setupbeforeclass", "__construct", "teardown"})


def _places(root: Node) -> list[int]:
    """Return the starts of methods with their comments; those of classes that need a set-up last."""
    free: list[int] = []
    others: list[int] = []
    for node in _classes(root):
        body = node.child_by_field_name("body")
        methods = [part for part in body.named_children if part.type == "method_declaration"] if body else []
        named = {_text(part.child_by_field_name("name")).lower() for part in methods}
        (others if named & _NEEDS else free).extend(_start(part) for part in methods)
    return free or others


def _classes(root: Node) -> Iterator[Node]:
    """Yield the classes that extend a `...TestCase` and can have tests."""
    pending = list(root.named_children)
    while pending:
        node = pending.pop(0)
        if node.type in {"namespace_definition", "compound_statement"}:
            pending.extend(node.named_children)
        parts = {child.type: child for child in node.children} if node.type == "class_declaration" else {}
        if "abstract_modifier" not in parts and _text(parts.get("base_clause")).endswith("TestCase"):
            yield node


def _start(method: Node) -> int:
    """Return the place before a method and the comments that belong to it."""
    node = method
    while node.prev_named_sibling is not None and node.prev_named_sibling.type == "comment":
        node = node.prev_named_sibling
    return node.start_byte


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
