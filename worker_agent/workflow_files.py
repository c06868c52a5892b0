"""Which CI workflow files a repair may change: only those that are what fails (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

_PATH = r"(\.github/workflows/[A-Za-z0-9._-]+\.ya?ml)"
WORKFLOW = re.compile(_PATH)
"""A file that GitHub Actions reads as a workflow."""

_BLAMED = (
    re.compile(rf"Invalid workflow file: {_PATH}"),
    re.compile(rf"{_PATH} \(Line: \d+, Col: \d+\):"),
    re.compile(rf"^{_PATH}:\d+: failure:"),
    re.compile(rf"##\[error\].*{_PATH}"),
)
"""How GitHub says that a workflow file is what fails: an invalid file, an annotation, an error of the step itself."""

_NOT_STARTED = re.compile(r"^startup_failure\b", re.MULTILINE)


def blamed(said: str, paths: Collection[str]) -> frozenset[str]:
    """The workflow files among `paths`, those of the failing commit, that CI's own words `said` name as the cause.

    A run that could not be started at all and names no file means the only workflow, if there is one only.
    What a command printed is no blame, but a command that imitates GitHub's words cannot be told from it:
    a person merges each such change.
    """
    known = {path for path in paths if WORKFLOW.fullmatch(path)}
    found = {name for line in said.splitlines() for pattern in _BLAMED for name in pattern.findall(line)} & known
    return frozenset(known if not found and len(known) == 1 and _NOT_STARTED.search(said) else found)


def editable(allowed: Collection[str]) -> str:
    """For a prompt: what of `.github/` may not be touched."""
    if not allowed:
        return "`.github/`"
    return f"`.github/` (but for {', '.join(f'`{path}`' for path in sorted(allowed))}, which CI names as the cause)"
