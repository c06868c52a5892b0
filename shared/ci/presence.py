"""Recognition of repositories without any CI: agents do not wait for checks there."""

from __future__ import annotations

from shared.git.ports import Mirror
from shared.github.ports import Checks
from shared.newest import Newest

WORKFLOWS = ".github/workflows/"
"""Directory in which GitHub Actions looks for workflows."""


class Presence:
    """Recognises a repository without CI; remembers per branch if CI was found."""

    def __init__(self, checks: Checks, source: Mirror) -> None:
        self._checks = checks
        self._source = source
        self._missing: Newest[str, bool] = Newest()

    async def is_missing(self, branch: str) -> bool:
        """Return whether there is no workflow on `branch` and no check in the repository's history. Raises `Transient`.

        Asks again on each call until CI is found, which is free while nothing changes: the first check may come at any
        time.
        """
        if self._missing.get(branch, True):
            tip = await self._source.refresh(f"refs/heads/{branch}")
            found = tip is None or has_workflow(await self._source.paths(tip)) or await self._checks.ever(tip)
            self._missing[branch] = not found
        return self._missing[branch]

    def known_missing(self, branch: str) -> bool:
        """Return whether the last call of `is_missing` found no CI on `branch`; sends no request."""
        return self._missing.get(branch, False)


def has_workflow(paths: tuple[str, ...]) -> bool:
    """Return whether one of these files is a workflow of GitHub Actions."""
    return any(path.startswith(WORKFLOWS) and path.endswith((".yml", ".yaml")) for path in paths)
