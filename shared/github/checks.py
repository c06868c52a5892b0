"""CI of a commit: check runs and commit statuses, the required ones among them, and the logs of jobs."""

from __future__ import annotations

from shared.errors import NotAllowed
from shared.github import branch_rules, check_wire, wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.lock.write_permit import WritePermit
from shared.models import Check
from shared.newest import Newest

REQUIRED_SECONDS = 600.0
"""Seconds for which the required checks of a branch are used as read last."""

PULLS_LOOKED_AT = 5
"""Pull requests whose checks are looked at to learn if there is any CI."""


class Checks:
    """The checks of one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._path = f"/repos/{repository}"
        self._required: Newest[str, tuple[float, frozenset[str]]] = Newest()

    async def of(self, sha: str) -> tuple[Check, ...]:
        """Return the newest run of each check and the newest status of each context; empty if there are none."""
        runs = await self._github.pages(f"{self._path}/commits/{sha}/check-runs", filter="latest")
        statuses = await self._github.pages(f"{self._path}/commits/{sha}/status")
        return wire.each(check_wire.check_run, runs) + wire.each(check_wire.commit_status, statuses)

    async def ever(self, tip: str) -> bool:
        """Return whether anything was ever checked here: a workflow run, or a check of `tip` or a recent pull request.

        A token that may not see workflow runs sees the checks that they have made.
        """
        if await self._has_run():
            return True
        newest = {"state": "all", "sort": "updated", "direction": "desc", "per_page": PULLS_LOOKED_AT}
        pulls = wire.each(check_wire.head_of, await self._github.get(f"{self._path}/pulls", **newest))
        for sha in dict.fromkeys((tip, *pulls)):
            if await self.of(sha):
                return True
        return False

    async def _has_run(self) -> bool:
        """Return whether a workflow ever ran; False also for a token that may not know."""
        try:
            return wire.read(check_wire.total, await self._github.get(f"{self._path}/actions/runs", per_page=1)) > 0
        except (NotFound, NotAllowed):
            return False

    async def unstarted(self, sha: str) -> tuple[Check, ...]:
        """Return check suites that could not start on a commit, as failed checks: they have no check runs at all."""
        suites = await self._github.pages(f"{self._path}/commits/{sha}/check-suites")
        return tuple(check for check in wire.each(check_wire.unstarted, suites) if check is not None)

    async def required(self, branch: str) -> frozenset[str]:
        """Return the names of the checks without which nothing may be merged into `branch`.

        Those of classic protection and of rulesets together, as far as this token may see them (GitHub itself refuses
        a merge that lacks one); a branch that does not exist requires none. Read anew after `REQUIRED_SECONDS`, which
        is free as long as nothing has changed.
        """
        now = self._github.clock.boot()
        at, known = self._required.get(branch, (now, None))
        if known is None or now - at >= REQUIRED_SECONDS:
            known = await self._by_protection(branch) | await self._by_rules(branch)
            self._required[branch] = now, known
        return known

    async def _by_protection(self, branch: str) -> frozenset[str]:
        try:
            found = await self._github.get(f"{self._path}/branches/{segment(branch)}")
        except (NotFound, NotAllowed):
            return frozenset()
        return wire.read(check_wire.required_by_branch, found)

    async def _by_rules(self, branch: str) -> frozenset[str]:
        rules = await branch_rules.rules(self._github, self._repository, branch)
        return frozenset().union(*wire.each(check_wire.required_by_rule, rules))

    async def rerun(self, run_id: int, permit: WritePermit) -> None:
        """Run the failed jobs of a finished workflow run once more.

        Raises `NotAllowed` if the token lacks `actions: write` or GitHub does not run this one again.
        """
        await self._github.write("POST", f"{self._path}/actions/runs/{run_id}/rerun-failed-jobs", {}, permit)

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        """Return a check run's remarks on single lines: `path:line: level: message`, in GitHub's order."""
        found = await self._github.pages(f"{self._path}/check-runs/{check_run_id}/annotations")
        return wire.each(check_wire.annotation, found)

    async def log(self, job_id: int) -> str:
        """Return the log of a job, streamed, its last 2 MiB; raises `Gone` if GitHub no longer keeps it."""
        return await self._github.text(f"{self._path}/actions/jobs/{job_id}/logs", accept="application/vnd.github+json")
