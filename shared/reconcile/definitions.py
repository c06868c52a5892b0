"""Definitions of the stage labels at the start of an agent: deleted ones are created again, or a person is told."""

from __future__ import annotations

import structlog

from shared.errors import EngineError, NotAllowed
from shared.github.ports import LabelBoard
from shared.lock.write_permit import OperatorPermit

log = structlog.get_logger()

START = OperatorPermit("start of an agent")
"""Permit to create labels: whoever starts an agent wants its labels to exist."""


async def restore(board: LabelBoard, repository: str) -> None:
    """Create the labels that `repository` lacks, once; a refusal becomes one instruction in the log, never an error."""
    try:
        created = await board.create_all(START)
    except NotAllowed as error:
        log.error(
            "labels_missing",
            outcome="failed",
            repo=repository,
            error=str(error),
            next_step="run `workflow-engine init` with a token that may write issues, or create the labels by hand",
        )
    except EngineError as error:
        log.warning("labels_not_looked_at", outcome="skipped", repo=repository, error=str(error))
    else:
        if created:
            log.warning("labels_restored", outcome="completed", repo=repository, labels=list(created))
