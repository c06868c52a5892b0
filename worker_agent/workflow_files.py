"""The CI workflow files that a repair may change: only those that are the cause of the failure (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

from shared.git.patch_policy import WORKFLOW

_PATH = f"({WORKFLOW.pattern})"

_BLAMED = (
    re.compile(rf"Invalid workflow file: {_PATH}"),
    re.compile(rf"{_PATH} \(Line: \d+, Col: \d+\):"),
    re.compile(rf"^{_PATH}:\d+: failure:"),
    re.compile(rf"##\[error\].*{_PATH}"),
)
"""GitHub's messages that blame a workflow file: an invalid file, an annotation, an error of the step itself."""

_NOT_STARTED = re.compile(r"^startup_failure\b", re.MULTILINE)


def blamed(message: str, paths: Collection[str]) -> frozenset[str]:
    """Return the workflow files among `paths`, those of the failing commit, that CI's `message` names as the
    cause.

    If a run could not be started at all and its words name no file, the only workflow is the cause, if there is just
    one. Output of a command is no blame, but a command that imitates GitHub's messages cannot be told from them: a
    person merges each such change.
    """
    known = {path for path in paths if WORKFLOW.fullmatch(path)}
    found = {name for line in message.splitlines() for pattern in _BLAMED for name in pattern.findall(line)} & known
    return frozenset(known if not found and len(known) == 1 and _NOT_STARTED.search(message) else found)


def editable(allowed: Collection[str]) -> str:
    """Return the part of `.github/` that may not be touched, for a prompt."""
    if not allowed:
        return "`.github/`"
    return f"`.github/` (but for {', '.join(f'`{path}`' for path in sorted(allowed))}, which CI names as the cause)"
