"""What CI says of a commit: check runs and commit statuses, and the logs of jobs."""

from __future__ import annotations

from shared.github import wire
from shared.github.client import GitHub
from shared.models import Check


class Checks:
    """The checks of one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._path = f"/repos/{repository}"

    async def of(self, sha: str) -> tuple[Check, ...]:
        """The newest run of each check and the newest status of each context; empty when there are none."""
        runs = await self._github.pages(f"{self._path}/commits/{sha}/check-runs", filter="latest")
        statuses = await self._github.pages(f"{self._path}/commits/{sha}/status")
        return wire.each(wire.check_run, runs) + wire.each(wire.commit_status, statuses)

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        """What a check run says of single lines: `path:line: level: message`, in GitHub's order."""
        found = await self._github.pages(f"{self._path}/check-runs/{check_run_id}/annotations")
        return wire.each(wire.annotation, found)

    async def log(self, job_id: int) -> str:
        """The log of a job, its last 2 MiB; raises `Gone` when GitHub no longer keeps it."""
        return await self._github.text(f"{self._path}/actions/jobs/{job_id}/logs", accept="application/vnd.github+json")
