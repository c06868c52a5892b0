"""The common parts of the runners of JavaScript and TypeScript (pure).

Also the kinds of the errors of JavaScript and TypeScript tests, whichever program runs them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from worker_agent.tdd.runners import command_line, control_javascript, json_report, package_scripts
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.junit import stable
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Read, Runner, Selection
from worker_agent.tdd.runners.test_run import Case, FailureKind, Report, TestId
from worker_agent.tdd.test_file_names import JAVASCRIPT

_PASS_OPTIONS_ON = frozenset({"npx", "pnpm", "yarn", "bunx", "node", "env", "pnpx"})
"""Programs that run another one with all words after its name."""

_KNOWN = ("vitest", "jest", "mocha")
_TEST_FILE = re.compile(JAVASCRIPT)
_BESIDE_TESTS = frozenset({"__tests__", "__snapshots__", "__mocks__", "__fixtures__"})
SCRIPT = re.compile(r"\.[cm]?[jt]sx?")
"""The end of the name of a file of code."""
NO_ARGUMENTS = "process.argv.splice(2);\n"
"""The first statement of a reporter, which is loaded before any test.

The one process may run the tests as well: they then see no arguments, as in a worker process, and not the report's
path.
"""


class JavaScriptRunner(Runner):
    """A program that is called by its `name`, which is its package's name too."""

    default_command: str
    options: tuple[str, ...] = ()
    style: Style = Style()

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """Return the command: from the test script if that calls it, else by its package or configuration file."""
        package = read("package.json")
        scripts = package_scripts.commands(("npm", "test"), package)
        mine = next((found for script in scripts if (found := self.called_by(script))), None)
        if mine or any(name in command_line.split(script) for script in scripts for name in _KNOWN):
            return mine
        return self.default_command if self.present(paths, package) else None

    def present(self, paths: Collection[str], package: bytes | None) -> bool:
        """Return whether package.json names the package, or a configuration file of it is there."""
        named = any(PurePosixPath(path).name.startswith((f"{self.name}.config.", f".{self.name}rc")) for path in paths)
        return named or self.name in _packages(package)

    def called_by(self, script: str) -> str | None:
        """Return the part of a package's script that calls the program, without wrappers around it."""
        words = command_line.split(script)
        variables = words[1 : 1 + sum("=" in word for word in words[1:])] if words[0] == "env" else ()
        for start in range(len(words)):
            rest = words[start:]
            if rest[0] != "env" and self.runs(rest):
                called = ("npx", "--no", *rest) if rest[0] == self.name else rest
                return package_scripts.joined((*variables, *called))
        return None

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of the program's name: the first word, or after a program that passes options on."""
        for index, word in enumerate(argv):
            name = re.sub(r"\.[cm]?js$", "", PurePosixPath(word).name)
            if name in {self.name, f"_{self.name}"}:
                return index
            if not index and name not in _PASS_OPTIONS_ON:
                return None
        return None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is `*.test.*`, `*.spec.*`, a snapshot, or in a directory of tests."""
        file = PurePosixPath(path)
        return (
            bool(_TEST_FILE.fullmatch(file.name))
            or file.suffix in {".snap", ".snapshot"}
            or not _BESIDE_TESTS.isdisjoint(file.parts[:-1])
        )

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return `test_command` with options for a whole, reported run; as in CI, no snapshot is written."""
        argv, called = self.split(test_command)
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        chosen = self.chosen(call.selection, call.project) if call.selection else ()
        return ("env", "CI=true", *argv[:end], *self.options, *self.reporting(call), *chosen, *argv[end:])

    def reporting(self, call: Invocation) -> tuple[str, ...]:
        """Return the arguments that send the report to its place."""
        return (f"--outputFile={call.report}",)

    def chosen(self, selection: Selection, project: Project) -> tuple[str, ...]:
        """Return the arguments that let only the selected files run."""
        return tuple(sorted(selection.files))

    def parse(self, data: bytes, project: Project) -> Report:
        """Read jest's JSON."""
        return json_report.read_jest(data, project)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """Return an id like `src/sum.test.js::block > inner::title`, and the file; an unrunnable file is its own id."""
        if case.name == case.file and not case.classname:
            return case.file, case.file
        return "::".join(part for part in (case.file, stable(case.classname), stable(case.name)) if part), case.file

    def error_line(self, case: Case) -> str:
        """Return the line that names the error, else the first line with text."""
        lines = _COLOURS.sub("", case.message or case.text).splitlines()
        named = next((line.strip() for line in lines if _NAMED.match(line)), "") if case.name == case.file else ""
        return named or next((line.strip() for line in lines if not _HEADING.match(line)), "")

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind by the error's first lines; imports tell own files from packages."""
        error, line = _COLOURS.sub("", case.message or case.text)[:2000], self.error_line(case)
        if _TIMEOUT.search(line):
            return FailureKind.TIMEOUT
        missing = _missing_module(error, line)
        if missing:
            return FailureKind.FIRST_PARTY_IMPORT if _belongs(missing, project) else FailureKind.THIRD_PARTY_IMPORT
        if case.name != case.file or case.classname:
            return FailureKind.ASSERTION_OR_EXCEPTION
        return _kind_of_file(error)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether report and exit code agree; the report is written at the very end."""
        if not cases:
            return code in {0, 1} and "No test" in output_tail
        return super().complete(code, cases, output_tail)

    def asserted(self, case: Case) -> bool:
        """Return whether it is an AssertionError, or thrown by `expect` or a project's own matchers."""
        frame = _FRAME.search(case.message or case.text)
        by_type = case.error in {"AssertionError", "ERR_ASSERTION"}
        return by_type or bool(_ASSERTED.match(self.error_line(case))) or bool(frame and _OF_EXPECT.search(frame[0]))

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        return control_javascript.control(path, content, names, self.style)


def _packages(content: bytes | None) -> set[str]:
    try:
        package = json.loads(content or b"{}")
        return {name for part in ("dependencies", "devDependencies") for name in package.get(part) or ()} | set(package)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return set()


_MISSING = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to resolve import|Failed to load url|Could not locate module"
    r"|Could not resolve|Cannot resolve module|Failed to resolve entry for package)"
    r" ['\"]?([^'\"\s]+)"
)
_NOT_EXPORTED_PATH = re.compile(
    r"(?:Missing \"[^\"]*\" specifier in \"([^\"]+)\" package"
    r"|Package subpath '[^']*' is not defined by \"exports\" in (\S+?)(?:/package\.json)?(?: imported|$))"
)
_NO_EXPORT = re.compile(r"The requested module '([^']+)' does not provide an export named")
_OWN = re.compile(r"\.{0,2}/|@/|~|#|src/|file:")
"""The beginning of imports of the repository's own files, with aliases of usual bundlers."""

_TYPE_MISSING = re.compile(
    r"\bTS(?:2305|2339|2304|2551|2552|2614|2724): |\bTS(2307): Cannot find module '([^']+)'", re.MULTILINE
)
"""ts-jest: an export, a property or a name that does not exist, or a module (2307)."""
_TYPE_ERROR = re.compile(r"\bTS\d{4,5}: ")
_TYPE_SYNTAX = re.compile(r"\bTS1\d{3}: ")
"""Errors in a file that is no TypeScript; other errors in it follow from that."""
_UNDEFINED = re.compile(
    r"TypeError: .*(?:is not a function|is not a constructor|is not iterable|of undefined|undefined is not|"
    r"undefined or null|Class extends value undefined)|ReferenceError: (\w+) is not defined"
)
_OF_THE_RUNNER = frozenset(
    {
        *("describe", "context", "suite", "it", "test", "expect", "assert", "jest", "vi", "beforeEach", "afterEach"),
        *("beforeAll", "afterAll", "before", "after", "require", "module", "exports", "__dirname", "__filename"),
    }
)
_SYNTAX = re.compile(
    r"SyntaxError|unexpected token|Failed to parse|invalid JS syntax|Transform failed|Parse failure|\bTS1\d{3}: ", re.I
)
_TIMEOUT = re.compile(
    r"Test timed out in|Exceeded timeout of|Hook timed out in|Timeout of \d+ms exceeded|timed out after"
)
_NAMED = re.compile(r"\s*(?:[A-Z]\w*Error|Error)(?: \[\w+\])?: ")
_HEADING = re.compile(r"^\s*●.*$|^\s*$")
_ASSERTED = re.compile(
    r"\w*Assert\w*Error|ExpectationError|TestingLibraryElementError|Error: Unsatisfied verification|Error: expect\("
    r"|expect\(|expected |Error: (?:Snapshot|Expected|expected )|Snapshot |Jest: |Error: promise (?:resolved|rejected)"
)
_DEPTH = 3
"""The most nested directories in which packages of the repository are looked for."""

_ALIAS = re.compile(r'"([^"*]+?)(?:/\*)?"\s*:\s*\[')
_FRAME = re.compile(r"^\s+at .*$", re.MULTILINE)
_OF_EXPECT = re.compile(
    r"expectWrapper|node_modules/(?:@vitest/expect|@jest/expect|expect|chai)/"
    r"|at Object\.to(?!String\b|JSON\b)[A-Z]\w* \("
)
"""The place where a matcher threw: its own file, or its name, which is all that jest leaves of it."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _missing_module(error: str, line: str) -> str:
    """Return the module that was not found, or that lacks an export."""
    export = _NO_EXPORT.search(error)
    if export:
        return export[1]
    path = _NOT_EXPORTED_PATH.search(error)
    if path:
        return path[1] or path[2]
    found = _MISSING.search(line) or re.search(rf"^(?:Error|.*\[ERR_\w+\]): {_MISSING.pattern}", error, re.MULTILINE)
    return found[1] if found else ""


def _kind_of_file(error: str) -> FailureKind:
    if _TYPE_SYNTAX.search(error):
        return FailureKind.SYNTAX
    types = _TYPE_MISSING.search(error)
    if types:
        third = bool(types[2]) and not _OWN.match(types[2])
        return FailureKind.THIRD_PARTY_IMPORT if third else FailureKind.FIRST_PARTY_IMPORT
    undefined = _UNDEFINED.search(error)
    if undefined and undefined[1] not in _OF_THE_RUNNER:
        return FailureKind.FIRST_PARTY_IMPORT
    return FailureKind.SYNTAX if _SYNTAX.search(error) and not _TYPE_ERROR.search(error) else FailureKind.COLLECTION


def _belongs(module: str, project: Project) -> bool:
    """Return whether an import names a file of the repository, by its path or by a package's own name."""
    if "node_modules/" in module:
        return False
    if _OWN.match(module):
        return True
    return any(module == name or module.startswith(f"{name}/") for name in _own_names(project))


def _own_names(project: Project) -> frozenset[str]:
    """Return the names of the repository's packages, and the aliases of its TypeScript configuration."""
    found: set[str] = set()
    for path in project.paths:
        name = path.rpartition("/")[2]
        if path.count("/") > _DEPTH or name not in {"package.json", "tsconfig.json", "tsconfig.base.json"}:
            continue
        text = project.text(path)
        found |= {_package_name(text)} if name == "package.json" else set(_ALIAS.findall(_paths(text)))
    return frozenset(found - {""})


def _package_name(text: str) -> str:
    try:
        name = json.loads(text or "{}").get("name")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


def _paths(text: str) -> str:
    """Return the part of a tsconfig that names paths; such files have comments, so they are not quite JSON."""
    return text.partition('"paths"')[2].partition("}")[0]
