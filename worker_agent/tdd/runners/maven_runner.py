"""Maven and Gradle: their commands, and the choice of single test classes (pure except for sources).

Control tests for a Java test class: methods among its own, with the annotations of its framework.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from textwrap import indent

from tree_sitter import Node

from worker_agent.tdd.runners import command_line, java_build, java_report, java_sources
from worker_agent.tdd.runners.control import Control, fill, insert_indented
from worker_agent.tdd.runners.java_sources import JavaSources, class_of
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, FailureKind, Report
from worker_agent.tdd.syntax.source import Source, parse

TESTS_LIMIT = 60
"""The most tests that are chosen singly; above, the whole classes run."""

_MAVEN_OPTIONS = (
    "-o",
    "-B",
    "-fae",
    "-Dstyle.color=never",
    "-Dmaven.test.failure.ignore=true",  # modules that need one with failing tests are tested too
    "-Dmaven.test.redirectTestOutputToFile=true",  # the log is Maven's alone
    "-Dsurefire.rerunFailingTestsCount=0",
    "-Dsurefire.skipAfterFailureCount=0",
    "-Dsurefire.printSummary=true",
    "-DfailIfNoTests=false",
    "-DfailIfNoSpecifiedTests=false",
    "-Dsurefire.failIfNoSpecifiedTests=false",
)
_MAVEN_LEFT_OUT = frozenset({"-q", "--quiet", "-ff", "--fail-fast", "-fn", "--fail-never", "-X", "--debug"})
_GRADLE_OPTIONS = ("--offline", "--no-daemon", "--continue", "--console=plain", "--no-build-cache")
_GRADLE_LEFT_OUT = frozenset({"-q", "--quiet", "-d", "--debug", "--daemon", "--scan", "--console"})
"""Gradle refuses a second `--console`."""

_MAVEN_SCRIPT = """printf '%s\\n' "$1" >"$0"; shift
find . -path '*-reports/*' -name 'TEST-*.xml' -exec rm -f {} +
{ "$@" 2>&1; echo $? >"$0.code"; } | tee "$0.log" "$0"
code=$(cat "$0.code")
if [ "$code" -eq 0 ] && grep -q 'There are test failures' "$0.log"; then code=1; fi
find . -path '*-reports/*' -name 'TEST-*.xml' | sort | while read -r file; do
printf '\\n=== report %s\\n' "$file"; cat "$file"; done >"$0"
exit "$code"
"""

_GRADLE_SCRIPT = """printf '%s\\n' "$1" >"$0"; printf '%s' "$2" >"$0.gradle"; shift 2
store=${GRADLE_RO_DEP_CACHE%/caches}; copy="$0.home"
if [ -d "$store" ] && [ -n "$GRADLE_USER_HOME" ] && [ ! -d "$GRADLE_USER_HOME" ]; then
cp -R "$store" "$copy" && chmod -R u+w "$copy" && mv "$copy" "$GRADLE_USER_HOME"; fi
{ "$@" -I "$0.gradle" 2>&1; echo $? >"$0.code"; } | tee "$0.log"
cat "$0.log" >"$0"; exit "$(cat "$0.code")"
"""

_TIMEOUT = re.compile(
    r"(?:[\w.]*TestTimedOutException|[\w.]*TimeoutException: .* timed out after|test timed out after)"
)
_ASSERTED = re.compile(
    r"(?:[\w$]+\.)*\w*(?:Assert\w*|ComparisonFailure|MultipleFailuresError|SpockComparisonFailure)\b"
)
_EXCEPTION = re.compile(r"(?:[\w$]+\.)+[\w$]*(?:Exception|Error|Throwable|Failure)\b")


class _JavaRunner(Runner):
    """The common parts of Maven and Gradle; an id is like `src/test/java/pkg/XTest.java::XTest::Inner::method[1]`."""

    programs: Collection[str]

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is below `src/test`, or its class is named like a test."""
        return java_sources.is_test_file(path)

    def error_line(self, case: Case) -> str:
        lines = [line.strip() for line in (case.text if case.name != case.file else "").splitlines() if line.strip()]
        if lines and not lines[0].startswith("at ") and (_EXCEPTION.match(lines[0]) or not case.message):
            return lines[0]
        first = case.message.strip().partition("\n")[0]
        return first or case.text.strip().partition("\n")[0]

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the compiler's errors if it was not built."""
        if case.name == case.file:
            return java_build.kind(case.text, project)
        timed_out = _TIMEOUT.search(self.error_line(case))
        return FailureKind.TIMEOUT if timed_out else FailureKind.ASSERTION_OR_EXCEPTION

    def asserted(self, case: Case) -> bool:
        """Return whether it is any AssertionError: by the report's own word, unless it names another exception."""
        if case.outcome is not CaseOutcome.FAILED:
            return False
        told = (case.error, case.text.strip(), case.message.strip())
        named = next(filter(None, map(_EXCEPTION.match, told)), None)
        return named is None or bool(_ASSERTED.fullmatch(named[0]))

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return True for 0 without failures, or 1 with some."""
        return code == int(any(case.failed for case in cases))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Return the file with two passing and two failing control methods; None if the class has more than tests."""
        framework = next((found for found in _FRAMEWORKS if found[0].search(content)), None)
        if not path.endswith(".java") or framework is None:
            return None
        _, annotation, assertions = framework
        words = [_camel(name, "" if annotation else "test") for name in names[:4]]
        for index, word in enumerate(words):
            body = fill(secrets.choice(_PASSING if index < 2 else _FAILING), names[index], assert_=assertions)
            head = f"{annotation}\n" if annotation else ""
            laid = _insert_method(path, content, f"{head}public void {word}() {{\n{indent(body, '    ')}\n}}\n")
            if laid is None:
                return None
            content = laid
        return Control.of(path, content, words)

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the program's name or its wrapper's, also behind `env`."""
        return command_line.called_at(argv, self.programs, ("env", "sh", "bash"))


class MavenRunner(_JavaRunner):
    """The runner of any command in which Maven is called; Surefire runs the tests."""

    name = "Maven"
    programs = frozenset({"mvn", "mvnw", "mvnd"})

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a `pom.xml` at the root."""
        return "mvn test" if "pom.xml" in paths else None

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command`, offline and complete; Maven's log and Surefire's files go to `call.report`."""
        argv, at = self.split(test_command)
        kept = [word for word in argv[at + 1 :] if word not in _MAVEN_LEFT_OUT]
        maven = (*argv[: at + 1], *kept, *_MAVEN_OPTIONS, *_surefire(call.selection, call.project))
        return ("/bin/sh", "-c", _MAVEN_SCRIPT, str(call.report), _header(call.selection), *maven)

    def parse(self, data: bytes, project: Project) -> Report:
        """Read the log, then Surefire's files."""
        return java_report.read_maven(data, project)


class GradleRunner(_JavaRunner):
    """The runner of any command in which Gradle is called."""

    name = "Gradle"
    programs = frozenset({"gradle", "gradlew"})

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command for a build script or settings at the root; with the wrapper if there is one."""
        names = {"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}
        if names.isdisjoint(paths):
            return None
        return "./gradlew test" if "gradlew" in paths else "gradle test"

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command`, offline and complete; Gradle writes each test to `call.report`, then its log."""
        argv, at = self.split(test_command)
        kept = _gradle_words(argv[at + 1 :])
        patterns = json.dumps(list(_patterns(call.selection)))
        script = java_report.GRADLE_INIT.replace("REPORT", json.dumps(str(call.report))).replace("PATTERNS", patterns)
        gradle = (*argv[: at + 1], *kept, *_GRADLE_OPTIONS)
        return ("/bin/sh", "-c", _GRADLE_SCRIPT, str(call.report), _header(call.selection), script, *gradle)

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """Return the variable for one Gradle directory for all runs of an item."""
        return {} if call.caches is None else {"GRADLE_USER_HOME": str(call.caches / "gradle")}

    def parse(self, data: bytes, project: Project) -> Report:
        """Read Gradle's own lines, then its log."""
        return java_report.read_gradle(data, project)


def _gradle_words(words: Sequence[str]) -> Iterator[str]:
    """Yield the words of a call of Gradle without those that are left out, and without the value of `--console`."""
    rest = iter(words)
    for word in rest:
        name = word.partition("=")[0]
        if name not in _GRADLE_LEFT_OUT:
            yield word
        elif word == "--console":
            next(rest, None)


def _header(selection: Selection | None) -> str:
    return json.dumps({"selected": sorted(selection.files) if selection is not None else []})


def _surefire(selection: Selection | None, project: Project) -> Iterator[str]:
    """Yield the options that let only the selected classes run, in their modules and those that these need."""
    if selection is None:
        return
    classes = _methods(selection)
    chosen = []
    for name, methods in sorted(classes.items()):
        path = name.replace(".", "/")
        chosen.append(f"{path}*#{'+'.join(f'{method}*' for method in sorted(methods))}" if methods else f"{path}*")
    if chosen:
        yield f"-Dtest={','.join(chosen)}"
    sources = JavaSources(project)
    modules = {sources.module_of(path) for path in selection.files}
    if len(sources.modules) > 1 and modules and "" not in modules:
        yield from ("-pl", ",".join(sorted(modules)), "-am")


def _patterns(selection: Selection | None) -> Iterator[str]:
    """Yield the same for Gradle's filter."""
    if selection is None:
        return
    for name, methods in sorted(_methods(selection).items()):
        yield from (f"{name}.{method}*" for method in sorted(methods)) if methods else (f"{name}*",)


def _methods(selection: Selection) -> dict[str, set[str]]:
    """Map each class to its wanted methods; empty for all of them: if there are too many, or nested classes."""
    tested = [path for path in selection.files if path.endswith(java_sources.SUFFIXES)]
    found: dict[str, set[str]] = {class_of(path): set() for path in tested}
    for test in selection.tests if len(selection.tests) <= TESTS_LIMIT else ():
        file, _, name = test.partition("::")
        method = name.rpartition("::")[2].partition("[")[0]
        if name.count("::") > 1 or not re.fullmatch(r"\w+", method):
            return {class_of(path): set() for path in tested}
        found.setdefault(class_of(file), set()).add(method)
    return found


_FRAMEWORKS = (
    (
        re.compile(rb"import (?:static )?org\.junit\.jupiter\."),
        "@org.junit.jupiter.api.Test",
        "org.junit.jupiter.api.Assertions",
    ),
    (re.compile(rb"import (?:static )?org\.testng\."), "@org.testng.annotations.Test", "org.testng.Assert"),
    (re.compile(rb"import (?:static )?org\.junit\."), "@org.junit.Test", "org.junit.Assert"),
    (re.compile(rb"import junit\.framework\."), "", "junit.framework.Assert"),
)
"""Test frameworks: the import that shows one, its annotation of a test, and its class of assertions."""

_PASSING = (
    "int {a} = {number};\n{assert_}.assertEquals({more}, {a} + 1);",
    '{assert_}.assertTrue("{b}".length() < {number}00);',
)
_FAILING = (
    "int {a} = {number};\n{assert_}.assertEquals({more}, {a});",
    '{assert_}.assertTrue("{b}".isEmpty());',
    'String {a} = "{b}";\n{assert_}.assertEquals({number}00, {a}.length());',
)


def _camel(name: str, lead: str) -> str:
    first, *rest = name.split("_")
    words = [lead, first.title(), *map(str.title, rest)] if lead else [first, *map(str.title, rest)]
    return "".join(words)


def _insert_method(path: str, content: bytes, method: str) -> bytes | None:
    source = parse(path, content)
    body = None if source is None else _class_body(source, PurePosixPath(path).stem)
    if body is None:
        return None
    places = [_start(node) for node in body.named_children if node.type == "method_declaration"]
    at = secrets.choice(places) if places else body.end_byte - 1
    before = content[content.rfind(b"\n", 0, at) + 1 : at] if places else b""
    return insert_indented(content, at, method, before if not before.strip() else b"    ")


def _class_body(source: Source, name: str) -> Node | None:
    """Return the body of the class that the file is named for, unless it is abstract."""
    for node in source.root.named_children:
        named = node.child_by_field_name("name")
        if node.type == "class_declaration" and named is not None and source.text(named) == name:
            modifiers = next((source.text(child) for child in node.children if child.type == "modifiers"), "")
            return None if re.search(r"\babstract\b", modifiers) else node.child_by_field_name("body")
    return None


def _start(node: Node) -> int:
    """Return the start of a method, its comment included."""
    above = node.prev_sibling
    if above is not None and above.type in {"block_comment", "line_comment"}:
        beside = above.prev_sibling is not None and above.prev_sibling.end_point[0] == above.start_point[0]
        return node.start_byte if beside else above.start_byte
    return node.start_byte
