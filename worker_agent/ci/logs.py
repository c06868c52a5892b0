"""What failed checks say of themselves: their jobs' logs or, where GitHub keeps none, summaries and annotations."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from shared.ci.excerpt import failing_step
from shared.ci.triage import Failure
from shared.errors import Gone
from shared.models import Check
from shared.text import excerpt, printable
from worker_agent.ports import Logs

log = structlog.get_logger()


async def told(logs: Logs, failed: Sequence[Check], limit: int) -> str:
    """What each failed check says, under its name; about `limit` characters in all, tail first. Raises `Transient`."""
    found = await failures(logs, failed, limit)
    return "\n\n".join(f"### {one.check.name}\n{one.said}" for one in found)


async def failures(logs: Logs, failed: Sequence[Check], limit: int) -> tuple[Failure, ...]:
    """Each failed check with the failing step of its log; about `limit` bytes in all. Raises `Transient`."""
    room = limit // max(1, len(failed))
    return tuple([Failure(check, await _said(logs, check, room)) for check in failed])


async def _said(logs: Logs, check: Check, room: int) -> str:
    """GitHub deletes logs after a while (410), and a job whose machine was lost never had one (404)."""
    if not check.job_id:
        return excerpt(printable(check.summary), room)
    try:
        return failing_step(await logs.log(check.job_id), room)
    except Gone as error:
        log.info("log_gone", outcome="skipped", check=check.name, error=str(error))
    try:
        remarks = await logs.annotations(check.job_id)
    except Gone:
        remarks = ()
    return excerpt(printable("\n".join([check.summary, *remarks])), room)
