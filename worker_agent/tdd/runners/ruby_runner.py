"""The common parts of RSpec and minitest: the error lines of Ruby tests, and the kinds of their errors."""

from __future__ import annotations

import re

from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Case
from worker_agent.tdd.runners.runner import Runner
from worker_agent.tdd.runners.test_run import FailureKind

_NOT_LOADED = re.compile(r"cannot load such file -- (\S+)")
_NO_CONSTANT = re.compile(r"uninitialized constant (\S+)|undefined (?:local variable or )?method [`'](\w+[?!]?)'")
_SYNTAX = re.compile(r"SyntaxError|syntax error[s,]")
_ADDRESS = re.compile(r"0x[0-9a-f]{8,}")


class RubyRunner(Runner):
    """A runner of Ruby tests."""

    def error_line(self, case: Case) -> str:
        """Return the class and message of the error."""
        first = next((line.strip() for line in without_addresses(case.message).splitlines() if line.strip()), "")
        return f"{case.error}: {first}" if case.error else first

    def classify(self, case: Case, project: Project) -> FailureKind:
        """Return the kind: own constants, methods and files that are missing, apart from gems; for a file, too."""
        text = f"{case.error}: {case.message}"
        missing = _NOT_LOADED.search(text)
        if missing:
            return FailureKind.FIRST_PARTY_IMPORT if _is_own(missing[1], project) else FailureKind.THIRD_PARTY_IMPORT
        if case.name != case.file:
            return FailureKind.ASSERTION_OR_EXCEPTION
        if _SYNTAX.search(text):
            return FailureKind.SYNTAX
        return FailureKind.FIRST_PARTY_IMPORT if _NO_CONSTANT.search(text) else FailureKind.COLLECTION


def without_addresses(text: str) -> str:
    """Return a message without addresses of objects."""
    return _ADDRESS.sub("0x", text)


def _is_own(name: str, project: Project) -> bool:
    """Return whether a name is the repository's: any path, or a bare name with a file of its first part below `lib`."""
    if name.startswith(("/", ".")):
        return "/gems/" not in name
    first = name.partition("/")[0]
    own = (f"lib/{first}/", f"lib/{first}.rb", f"app/{first}/", f"spec/{first}", f"test/{first}")
    return any(path.startswith(own) for path in project.paths)
