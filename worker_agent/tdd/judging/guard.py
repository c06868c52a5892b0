"""What a change does to the test runner itself: its configuration, its plugins, its report (pure).

A refusal asks the coder again; what is only odd is left to the reviewer. In one process tests and
runner share everything, so no list is complete: the control test and the reviewer stand behind it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from worker_agent.tdd.judging.files import is_test_file
from worker_agent.tdd.judging.first_party import SOURCE_DIRECTORIES
from worker_agent.tdd.judging.old_tests import changes_by_file
from worker_agent.tdd.judging.python_source import parse

_CONFIGURATION = re.compile(r"\.?pytest\.(?:ini|toml)|(?:jest|vitest|vite)\.(?:config|setup|workspace)\..+|\.mocharc.*")
"""Files that steer how tests are run."""

_SHADOWS = frozenset(
    {"pytest", "_pytest", "pluggy", "iniconfig", "unittest", "junitparser", "sitecustomize", "usercustomize"}
)
"""Modules that a file of the same name on the import path would stand in for, or that run by themselves."""

_RUNNER_MODULES = frozenset({"_pytest", "pluggy", "xdist"})
_LEAVES = frozenset({"_exit", "abort"})
_REPORT = re.compile(r"junitxml|junit_xml|xmlpath|PYTEST_CURRENT_TEST|VITEST_|JEST_WORKER|outputFile")
_JAVASCRIPT_TEST = re.compile(
    r"process\.(?:reallyExit|exit|abort|kill|argv|env\.(?:VITEST|JEST)\w*)|process\.on\(|"
    r"['\"](?:@vitest/|@jest/|jest-circus|vitest/(?!globals)|jest-runner)[\w/-]*['\"]|"
    r"expect\.extend\(|(?:globalThis|global)\.(?:expect|test|it|describe)\b|Error\.prototype|node:child_process"
)
_JAVASCRIPT_CODE = re.compile(
    r"process\.env\.(?:VITEST|JEST)\w*|import\.meta\.vitest|['\"](?:vitest|@jest|@vitest)[\w/-]*['\"]"
)


def tampering(
    before: Mapping[str, bytes], after: Mapping[str, bytes], may_change: Collection[str], planned: Collection[str] = ()
) -> tuple[str, ...]:
    """One sentence for each way in which a change gets at the test runner.

    `before` and `after` hold the changed files by path, as far as they exist. `may_change` and
    `planned` are the files that the approved specification lists under "Tests that may change" and
    "Files": the first may do anything, of the second whole configuration files may change.
    """
    paths = [path for path in sorted({*before, *after}) if path not in may_change]
    whole = [path for path in paths if _CONFIGURATION.fullmatch(PurePosixPath(path).name) and path not in planned]
    found = [f"{path}: how tests are run may not change." for path in whole]
    return (*found, *(sentence for path in paths for sentence in _of(path, before.get(path), after.get(path))))


def _of(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    read = _SECTIONS.get(PurePosixPath(path).name)
    if read is not None and _section(read, old) != _section(read, new):
        yield f"{path}: the part that says how tests are run may not change."
    if new is None:
        return
    if old is None and (path.endswith(".pth") or _stands_for(path) in _SHADOWS):
        yield f"{path}: a file of this name would run in place of the test runner's own, or before it."
    if old is None and PurePosixPath(path).name == "conftest.py":
        yield from (sentence for found in changes_by_file({path: b""}, {path: new}).values() for sentence in found)
    known = set(_marks(path, old)) if old is not None else set()
    yield from (f"{path}: {what}" for what in sorted(set(_marks(path, new)) - known))


def _stands_for(path: str) -> str:
    parts = PurePosixPath(path).parts
    rest = parts[1:] if len(parts) > 1 and parts[0] in SOURCE_DIRECTORIES else parts
    return rest[0].removesuffix(".py")


def _section(read: Callable[[bytes], Any], content: bytes | None) -> Any:
    import configparser  # here and below: parsers are loaded when there is something to read

    try:
        return read(content or b"") or None
    except (ValueError, configparser.Error, AttributeError, RecursionError):
        return content  # whoever cannot read it compares it whole


def _toml(content: bytes) -> Any:
    import tomllib

    tool = tomllib.loads(content.decode()).get("tool", {})
    return {name: tool[name] for name in ("pytest", "pytest-enabler", "coverage") if name in tool}


def _ini(content: bytes) -> Any:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(content.decode())
    return {name: dict(parser[name]) for name in ("pytest", "tool:pytest") if name in parser}


def _package(content: bytes) -> Any:
    package = json.loads(content or b"{}")
    found = {name: package[name] for name in ("jest", "vitest", "mocha", "type") if name in package}
    scripts = {name: text for name, text in package.get("scripts", {}).items() if "test" in name}
    return found | ({"scripts": scripts} if scripts else {})


_SECTIONS: Mapping[str, Callable[[bytes], Any]] = {
    "pyproject.toml": _toml,
    "setup.cfg": _ini,
    "tox.ini": _ini,
    "package.json": _package,
}


def _marks(path: str, content: bytes) -> Iterator[str]:
    """What a file does that only somebody who wants to change results does."""
    if path.endswith(".py"):
        source = parse(content)
        if source is not None:
            for node in ast.walk(source.tree):
                yield from _of_test(node) if is_test_file(path) else _of_code(node)
                yield from _of_any(node)
    elif re.search(r"\.[cm]?[jt]sx?$", path):
        text = content.decode("utf-8", "replace")
        pattern = _JAVASCRIPT_TEST if is_test_file(path) else _JAVASCRIPT_CODE
        yield from (f"{found[0]} reaches the test runner." for found in pattern.finditer(text))


def _of_any(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            modules = [alias.name for alias in names]
        case ast.ImportFrom(module=str(module)):
            modules = [module]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("pytest_"):
            yield f"{name} is a hook of the test runner."
            return
        case ast.Constant(value=str(text)) if _REPORT.search(text):
            yield "it names the test runner's report or state."
            return
        case ast.Attribute(attr="xmlpath" | "pluginmanager" as attribute):
            yield f"{attribute} belongs to the test runner."
            return
        case _:
            return
    inside = [name for name in modules if name.partition(".")[0] in _RUNNER_MODULES]
    yield from (f"{name} is the inside of the test runner." for name in inside)


def _of_test(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names) if any(alias.name == "atexit" for alias in names):
            yield "what runs at exit runs after the report is written."
        case ast.ImportFrom(module="atexit"):
            yield "what runs at exit runs after the report is written."
        case ast.Attribute(value=ast.Name(id="os"), attr=attribute) if attribute in _LEAVES:
            yield f"os.{attribute} ends the run before its report is written."
        case ast.ImportFrom(module="os", names=names) if any(alias.name in _LEAVES for alias in names):
            yield "leaving by os ends the run before its report is written."
        case ast.Attribute(value=ast.Name(id="sys"), attr="argv", ctx=ast.Load()):
            yield "sys.argv is the test runner's command line here."
        case ast.Attribute(value=ast.Name(id="pytest"), attr="exit"):
            yield "pytest.exit ends the run early."
        case ast.Name(id="pytest_plugins", ctx=ast.Store()):
            yield "pytest_plugins loads code into the test runner."
        case _:
            pass


def _of_code(node: ast.AST) -> Iterator[str]:
    """Code that asks whether it is being tested can answer differently then."""
    match node:
        case ast.Constant(value="pytest" | "_pytest"):
            yield "it asks for the test runner by name."
        case ast.Import(names=names) if any(alias.name.partition(".")[0] == "pytest" for alias in names):
            yield "it imports the test runner."
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "pytest":
            yield "it imports the test runner."
