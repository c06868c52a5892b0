"""Whether a repository has any CI at all: one that has none is not waited for."""

from __future__ import annotations

from shared.git.ports import Mirror
from shared.github.ports import Checks

WORKFLOWS = ".github/workflows/"
"""Where GitHub Actions looks for workflows."""


class Presence:
    """Recognises a repository without CI; that it has one is learned once."""

    def __init__(self, checks: Checks, source: Mirror) -> None:
        self._checks = checks
        self._source = source
        self._found: set[str] = set()
        self._missing: set[str] = set()

    async def is_missing(self, branch: str) -> bool:
        """Whether there is no workflow on `branch` and no check in the repository's history. Raises `Transient`.

        Asked again each time as long as nothing was found, which is free while nothing changes: the first check may
        come at any time.
        """
        if branch in self._found:
            return False
        tip = await self._source.refresh(f"refs/heads/{branch}")
        if tip is None or has_workflow(await self._source.paths(tip)) or await self._checks.ever(tip):
            self._found.add(branch)
            self._missing.discard(branch)
            return False
        self._missing.add(branch)
        return True

    def known_missing(self, branch: str) -> bool:
        """Whether the last answer was that there is none; asks nobody."""
        return branch in self._missing


def has_workflow(paths: tuple[str, ...]) -> bool:
    """Whether one of these files is a workflow of GitHub Actions."""
    return any(path.startswith(WORKFLOWS) and path.endswith((".yml", ".yaml")) for path in paths)
