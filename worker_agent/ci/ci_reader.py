"""The reader of CI for one held item: reads checks no oftener than configured, and diagnoses red ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from shared.ci.ci_round import CiObservation, Rerun
from shared.ci.logs import failures
from shared.ci.presence import Presence
from shared.ci.triage import Cause, Failure, triage
from shared.ci.verdict import CiVerdict, failed, fold
from shared.git.ports import Mirror
from shared.github.ports import Checks
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.models import Check, CheckOutcome
from shared.scheduling.agent_contract import Skip
from worker_agent.decide import RED_BASE
from worker_agent.policy import Policy

LOG_BYTES = 64_000
"""The most bytes of the failing jobs' logs that the diagnosis reads."""

PARK_SECONDS = 300.0
"""Seconds between two looks at a red base."""

RERUN_TRAILER = "Reran"
"""The fence's trailer that names a commit whose failed jobs were rerun, so that no agent runs them again."""

_CHANGED = re.compile(r"^\+\+\+ b/(.+)$", re.MULTILINE)


class CiReader:
    """The CI results of the commits of one repository's items."""

    def __init__(self, checks: Checks, source: Mirror, policy: Policy, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._checks = checks
        self._source = source
        self._policy = policy
        self._boot = boot
        self._presence = Presence(checks, source)
        self._begun = False
        self._last: dict[str, tuple[float, CiObservation]] = {}
        self._known: dict[tuple[str, str], tuple[tuple[Check, ...], CiObservation]] = {}

    async def begin(self) -> None:
        """Read which checks the base branch requires, ahead of need: later reads are free. Raises `Transient`."""
        if not self._begun:
            await self._checks.required(self._policy.base_branch)
            self._begun = True

    def expect(self, fence: Fence) -> None:
        """Delay the next read by the interval, since CI has only just been started."""
        if not self._presence.known_missing(self._policy.base_branch):  # else nothing is there to be waited for
            self._remember(fence.work_head, CiObservation())

    async def glance(self, fence: Fence) -> tuple[CiObservation, bool]:
        """Return the checks of the fence's commit, and whether they were read now; not twice within `ci.interval`."""
        at, known = self._last.get(fence.work_head, (0.0, None))
        if known is not None and self._boot() - at < self._policy.pulls.ci_interval_seconds:
            return known, False
        return await self.read(fence), True

    async def read(self, fence: Fence) -> CiObservation:
        """Read the checks of the fence's commit now. Raises `Transient`.

        Required checks are read only if they can matter: nothing failed and nothing runs.
        """
        checks = await self._checks.of(fence.work_head)
        if not checks and self._policy.bounds.none_is_green:  # none may be a CI that could not start
            checks = await self._checks.unstarted(fence.work_head)
        rerun = Rerun.read(fence.phase)
        if rerun:
            checks = rerun.awaited(checks)
        elif may_rerun(fence):
            checks = await self._once_more(checks)
        reading = CiObservation(checks)
        if reading.verdict in {CiVerdict.GREEN, CiVerdict.NONE}:
            reading = CiObservation(checks, await self._checks.required(self._policy.base_branch))
        if reading.verdict is CiVerdict.NONE and not checks:
            reading = replace(reading, no_ci=await self._presence.is_missing(self._policy.base_branch))
        self._remember(fence.work_head, reading)
        return reading

    async def diagnosed(self, fence: Fence, reading: CiObservation) -> CiObservation:
        """Return a red reading with its diagnosis; logs are read once for the same checks. Raises `Transient`."""
        if reading.verdict is not CiVerdict.RED:
            return reading
        key = fence.work_head, fence.phase
        checks, known = self._known.get(key, ((), None))
        if known is None or checks != reading.checks or known.diagnosis is None:
            known = await self._diagnose(fence, reading)
            self._known = {key: (reading.checks, known)}
        return known

    async def _diagnose(self, fence: Fence, reading: CiObservation) -> CiObservation:
        red = failed(reading.checks)
        once = may_rerun(fence) and any(check.run_id for check in red)
        base = await self.base()
        touched = _CHANGED.findall(await self._source.diff(fence.base, fence.work_head)) if fence.base else ()
        said = await self._read_outputs(red, base)
        diagnosis = triage(said, base, touched=frozenset(touched), again=not once)
        return replace(reading, diagnosis=diagnosis, rerunnable=once)

    async def _read_outputs(self, red: tuple[Check, ...], base: tuple[Check, ...]) -> tuple[Failure, ...]:
        """Return the output of each failed check; no log is read of a check that the base fails as well."""
        known = {check.name for check in failed(base)}
        there, ours = ([c for c in red if (c.name in known) is wanted] for wanted in (True, False))
        return (*(Failure(check) for check in there), *await failures(self._checks, ours, LOG_BYTES))

    async def base(self) -> tuple[Check, ...]:
        """Return the checks of the base branch's head; raise `Transient`."""
        tip = await self._policy.base.head_or_none(self._tip)
        return await self._checks.of(tip) if tip else ()

    async def _tip(self, branch: str) -> str | None:
        return await self._source.refresh(f"refs/heads/{branch}")

    async def skip_while_base_is_red(self, intent: Intent | str, fence: Fence | None) -> Skip | None:
        """Return the reason not to claim an item that waits for a red base, else None; checked before each claim.

        Only those checks of the base count that fail on the item's own commit. A person's new order does not wait.
        """
        if isinstance(intent, str) or intent.phase != RED_BASE or intent.attempt is not None or fence is None:
            return None
        ours = {check.name for check in failed(await self._checks.of(fence.work_head))}
        same = [check for check in await self.base() if check.name in ours] if ours else []
        if fold(same) not in {CiVerdict.RED, CiVerdict.RUNNING}:
            return None
        return Skip(f"the checks of {self._policy.base_branch} are not green again", PARK_SECONDS)

    async def _once_more(self, checks: tuple[Check, ...]) -> tuple[Check, ...]:
        """Return stale checks as failed, so that they are rerun once; only then they count as missing.

        So do superseded ones that were cancelled, if the base requires them: GitHub may go by these. (One that failed
        would fail again: it is given the labels of that time.) A check that is no run of Actions cannot be rerun, and
        is missing at once.
        """
        replaced = any(map(_is_cancelled_for_another, checks))
        required = await self._checks.required(self._policy.base_branch) if replaced else frozenset[str]()

        def is_due(check: Check) -> bool:
            if _is_cancelled_for_another(check):
                return check.name in required
            return check.outcome is CheckOutcome.STALE and check.run_id is not None

        return tuple(replace(one, outcome=CheckOutcome.FAILED) if is_due(one) else one for one in checks)

    def _remember(self, sha: str, reading: CiObservation) -> None:
        """Remember the reading, and drop those of commits that were not read for long: they have ended or moved on."""
        now = self._boot()
        recent = 10 * max(self._policy.pulls.ci_interval_seconds, 60.0)
        self._last = {other: last for other, last in self._last.items() if now - last[0] < recent}
        self._last[sha] = now, reading


def _is_cancelled_for_another(check: Check) -> bool:
    return check.outcome is CheckOutcome.SUPERSEDED and check.conclusion == "cancelled"


def explained(reading: CiObservation) -> tuple[str, ...]:
    """Return a line for each failed check: its name and the cause."""
    found = reading.diagnosis.findings if reading.diagnosis else ()
    return tuple(f"{finding.failure.check.name}: {finding.cause}" for finding in found)


def of(reading: CiObservation, *causes: Cause) -> tuple[Check, ...]:
    """Return the failed checks with one of these causes."""
    return tuple(failure.check for failure in reading.diagnosis.of(*causes)) if reading.diagnosis else ()


def rerun_noted(fence: Fence) -> tuple[tuple[str, str], ...]:
    """Return the fence's further trailers, with its commit marked as one whose jobs were rerun."""
    return (*rerun_forgotten(fence), (RERUN_TRAILER, fence.work_head))


def rerun_forgotten(fence: Fence) -> tuple[tuple[str, str], ...]:
    """Return the fence's further trailers without that mark."""
    return tuple((name, value) for name, value in fence.more if name != RERUN_TRAILER)


def may_rerun(fence: Fence) -> bool:
    """Return whether the jobs of the fence's commit may be rerun.

    They may also if the base was to blame the last time, or if a person's command continues the work.
    """
    if Rerun.read(fence.phase) is not None:
        return False
    continued = fence.phase == RED_BASE or fence.approved_by.startswith("/")
    return continued or dict(fence.more).get(RERUN_TRAILER) != fence.work_head
