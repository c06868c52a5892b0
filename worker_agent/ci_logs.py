"""What failed checks say of themselves: their jobs' logs or, where GitHub keeps none, summaries and annotations."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from shared.errors import Gone
from shared.models import Check
from shared.text import excerpt, printable
from worker_agent.ports import Checks

log = structlog.get_logger()


async def told(checks: Checks, failed: Sequence[Check], limit: int) -> str:
    """What each failed check says, under its name; about `limit` characters in all, tail first. Raises `Transient`."""
    room = limit // max(1, len(failed))
    parts = [f"### {check.name}\n{excerpt(printable(await _said(checks, check)), room)}" for check in failed]
    return "\n\n".join(parts)


async def _said(checks: Checks, check: Check) -> str:
    """GitHub deletes logs after a while (410), and a job whose machine was lost never had one (404)."""
    if not check.job_id:
        return check.summary
    try:
        return await checks.log(check.job_id)
    except Gone as error:
        log.info("log_gone", outcome="skipped", check=check.name, error=str(error))
    try:
        remarks = await checks.annotations(check.job_id)
    except Gone:
        remarks = ()
    return "\n".join([check.summary, *remarks])
