"""What the errors of Ruby tests mean, for RSpec and minitest (pure)."""

from __future__ import annotations

import re

from worker_agent.tdd.runners.junit import Case
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.report import Kind

_NOT_LOADED = re.compile(r"cannot load such file -- (\S+)")
_NO_CONSTANT = re.compile(r"uninitialized constant (\S+)|undefined (?:local variable or )?method [`'](\w+[?!]?)'")
_SYNTAX = re.compile(r"SyntaxError|syntax error[s,]")
_ADDRESS = re.compile(r"0x[0-9a-f]{8,}")


def explained(case: Case) -> str:
    """The class and message of the error, then where it was raised."""
    first = next((line.strip() for line in steady(case.message).splitlines() if line.strip()), "")
    return "\n".join(part for part in (f"{case.error}: {first}" if case.error else first, case.text) if part)


def kind(case: Case, project: Project) -> Kind:
    """Why a test, or a whole file in its place, failed."""
    text = f"{case.error}: {case.message}"
    return _while_loading(text, project) if case.name == case.file else _in_a_test(text, project)


def _while_loading(text: str, project: Project) -> Kind:
    """Why a file could not be loaded: own files have a path, gems a bare name."""
    missing = _NOT_LOADED.search(text)
    if missing:
        return Kind.FIRST_PARTY_IMPORT if _is_own(missing[1], project) else Kind.THIRD_PARTY_IMPORT
    if _SYNTAX.search(text):
        return Kind.SYNTAX
    return Kind.FIRST_PARTY_IMPORT if _NO_CONSTANT.search(text) else Kind.COLLECTION


def _in_a_test(text: str, project: Project) -> Kind:
    """Why a test failed: whatever it raised, except that a gem is not there."""
    missing = _NOT_LOADED.search(text)
    if missing is None:
        return Kind.ASSERTION_OR_EXCEPTION
    return Kind.FIRST_PARTY_IMPORT if _is_own(missing[1], project) else Kind.THIRD_PARTY_IMPORT


def steady(text: str) -> str:
    """A message without addresses of objects."""
    return _ADDRESS.sub("0x", text)


def _is_own(name: str, project: Project) -> bool:
    """A path is the repository's; a bare name is where something below `lib` is called like its first part."""
    if name.startswith(("/", ".")):
        return "/gems/" not in name
    first = name.partition("/")[0]
    own = (f"lib/{first}/", f"lib/{first}.rb", f"app/{first}/", f"spec/{first}", f"test/{first}")
    return any(path.startswith(own) for path in project.paths)
