"""What the errors of JavaScript tests mean, and what its runners have in common (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.judging.control import Control, beside
from worker_agent.tdd.runners import command_line, json_report
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.report import Kind, TestId
from worker_agent.tdd.runners.runner import Read

_PASS_OPTIONS_ON = frozenset({"npx", "pnpm", "yarn", "bunx", "node", "env", "pnpx"})
"""Programs that run another one with whatever follows its name."""

_MISSING = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to resolve import|Failed to load url|Could not locate module)"
    r" ['\"]?([^'\"\s]+)"
)
_NO_EXPORT = re.compile(r"The requested module '([^']+)' does not provide an export named")
_OWN = re.compile(r"\.{0,2}/|@/|~|#|src/|file:")
"""How imports of the repository's own files begin, aliases of usual bundlers among them."""

_SYNTAX = re.compile(
    r"SyntaxError|unexpected token|Failed to parse|invalid JS syntax|Transform failed|Parse failure", re.I
)
_TIMEOUT = re.compile(r"Test timed out in|Exceeded timeout of|Hook timed out in")
_HEADING = re.compile(r"^\s*●.*$|^\s*$")


FAILING = """
{test}('WORD throws', () => {{ throw new Error('WORD'); }});
{test}('WORD is not', () => {{ {expect}(1).toBe(2); }});
{test}('WORD differs', () => {{ {expect}([1]).toEqual([2]); }});
"""
"""Every one of these must be reported as failed."""


class JavaScriptRunner:
    """jest and vitest: the same report, the same errors; `name` is the program and the package."""

    name: str
    default_command: str
    options: tuple[str, ...]
    failing: str
    """Tests that fail in different ways, to be added to a file; `WORD` stands in their names."""

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """The package is among those that package.json names, or a configuration file of it is there."""
        named = any(PurePosixPath(path).name.startswith(f"{self.name}.config.") for path in paths)
        return self.default_command if named or self.name in _packages(read("package.json")) else None

    def runs(self, argv: Sequence[str]) -> bool:
        """The program is called by its name, alone or by one that passes its options on."""
        return self._position(argv) is not None

    def command(self, test_command: str, report: Path) -> tuple[str, ...]:
        """`test_command` with the options that make the run whole and reported; as in CI, no snapshot is written."""
        argv = command_line.split(test_command)
        called = self._position(argv)
        if called is None:
            raise Misconfigured(f"test_command '{test_command}' does not call {self.name}.")
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        return ("env", "CI=true", *argv[:end], *self.options, f"--outputFile={report}", *argv[end:])

    def reports(self, where: Path, report: Path) -> Sequence[Path]:
        """The one file that `command` named."""
        return (report,) if report.exists() else ()

    def read(self, data: bytes, where: Path) -> Report:
        """jest's JSON."""
        return json_report.read(data, where)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`src/sum.test.js::block > inner::title`; a file that could not be run is its path."""
        if case.name == case.file and not case.classname:
            return case.file, case.file
        return "::".join(part for part in (case.file, case.classname, case.name) if part), case.file

    def explain(self, case: Case) -> str:
        """The line that names the error, then the end of the text."""
        return "\n".join(part for part in (_error(case), case.text) if part)

    def classify(self, case: Case, first_party: Collection[str]) -> Kind:
        """Read from the first lines of the error; files are told from packages by how they are imported."""
        error = case.message[:1000]
        if _TIMEOUT.search(_error(case)):
            return Kind.TIMEOUT
        missing = _NO_EXPORT.search(error) or _MISSING.search(_error(case))
        if missing:
            return Kind.FIRST_PARTY_IMPORT if _OWN.match(missing[1]) else Kind.THIRD_PARTY_IMPORT
        if case.name != case.file or case.classname:
            return Kind.ASSERTION_OR_EXCEPTION
        return Kind.SYNTAX if _SYNTAX.search(error) else Kind.COLLECTION

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """The report is written at the very end, so whoever wrote one went there."""
        return code in {0, 1}

    def control(self, near: str, text: str, word: str) -> Control | None:
        """The same file once more with tests that fail: each file has matchers of its own, which code may replace."""
        if not re.search(r"\.(?:test|spec)\.[cm]?[jt]sx?$", near):
            return None
        return Control(beside(near, word), word, f"{text}\n{self.failing.replace('WORD', word)}")

    def _position(self, argv: Sequence[str]) -> int | None:
        for index, word in enumerate(argv):
            name = PurePosixPath(word).name.removesuffix(".js").removesuffix(".mjs")
            if name == self.name:
                return index
            if not index and name not in _PASS_OPTIONS_ON:
                return None
        return None


def _packages(content: bytes | None) -> set[str]:
    try:
        package = json.loads(content or b"{}")
        return {name for part in ("dependencies", "devDependencies") for name in package.get(part) or ()} | set(package)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return set()


def _error(case: Case) -> str:
    """The first line that says something."""
    return next((line.strip() for line in case.message.splitlines() if not _HEADING.match(line)), "")
