"""CI of a commit: check runs and commit statuses, and the logs of jobs; and what a branch requires of a merge."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from shared.errors import NotAllowed
from shared.github import branch_rules, wire
from shared.github.address import segment
from shared.github.branch_rules import MergeRules
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.lock.write_permit import WritePermit
from shared.models import Check, CheckOutcome
from shared.newest import Newest

REQUIRED_SECONDS = 600.0
"""Seconds for which the requirements of a branch are used as read last."""

PULLS_LOOKED_AT = 5
"""Pull requests whose checks are looked at to learn if there is any CI."""

T = TypeVar("T")

WorkflowRun = tuple[int, str, str, int]
"""A run's workflow and event, the time when its newest attempt began, and its id, which decides within a second."""

_JOB = re.compile(r"/actions/runs/(\d+)/jobs?/(\d+)")
_CONCLUDED = {
    "success": CheckOutcome.PASSED,
    "neutral": CheckOutcome.NEUTRAL,
    "skipped": CheckOutcome.NEUTRAL,
    "action_required": CheckOutcome.UNKNOWN,
    "stale": CheckOutcome.STALE,
}
"""Outcome by conclusion; every other conclusion is a failure."""


class Checks:
    """The checks of one repository, and the requirements of its branches."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._path = f"/repos/{repository}"
        self._required: Newest[str, tuple[float, frozenset[str]]] = Newest()
        self._merge_rules: Newest[str, tuple[float, MergeRules]] = Newest()

    async def of(self, sha: str) -> tuple[Check, ...]:
        """Return the newest run of each check and the newest status of each context; empty if there are none.

        GitHub tells the newest run within a check suite: a workflow that began twice on the commit has two of them.
        """
        listed = await self._github.pages(f"{self._path}/commits/{sha}/check-runs", filter="latest")
        statuses = await self._github.pages(f"{self._path}/commits/{sha}/status")
        runs = wire.each(check_run, listed)
        if any(_may_replace(other, one) for one in _failed_jobs(runs) for other in runs):
            runs = superseded(runs, await self._begun(sha))
        return runs + wire.each(commit_status, statuses)

    async def _begun(self, sha: str) -> Mapping[int, WorkflowRun]:
        """Return the workflow runs on a commit; none for a token that may not know."""
        try:
            return dict(wire.each(_workflow_run, await self._github.pages(f"{self._path}/actions/runs", head_sha=sha)))
        except (NotFound, NotAllowed):
            return {}

    async def ever(self, tip: str) -> bool:
        """Return whether anything was ever checked here: a workflow run, or a check of `tip` or a recent pull request.

        A token that may not see workflow runs sees the checks that they have made.
        """
        if await self._has_run():
            return True
        newest = {"state": "all", "sort": "updated", "direction": "desc", "per_page": PULLS_LOOKED_AT}
        pulls = wire.each(_head_of, await self._github.get(f"{self._path}/pulls", **newest))
        for sha in dict.fromkeys((tip, *pulls)):
            if await self.of(sha):
                return True
        return False

    async def _has_run(self) -> bool:
        """Return whether a workflow ever ran; False also for a token that may not know."""
        try:
            return wire.read(_total, await self._github.get(f"{self._path}/actions/runs", per_page=1)) > 0
        except (NotFound, NotAllowed):
            return False

    async def unstarted(self, sha: str) -> tuple[Check, ...]:
        """Return check suites that could not start on a commit, as failed checks: they have no check runs at all."""
        suites = await self._github.pages(f"{self._path}/commits/{sha}/check-suites")
        return tuple(check for check in wire.each(_unstarted, suites) if check is not None)

    async def required(self, branch: str) -> frozenset[str]:
        """Return the names of the checks without which nothing may be merged into `branch`.

        Those of classic protection and of rulesets together, as far as this token may see them (GitHub itself refuses
        a merge that lacks one); a branch that does not exist requires none. Read anew after `REQUIRED_SECONDS`, which
        is free as long as nothing has changed.
        """
        return await self._recent(self._required, branch, self._read_required)

    async def merge_rules(self, branch: str) -> MergeRules:
        """Return the requirements for a merge into `branch` besides its checks, as far as this token may see them.

        Read anew after `REQUIRED_SECONDS`. Raises `Transient`.
        """
        return await self._recent(self._merge_rules, branch, self._read_merge_rules)

    async def _recent(self, kept: Newest[str, tuple[float, T]], branch: str, read: Callable[[str], Awaitable[T]]) -> T:
        """Return what was read of a branch within `REQUIRED_SECONDS`, else `read` it."""
        now = self._github.clock.boot()
        known = kept.get(branch)
        if known is None or now - known[0] >= REQUIRED_SECONDS:
            known = kept[branch] = now, await read(branch)
        return known[1]

    async def _read_merge_rules(self, branch: str) -> MergeRules:
        return await branch_rules.merge_rules(self._github, self._repository, branch)

    async def _read_required(self, branch: str) -> frozenset[str]:
        return await self._by_protection(branch) | await self._by_rules(branch)

    async def _by_protection(self, branch: str) -> frozenset[str]:
        try:
            found = await self._github.get(f"{self._path}/branches/{segment(branch)}")
        except (NotFound, NotAllowed):
            return frozenset()
        return wire.read(_required_by_branch, found)

    async def _by_rules(self, branch: str) -> frozenset[str]:
        rules = await branch_rules.rules(self._github, self._repository, branch)
        return frozenset().union(*wire.each(_required_by_rule, rules))

    async def rerun(self, run_id: int, permit: WritePermit) -> None:
        """Run the failed jobs of a finished workflow run once more.

        Raises `NotAllowed` if the token lacks `actions: write` or GitHub does not run this one again.
        """
        await self._github.write("POST", f"{self._path}/actions/runs/{run_id}/rerun-failed-jobs", {}, permit)

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        """Return a check run's remarks on single lines: `path:line: level: message`, in GitHub's order."""
        found = await self._github.pages(f"{self._path}/check-runs/{check_run_id}/annotations")
        return wire.each(_annotation, found)

    async def log(self, job_id: int) -> str:
        """Return the log of a job, streamed, its last 2 MiB; raises `Gone` if GitHub no longer keeps it."""
        return await self._github.text(f"{self._path}/actions/jobs/{job_id}/logs", accept="application/vnd.github+json")


def check_run(value: Any) -> Check:
    """Read a check run; `summary` begins with GitHub's conclusion, `job_id` is set for jobs of GitHub Actions."""
    conclusion, output = value.get("conclusion") or "", value.get("output") or {}
    texts = (conclusion, output.get("title"), output.get("summary"))
    return Check(
        name=str(value["name"]),
        outcome=_outcome(value["status"], conclusion),
        summary=": ".join(str(text) for text in texts if text),
        job_id=_job_id(value),
        conclusion=str(conclusion),
        run_id=_run_id(value),
        check_run_id=int(value["id"]),
    )


def superseded(checks: Sequence[Check], begun: Mapping[int, WorkflowRun]) -> tuple[Check, ...]:
    """Return `checks`, those failed ones marked whose workflow the same event has begun once more on the commit.

    Labels and titles do that: a check that asks for a label fails before it is set and passes after it, and a workflow
    that cancels its former run is cancelled by each label, the engine's own among them.
    """
    replaced = {
        one.check_run_id
        for one in _failed_jobs(checks)
        for other in checks
        if _may_replace(other, one) and _is_newer(begun.get(other.run_id or 0), begun.get(one.run_id or 0))
    }
    return tuple(
        replace(one, outcome=CheckOutcome.SUPERSEDED) if one.check_run_id in replaced else one for one in checks
    )


def _failed_jobs(checks: Sequence[Check]) -> list[Check]:
    """Return the jobs of GitHub Actions that failed or were cancelled."""
    return [check for check in checks if check.outcome is CheckOutcome.FAILED and check.run_id is not None]


def _may_replace(other: Check, one: Check) -> bool:
    """Return whether `other` may have taken the place of the failed job `one`: it tests, or has tested, the same."""
    is_word = other.conclusion != "cancelled" and other.outcome is not CheckOutcome.NEUTRAL
    return is_word and other.name == one.name and other.run_id not in {None, one.run_id}


def _is_newer(other: WorkflowRun | None, one: WorkflowRun | None) -> bool:
    return other is not None and one is not None and other[:2] == one[:2] and other[2:] > one[2:]


def _workflow_run(value: Any) -> tuple[int, WorkflowRun]:
    """Read a workflow run by its id."""
    number = int(value["id"])
    started = str(value.get("run_started_at") or value["created_at"])
    return number, (int(value["workflow_id"]), str(value["event"]), started, number)


def _unstarted(value: Any) -> Check | None:
    """Read a check suite that could not start as a failed check; None for every other one, queued or not."""
    if value.get("conclusion") != "startup_failure":
        return None
    name = str((value.get("app") or {}).get("name") or "check suite")
    return Check(name, CheckOutcome.FAILED, "startup_failure", conclusion="startup_failure")


def _annotation(value: Any) -> str:
    """Read an annotation of a check run as one line, as compilers write it."""
    return f"{value['path']}:{value['start_line']}: {value['annotation_level']}: {value['message']}"


def commit_status(value: Any) -> Check:
    """Read a commit status."""
    outcomes = {"pending": CheckOutcome.RUNNING, "success": CheckOutcome.PASSED}
    return Check(
        name=str(value["context"]),
        outcome=outcomes.get(value["state"], CheckOutcome.FAILED),
        summary=value.get("description") or "",
        conclusion=str(value["state"]),
    )


def _required_by_branch(value: Any) -> frozenset[str]:
    """Read the checks that the classic protection of a branch requires; everybody who reads the branch sees them."""
    required = (value.get("protection") or {}).get("required_status_checks") or {}
    checks = required.get("checks") or ()
    return frozenset(str(name) for name in required.get("contexts") or ()) | frozenset(
        str(check["context"]) for check in checks
    )


def _required_by_rule(value: Any) -> frozenset[str]:
    """Read the checks that one rule of a ruleset requires; a rule of another kind requires none."""
    if value["type"] != "required_status_checks":
        return frozenset()
    checks = (value.get("parameters") or {}).get("required_status_checks") or ()
    return frozenset(str(check["context"]) for check in checks)


def _outcome(status: str, conclusion: str) -> CheckOutcome:
    if status != "completed":
        return CheckOutcome.RUNNING
    return _CONCLUDED.get(conclusion, CheckOutcome.FAILED)


def _job_id(value: Any) -> int | None:
    """Read a check run's job id, which is the id of the run itself; apps other than Actions have no job."""
    found = _JOB.search(value.get("details_url") or "")
    if found is not None:
        return int(found[2])
    return int(value["id"]) if (value.get("app") or {}).get("slug") == "github-actions" else None


def _run_id(value: Any) -> int | None:
    """Read the workflow run of a job, which is the unit that can be run again."""
    found = _JOB.search(value.get("details_url") or "")
    return int(found[1]) if found is not None else None


def _total(value: Any) -> int:
    """Read the number of entries of a list of which `value` is one page."""
    return int(value["total_count"])


def _head_of(value: Any) -> str:
    """Read the head commit of a pull request in a list."""
    return str(value["head"]["sha"])
