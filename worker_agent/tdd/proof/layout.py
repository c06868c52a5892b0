"""The suites of a repository, and the division of its paths into the tests' side and code (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from worker_agent.policy import SuitePolicy
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.runner import Read, Suite
from worker_agent.tdd.test_file_names import is_test_file

_TEXT = frozenset({".md", ".rst", ".txt", ".adoc", ".license"})
_NOT_CODE = re.compile(
    r"(?:LICENSE|COPYING|NOTICE|AUTHORS|CHANGELOG|CHANGES|HISTORY|NEWS|README|CODEOWNERS|CITATION).*"
    r"|\.(?:gitignore|gitattributes|editorconfig|pre-commit-config\.yaml|coveragerc|mailmap)"
    r"|.*(?:\.lock|-lock\.(?:json|yaml)|\.sum)|go\.mod|Cargo\.toml|Makefile|Dockerfile|.*\.(?:cfg|ini|toml)"
    r"|package\.json|tsconfig.*\.json|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|Gemfile|.*\.gemspec"
)
_DOCUMENTS = frozenset({"docs", "doc", ".github", "examples", "changelog.d", "changes", "newsfragments", "news"})


@dataclass(frozen=True, slots=True)
class Layout:
    """The suites of a repository, and the globs by which its configuration names files of tests."""

    suites: tuple[Suite, ...] = ()
    globs: Sequence[str] = ()

    @property
    def is_generic(self) -> bool:
        """True if the files with tests are known only from the report that a command writes."""
        return any(isinstance(suite.runner, ReportRunner) for suite in self.suites)

    def is_test(self, path: str) -> bool:
        """Return whether a file holds tests or serves them: by a runner, the configuration, or its name and place."""
        is_named = any(PurePosixPath(path).match(glob) for glob in self.globs)
        return is_test_file(path) or is_named or any(_finds(suite, path) for suite in self.suites)

    def is_code(self, path: str) -> bool:
        """Return whether a file may change the program's behaviour: no test, no document, no manifest."""
        file = PurePosixPath(path)
        documents = file.suffix.lower() in _TEXT or not _DOCUMENTS.isdisjoint(file.parts[:1])
        return not (self.is_test(path) or documents or _NOT_CODE.fullmatch(file.name))


def _finds(suite: Suite, path: str) -> bool:
    return path.startswith(suite.lead) and suite.runner.is_test_file(path.removeprefix(suite.lead))


def chosen_suites(policies: Sequence[SuitePolicy], paths: Collection[str], read: Read) -> tuple[Suite, ...]:
    """Return the suites as configured, else those of the top directory, each with its runner.

    Raises `Misconfigured` with the sentence for the person if one cannot be run.
    """
    from worker_agent.tdd.runners.registry import choose  # an agent that waits does not load the runners

    return tuple(choose(one.test_command, one.test_report, paths, read, one.directory) for one in policies)
