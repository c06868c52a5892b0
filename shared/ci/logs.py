"""The output of failed checks: their jobs' logs or, where GitHub keeps none, summaries and annotations."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from shared.ci.excerpt import failing_step
from shared.ci.triage import Failure
from shared.errors import Gone
from shared.github.ports import Checks
from shared.models import Check
from shared.text import excerpt, last_words, one_line, printable

log = structlog.get_logger()


BRIEF_LINES, BRIEF_CHARS = 3, 100
"""Characters of the end of a failed check's log that fit into one line."""


def outputs(found: Sequence[Failure]) -> str:
    """Return the output of each failed check under a heading with its name."""
    return "\n\n".join(f"### {one.check.name}\n{one.output}" for one in found)


def brief(found: Sequence[Failure]) -> str:
    """Return one line for each failed check: its name and the end of its output."""
    return "\n".join(f"{one_line(one.check.name, 60)}: {_end(one.output)}" for one in found)


def _end(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return last_words(" ".join(lines[-BRIEF_LINES:]), BRIEF_CHARS)


async def failures(checks: Checks, failed: Sequence[Check], limit: int) -> tuple[Failure, ...]:
    """Return each failed check with the failing step of its log; about `limit` bytes in all. Raises `Transient`."""
    room = limit // max(1, len(failed))
    return tuple([Failure(check, await _output(checks, check, room)) for check in failed])


async def _output(checks: Checks, check: Check, room: int) -> str:
    """Return the log of a job or its replacement: other Apps have no jobs, and a commit status has only its summary.

    GitHub deletes logs after a while (410), and a job whose machine was lost never had one (404).
    """
    if check.job_id is not None:
        try:
            return failing_step(await checks.log(check.job_id), room)
        except Gone as error:
            log.info("log_gone", outcome="skipped", check=check.name, error=str(error))
    return excerpt(printable("\n".join([check.summary, *await _remarks(checks, check)])), room)


async def _remarks(checks: Checks, check: Check) -> tuple[str, ...]:
    if check.check_run_id is None:
        return ()
    try:
        return await checks.annotations(check.check_run_id)
    except Gone:
        return ()
