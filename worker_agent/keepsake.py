"""What is left on this machine of an item that was given up: the last prompt, what came of it, and why it ended."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog
from anyio import to_thread

from shared.errors import Blocked, EngineError
from shared.git import directories
from shared.git.publisher import keep
from shared.git.workspace import Workspace
from shared.llm.port import Outcome, Request
from shared.marks import Gate
from shared.process import CommandFailed

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Last:
    """The last paid run of an item that completed: from the commit `start` it made `tree`."""

    space: Workspace
    start: str
    tree: str
    request: Request
    outcome: Outcome


async def keep_last(last: Last, why: Blocked, directory: Path, gate: Gate) -> bool:
    """Write `patch.diff`, `prompt.md` and `outcome.json` into `directory`; whether that worked.

    It is never a reason not to give up: what cannot be written is logged. No secret gets into the
    two texts.
    """
    told = {
        "error": str(why),
        "category": why.category,
        "call": last.request.call,
        "attempt": last.request.attempt,
        "retry": last.request.retry,
        "start": last.start,
        "tree": last.tree,
        "ending": last.outcome.ending,
        "usage": asdict(last.outcome.usage),
        "said": last.outcome.text,
        "remarks": list(last.outcome.notes),
    }
    files = {"prompt.md": last.request.prompt, "outcome.json": json.dumps(told, indent=1, default=str)}
    try:
        await keep(last.space.git, last.start, last.tree, directory)
        for name, text in files.items():
            await to_thread.run_sync(_write, directory / name, gate.hide(text).encode("utf-8", "replace"))
    except (EngineError, CommandFailed, OSError) as error:
        log.warning("last_run_not_kept", outcome="failed", error=str(error))
        return False
    log.info("last_run_kept", outcome="completed", path=str(directory))
    return True


def _write(path: Path, content: bytes) -> None:
    directories.remove(path)
    directories.write(path, content)
