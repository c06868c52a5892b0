"""The decision what follows from the CI results of one commit: wait, run jobs again, repair, pass on or give up (pure).

A rerun is recorded by the newest job that it replaces. The worker acts on the decision; the merge gate asks the same
`verdict.fold` and `verdict.is_green`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from shared.ci.triage import OURS, Cause, Diagnosis
from shared.ci.verdict import CiVerdict, fold, is_green
from shared.models import Check, CheckOutcome

SETTLING_SECONDS = 60.0
"""Seconds after a push during which missing checks may only be late; after that, the commit has none."""

NO_CI_SECONDS = 10.0
"""Seconds to wait for the first check of a repository without any CI."""


class CiAction(StrEnum):
    """The next action that follows from the CI result of a commit."""

    PASS = "pass on"
    WAIT = "wait"
    RERUN = "run again"
    REPAIR = "repair"
    HOLD = "wait for the base"
    PASS_UNCHECKED = "pass on with a warning"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class CiLimits:
    """Limits of one commit: repairs, seconds that CI may take, and whether a commit without checks counts as green."""

    fixes: int = 3
    seconds: float = 600.0
    none_is_green: bool = False


@dataclass(frozen=True, slots=True)
class CiObservation:
    """The CI state of a commit at one look; `rerunnable` is true if GitHub can run its failed jobs once more.

    `no_ci` is true if there is no check, and the repository has never had one and has no workflow.
    """

    checks: tuple[Check, ...] = ()
    required: frozenset[str] = frozenset()
    diagnosis: Diagnosis | None = None
    rerunnable: bool = False
    no_ci: bool = False

    @property
    def verdict(self) -> CiVerdict:
        """The verdict on all checks together."""
        return fold(self.checks, self.required)

    @property
    def running(self) -> bool:
        """True while any check runs."""
        return any(check.outcome is CheckOutcome.RUNNING for check in self.checks)


UNCHECKED_RED = "unchecked-red"
"""The phase of a worker's fence at `reviewing` whose checks were red when time was up, for no reason of the change."""

SENT_BACK = "ci-red"
"""The phase of a reviewer's fence at `changes-requested` whose commit turned red after it was handed over."""

BASE_MOVED = "base"
"""The phase of a reviewer's fence at `changes-requested` whose branch needs its base merged in, and no other change."""

NO_READING = CiObservation()
"""The observation of a commit whose CI was not looked at."""


@dataclass(frozen=True, slots=True)
class CiRound:
    """The facts about one commit: `cause` if the commit is red, `rerunnable` if its failed jobs can be run again now,
    `running` while any check runs, `fixes` the repairs so far, `seconds` since CI was last asked for something,
    `no_ci` if the repository has no CI at all.
    """

    verdict: CiVerdict
    seconds: float
    cause: Cause = Cause.TESTS
    rerunnable: bool = False
    running: bool = False
    fixes: int = 0
    no_ci: bool = False


def decide(ci_round: CiRound, limits: CiLimits) -> CiAction:
    """Return what to do now. Only a repair spends an attempt; only a green commit is passed on without a warning."""
    overdue = ci_round.seconds > limits.seconds
    patience = CiAction.PASS_UNCHECKED if overdue else CiAction.WAIT
    match ci_round.verdict:
        case CiVerdict.RED:
            return _decide_red(ci_round, limits, patience)
        case CiVerdict.NONE if ci_round.seconds < _settling(ci_round, limits):
            return CiAction.WAIT
        case CiVerdict.NONE if ci_round.no_ci and not limits.none_is_green:
            return CiAction.PASS_UNCHECKED
        case verdict:
            return CiAction.PASS if is_green(verdict, none_is_green=limits.none_is_green) else patience


def _settling(ci_round: CiRound, limits: CiLimits) -> float:
    """Return the seconds during which missing checks may only be late."""
    if ci_round.no_ci:
        return min(NO_CI_SECONDS, limits.seconds)
    return min(SETTLING_SECONDS, limits.seconds) if limits.none_is_green else 0.0


def _decide_red(ci_round: CiRound, limits: CiLimits, patience: CiAction) -> CiAction:
    if ci_round.cause in OURS:
        return CiAction.REPAIR if ci_round.fixes < limits.fixes else CiAction.GIVE_UP
    if ci_round.cause is Cause.BASE:
        return CiAction.HOLD
    # GitHub runs failed jobs again only when the others have ended.
    return CiAction.RERUN if ci_round.rerunnable and not ci_round.running else patience


_RERUN = "rerun"
_REFUSED = "rerun-refused"
_MARK = re.compile(
    rf"(?:{_RERUN}|(?P<refused>{_REFUSED})) (?P<after>[0-9]+)(?(refused)(?: (?P<only>[0-9]+(?:,[0-9]+)*))?)"
)


@dataclass(frozen=True, slots=True)
class Rerun:
    """A rerun of the failed jobs of this commit, made or about to be made: `after` is the newest job before it.

    `refused` is true if GitHub refused the rerun, for the workflow runs `only`, or for all runs if `only` is empty.
    """

    after: int
    refused: bool = False
    only: frozenset[int] = frozenset()

    def __str__(self) -> str:
        runs = ",".join(str(run) for run in sorted(self.only))
        return " ".join(filter(None, (_REFUSED if self.refused else _RERUN, str(self.after), runs)))

    @classmethod
    def read(cls, text: str) -> Rerun | None:
        """Parse the text that `str` gives; None for any other text."""
        found = _MARK.fullmatch(text)
        if found is None:
            return None
        only = found["only"].split(",") if found["only"] else ()
        return cls(int(found["after"]), found["refused"] is not None, frozenset(map(int, only)))

    @classmethod
    def of(cls, failed: Iterable[Check]) -> Rerun:
        """Return a rerun of these failed jobs."""
        return cls(max((check.job_id or 0 for check in failed), default=0))

    def awaited(self, checks: Iterable[Check]) -> tuple[Check, ...]:
        """Return `checks`, with failed jobs that the rerun replaces as running: GitHub shows new jobs a little late."""
        return tuple(replace(c, outcome=CheckOutcome.RUNNING) if self._replaces(c) else c for c in checks)

    def _replaces(self, check: Check) -> bool:
        old = check.run_id is not None and check.job_id is not None and check.job_id <= self.after
        refused = self.refused and (not self.only or check.run_id in self.only)
        return old and check.outcome in {CheckOutcome.FAILED, CheckOutcome.STALE} and not refused
