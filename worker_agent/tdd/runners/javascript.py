"""What the runners of JavaScript and TypeScript have in common (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from shared.errors import Misconfigured
from worker_agent.tdd.runners import command_line, control_javascript, javascript_errors, json_report, package_scripts
from worker_agent.tdd.runners.control import Control
from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.junit import Case, Report
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import Kind, Outcome, TestId
from worker_agent.tdd.runners.runner import Invocation, Read, Selection
from worker_agent.tdd.runners.stable_names import stable

_PASS_OPTIONS_ON = frozenset({"npx", "pnpm", "yarn", "bunx", "node", "env", "pnpx"})
"""Programs that run another one with whatever follows its name."""

_KNOWN = ("vitest", "jest", "mocha")
_TEST_FILE = re.compile(r".*\.(?:test|spec|test-d)\.[cm]?[jt]sx?")
_BESIDE_TESTS = frozenset({"__tests__", "__snapshots__", "__mocks__", "__fixtures__"})
SCRIPT = re.compile(r"\.[cm]?[jt]sx?")
"""The end of the name of a file of code."""


class JavaScriptRunner:
    """A program that is called by its `name`, which is that of its package too."""

    name: str
    default_command: str
    options: tuple[str, ...] = ()
    style: Style = Style()

    def detect(self, paths: Collection[str], read: Read) -> str | None:
        """It is what the test script calls, or else the one whose package or configuration file is there."""
        package = read("package.json")
        scripts = package_scripts.commands(("npm", "test"), package)
        mine = next((found for script in scripts if (found := self.called_by(script))), None)
        if mine or any(name in command_line.split(script) for script in scripts for name in _KNOWN):
            return mine
        return self.default_command if self.present(paths, package) else None

    def present(self, paths: Collection[str], package: bytes | None) -> bool:
        """The package is among those that package.json names, or a configuration file of it is there."""
        named = any(PurePosixPath(path).name.startswith((f"{self.name}.config.", f".{self.name}rc")) for path in paths)
        return named or self.name in _packages(package)

    def called_by(self, script: str) -> str | None:
        """The part of a package's script that calls the program, without what is wrapped around it."""
        words = command_line.split(script)
        variables = words[1 : 1 + sum("=" in word for word in words[1:])] if words[0] == "env" else ()
        for start in range(len(words)):
            rest = words[start:]
            if rest[0] != "env" and self.runs(rest):
                called = ("npx", "--no", *rest) if rest[0] == self.name else rest
                return package_scripts.joined((*variables, *called))
        return None

    def runs(self, argv: Sequence[str]) -> bool:
        """The program is called by its name, alone or by one that passes its options on."""
        return self._position(argv) is not None

    def is_test_file(self, path: str) -> bool:
        """`*.test.*`, `*.spec.*`, snapshots, and what lies in a directory of tests."""
        file = PurePosixPath(path)
        return (
            bool(_TEST_FILE.fullmatch(file.name))
            or file.suffix in {".snap", ".snapshot"}
            or not _BESIDE_TESTS.isdisjoint(file.parts[:-1])
        )

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """`test_command` with the options that make the run whole and reported; as in CI, no snapshot is written."""
        argv = command_line.split(test_command)
        called = self._position(argv)
        if called is None:
            raise Misconfigured(f"test_command '{test_command}' does not call {self.name}.")
        end = argv.index("--", called) if "--" in argv[called:] else len(argv)
        chosen = self.chosen(call.selection, call.project) if call.selection else ()
        return ("env", "CI=true", *argv[:end], *self.options, *self.reporting(call), *chosen, *argv[end:])

    def reporting(self, call: Invocation) -> tuple[str, ...]:
        """The arguments that send the report where it belongs."""
        return (f"--outputFile={call.report}",)

    def chosen(self, selection: Selection, project: Project) -> tuple[str, ...]:
        """The arguments that let only the selected files run."""
        return tuple(sorted(selection.files))

    def environment(self, call: Invocation) -> Mapping[str, str]:
        """None."""
        return {}

    def reports(self, where: Path) -> Sequence[Path]:
        """None: `command` names the one report."""
        return ()

    def read(self, data: bytes, project: Project) -> Report:
        """jest's JSON."""
        return json_report.read(data, project)

    def identify(self, case: Case) -> tuple[TestId, str]:
        """`src/sum.test.js::block > inner::title`; a file that could not be run is its path."""
        if case.name == case.file and not case.classname:
            return case.file, case.file
        return "::".join(part for part in (case.file, stable(case.classname), stable(case.name)) if part), case.file

    def explain(self, case: Case) -> str:
        """The line that names the error, then the end of the text."""
        return "\n".join(part for part in (javascript_errors.error_line(case), case.text) if part)

    def classify(self, case: Case, project: Project) -> Kind:
        """Read from the first lines of the error; files are told from packages by how they are imported."""
        return javascript_errors.kind(case, project)

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """The report is written at the very end, and it and the exit code say the same."""
        if not cases:
            return code in {0, 1} and "No test" in output_tail
        return code == (1 if any(case.outcome in {Outcome.FAILED, Outcome.ERROR} for case in cases) else 0)

    def asserted(self, case: Case) -> bool:
        """An AssertionError, or what `expect` throws."""
        return javascript_errors.asserted(case)

    def control(self, path: str, content: bytes, names: Sequence[str]) -> Control | None:
        """Tests among those of the file."""
        return control_javascript.control(path, content, names, self.style)

    def _position(self, argv: Sequence[str]) -> int | None:
        for index, word in enumerate(argv):
            name = re.sub(r"\.[cm]?js$", "", PurePosixPath(word).name)
            if name in {self.name, f"_{self.name}"}:
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
