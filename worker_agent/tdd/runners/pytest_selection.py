"""How pytest is told to run a few test files only, whatever paths its command line and configuration name (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from worker_agent.tdd.runners.covering_paths import beside
from worker_agent.tdd.runners.runner import Selection

_NAME = re.compile(r"(?!(?:and|or|not)$)[A-Za-z_]\w*")
"""What the expression can name; doctests have dots in their names, and whole files are paths."""

_COLLECTED = frozenset({".py", ".txt", ".rst", ".md"})

NAMES_LIMIT = 60
"""Above so many test functions `-k` is left out: the whole files run."""


def options(argv: Sequence[str], selection: Selection | None, paths: Collection[str]) -> tuple[str, ...]:
    """Everything beside the selected files is ignored: directories as a whole, files one by one.

    A command that chooses by name itself goes on doing so: pytest takes only one such expression.
    """
    if selection is None:
        return ()
    ignored = (f"--ignore={path}" for path in sorted(_ignored(selection.files, paths)))
    chooses = any(word == "--keyword" or re.match(r"-k|--keyword=", word) for word in argv)
    return (*ignored, *(() if chooses else _by_name(selection)))


def _ignored(files: Collection[str], paths: Collection[str]) -> frozenset[str]:
    return beside(files, paths, lambda file: file.suffix in _COLLECTED and file.name != "conftest.py")


def _by_name(selection: Selection) -> tuple[str, ...]:
    """The functions by name, as an expression: it may match more, never less."""
    names = {test.partition("[")[0].rpartition("::")[2] for test in selection.tests}
    if not names or len(names) > NAMES_LIMIT or not all(_NAME.fullmatch(name) for name in names):
        return ()
    return ("-k", " or ".join(sorted(names)))
