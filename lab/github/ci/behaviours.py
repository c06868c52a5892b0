"""Behaviours of a CI, as data: how the runs of a job end, when they begin, what is left of their logs. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STARTUP = "startup_failure"
"""Conclusion of a workflow run that could not begin: it has no jobs, and so the commit has no check runs."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Ending of a job's run without running its command.

    `conclusion` is GitHub's word. `says` is the last line of the log and an annotation. `log` tells
    whether there is a log at all: without one GitHub answers 404.
    """

    conclusion: str
    says: str = ""
    log: bool = True


@dataclass(frozen=True, slots=True)
class CiBehaviour:
    """Behaviour of a job's runs.

    `endings` are those of its first run on a commit, its second, and so on; the last one repeats, and
    None (or no ending at all) lets its command decide. A run stays queued for `delay_seconds` of lab
    time, with `never` for ever. `log_gone` makes its log answer 410, as GitHub does after its
    retention time; `log_bytes` of filler come before a log.
    """

    endings: tuple[Ending | None, ...] = ()
    delay_seconds: float = 0.0
    never: bool = False
    log_gone: bool = False
    log_bytes: int = 0

    def ending(self, attempt: int) -> Ending | None:
        """Return the ending of the run with this number (from 1) on a commit; None when the command decides."""
        return self.endings[min(attempt, len(self.endings)) - 1] if self.endings else None


PASSED = Ending("success")
FAILED = Ending("failure", "Process completed with exit code 1.")
UNSTARTED = Ending(STARTUP)
_LOST = (
    "The hosted runner lost communication with the server. Anything in your workflow that terminates the runner "
    "process, starves it for CPU/Memory, or blocks its network access can cause this error."
)

HONEST = CiBehaviour()
"""The command decides, at once."""
GREEN = CiBehaviour((PASSED,))
RED = CiBehaviour((FAILED,))
FLAKY = CiBehaviour((FAILED, PASSED))
"""Red, and green when the failed jobs are run again on the same commit."""
NEVER = CiBehaviour(never=True)
"""Queued, and never begun."""
CANCELLED = CiBehaviour((Ending("cancelled", "The operation was canceled."),))
TIMED_OUT = CiBehaviour((Ending("timed_out", "The job has exceeded the maximum execution time of 6h0m0s."),))
STARTUP_FAILURE = CiBehaviour((UNSTARTED,))
RUNNER_LOST = CiBehaviour((Ending("failure", _LOST, log=False), None))
"""The machine vanished: red with an annotation and without a log. Run again, the command decides."""
LOG_GONE = CiBehaviour((FAILED,), log_gone=True)

MOODS: Mapping[str, CiBehaviour] = {
    "honest": HONEST,
    "green": GREEN,
    "red": RED,
    "flaky": FLAKY,
    "never": NEVER,
    "cancelled": CANCELLED,
    "timed out": TIMED_OUT,
    "startup failure": STARTUP_FAILURE,
    "runner lost": RUNNER_LOST,
    "log gone": LOG_GONE,
}
"""The named behaviours; the names set them over HTTP."""


def late(seconds: float) -> CiBehaviour:
    """The command decides, but only `seconds` of lab time after the push."""
    return CiBehaviour(delay_seconds=seconds)


@dataclass(frozen=True, slots=True)
class Wish:
    """A behaviour for some runs; an empty `job`, `branch` or `sha` means any."""

    mood: CiBehaviour
    job: str = ""
    branch: str = ""
    sha: str = ""

    def covers(self, job: str, branch: str, sha: str) -> bool:
        """Return whether it applies to this job's runs on this commit."""
        return self.job in {"", job} and self.branch in {"", branch} and self.sha in {"", sha}
