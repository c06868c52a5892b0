"""`node --test`: its command, with a reporter given as a data URL, so that no file of the checkout has it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from urllib.parse import quote

from worker_agent.tdd.runners import command_line, json_report, package_scripts
from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.javascript import SCRIPT, JavaScriptRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation
from worker_agent.tdd.runners.test_run import Case, CaseOutcome, Report

_REPORTER = """\
export default async function* (events) {
  const cases = [], titles = {}, printed = {}, deepest = {};
  for await (const { type, data } of events) {
    const file = data.file || '';
    if (type === 'test:stderr') printed[file] = ((printed[file] || '') + data.message).slice(-8000);
    if (type === 'test:start') (titles[file] ||= [])[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const error = data.details.error || {}, cause = error.cause || {};
    const below = error.failureType === 'subtestsFailed' ? deepest[file] : undefined;
    if (data.details.type === 'suite') continue;
    const off = data.skip !== undefined || data.todo !== undefined;
    const whole = data.name === file || data.name.endsWith('/' + file) || file.endsWith('/' + data.name);
    const found = below || {
      error: String(cause.name || cause.code || error.failureType || ''),
      message: String(whole && printed[file] || cause.message || cause || error.message || ''),
      text: String(whole && printed[file] || cause.stack || cause || error.message || ''),
    };
    if (type === 'test:fail' && !off) deepest[file] = found;
    cases.push({
      file, scope: whole ? [] : (titles[file] || []).slice(0, data.nesting), name: whole ? file : data.name,
      outcome: off ? 'skipped' : type === 'test:pass' ? 'passed' : whole ? 'error' : 'failed',
      ...(type === 'test:fail' ? found : {}),
    });
  }
  yield JSON.stringify({ cases, ended: true });
}
"""
_PROGRAMS = frozenset({"node", "nodejs", "tsx"})
_FIRST = frozenset({"env", "npx", "pnpm", "yarn", "npm", "--no", "exec"})
_TAKE_A_VALUE = frozenset(
    {
        *("--import", "--require", "-r", "--loader", "--experimental-loader", "--env-file", "--conditions", "-C"),
        *("--test-name-pattern", "--test-skip-pattern", "--test-concurrency", "--test-timeout", "--test-shard"),
        *("--test-reporter", "--test-reporter-destination", "--tsconfig"),
    }
)
_REPORTS = re.compile(r"--test-reporter(?:-destination)?(?:=|$)")
_TESTS = re.compile(r"(?:test|test-.+|.+[.\-_]test)\.[cm]?[jt]s")
_IMPORTED = re.compile(r"['\"]node:test['\"]")


class NodeRunner(JavaScriptRunner):
    """The runner of `node --test`, or `tsx --test`, with any other options."""

    name = "node --test"
    default_command = "node --test"
    style = Style(module="node:test", assertions="node:assert", body="assert")

    def present(self, paths: Collection[str], package: bytes | None) -> bool:
        """Return False: only the script of the package tells it."""
        return False

    def position(self, argv: Sequence[str]) -> int | None:
        """Return the index of `--test` if the program comes first, or after a mere starter."""
        program = next((word for word in argv if word not in _FIRST and "=" not in word), "")
        return argv.index("--test") if PurePosixPath(program).name in _PROGRAMS and "--test" in argv else None

    def called_by(self, script: str) -> str | None:
        """Return the part of a script from the program on."""
        words = command_line.split(script)
        variables = words[1 : 1 + sum("=" in word for word in words[1:])] if words[0] == "env" else ()
        start = next((i for i, word in enumerate(words) if PurePosixPath(word).name in _PROGRAMS), len(words))
        rest = words[start:]
        called = ("npx", "--no", *rest) if rest[:1] == ("tsx",) else rest
        return package_scripts.joined((*variables, *called)) if rest and self.runs(rest) else None

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is named as node looks for it, or is a script in a directory of tests."""
        file = PurePosixPath(path)
        below = not {"test", "tests"}.isdisjoint(file.parts[:-1])
        named = bool(_TESTS.fullmatch(file.name)) or (below and bool(SCRIPT.fullmatch(file.suffix)))
        return named or super().is_test_file(path)

    def command(self, test_command: str, call: Invocation) -> tuple[str, ...]:
        """Return the command with our reporter, and with its patterns expanded as a shell would."""
        argv, at = self.split(test_command)
        options, files = _options_and_files(argv[at + 1 :])
        if call.selection is not None:
            files = sorted(path for path in call.selection.files if SCRIPT.fullmatch(PurePosixPath(path).suffix))
        reporter = f"data:text/javascript,{quote(_REPORTER)}"
        ours = ("--test-reporter", reporter, "--test-reporter-destination", str(call.report))
        before = (word for word in argv[: at + 1] if not _REPORTS.match(word))
        chosen = [found for file in files for found in _expand(file, call.project.paths)]
        return ("env", "CI=true", *before, *options, *ours, *chosen)

    def parse(self, data: bytes, project: Project) -> Report:
        """Read the reporter's output; a test file that passed without a test ended before it came to them."""
        report = json_report.read_engine(data, project, json_report.BETWEEN)
        silent = [case.file for case in report.cases if _is_silent(case, project)]
        return Report(problem=f"{silent[0]} ended before it reported a test") if silent else report

    def complete(self, code: int, cases: Sequence[Case], output_tail: str) -> bool:
        """Return whether the exit code agrees with the report; without a test it is success, or no file was found."""
        return code == int(any(case.failed for case in cases))


def _is_silent(case: Case, project: Project) -> bool:
    whole = case.name == case.file and not case.classname and case.outcome is CaseOutcome.PASSED
    return whole and bool(_IMPORTED.search(project.text(case.file)))


def _options_and_files(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options, without reporters, and the files."""
    options: list[str] = []
    files: list[str] = []
    before = ""
    for word in words:
        if before in _TAKE_A_VALUE or word.startswith("-"):
            if not _REPORTS.match(before if before in _TAKE_A_VALUE else word):
                options.append(word)
        else:
            files.append(word)
        before = word
    return options, files


def _expand(pattern: str, paths: Collection[str]) -> Iterator[str]:
    """Yield the files that match a pattern; node 20 does not expand them itself."""
    if not re.search(r"[*?\[{]", pattern):
        yield pattern
        return
    for spelled in _alternatives(pattern.removeprefix("./")):
        yield from (path for path in sorted(paths) if _fits(path, spelled))


def _alternatives(pattern: str) -> list[str]:
    """Return `a.{js,ts}` as two patterns."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if braces is None:
        return [pattern]
    lead, rest = pattern[: braces.start()], pattern[braces.end() :]
    return [spelled for part in braces[1].split(",") for spelled in _alternatives(f"{lead}{part}{rest}")]


def _fits(path: str, pattern: str) -> bool:
    """Return whether a path matches: `**` stands for any directories, `*` for part of one name."""
    names, parts = path.split("/"), pattern.split("/")

    def fits(name: int, part: int) -> bool:
        if part == len(parts):
            return name == len(names)
        if parts[part] == "**":
            return any(fits(after, part + 1) for after in range(name, len(names) + 1))
        return name < len(names) and fnmatchcase(names[name], parts[part]) and fits(name + 1, part + 1)

    return fits(0, 0)
