"""What is left on this machine of an item that was given up: the last prompt, what came of it, and why it ended."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog
from anyio import to_thread

from shared.errors import Blocked, EngineError
from shared.filesystem import directories
from shared.git.publisher import keep
from shared.git.workspace import Workspace
from shared.llm.port import Request, RunOutcome
from shared.process import CommandFailed
from shared.text.comment_signatures import Gate

log = structlog.get_logger()

TRANSCRIPT_BYTES = 4 * 2**20
"""Of a transcript that is kept with an item, its end; the whole one lies in `kept/calls` for a while."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last paid run of an item that completed: from the commit `start` it made `tree`."""

    space: Workspace
    start: str
    tree: str
    request: Request
    outcome: RunOutcome


async def keep_last(last: LastRun, why: Blocked, directory: Path, gate: Gate) -> bool:
    """Write `patch.diff`, `prompt.md`, `outcome.json` and, where there is one, `events.jsonl`; whether that worked.

    It is never a reason not to give up: what cannot be written is logged. No secret gets into the
    texts; the patch is kept as it is.
    """
    told = {
        "error": str(why),
        "category": why.category,
        "call": last.request.call,
        "attempt": last.request.attempt,
        "retry": last.request.retry,
        "limits": asdict(last.request.limits),
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
        if last.outcome.log is not None:
            files["events.jsonl"] = await to_thread.run_sync(_end_of, last.outcome.log)
        for name, text in files.items():
            await to_thread.run_sync(_write, directory / name, gate.hide(text).encode("utf-8", "replace"))
    except (EngineError, CommandFailed, OSError) as error:
        log.warning("last_run_not_kept", outcome="failed", error=str(error))
        return False
    log.info("last_run_kept", outcome="completed", path=str(directory))
    return True


def _end_of(log: Path) -> str:
    """The end of a transcript, from the beginning of a line; empty when it has been tidied away meanwhile."""
    try:
        with directories.open_regular(log) as file:
            left_out = max(0, file.seek(0, os.SEEK_END) - TRANSCRIPT_BYTES)
            file.seek(left_out)
            text = file.read(TRANSCRIPT_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    return text.partition("\n")[2] if left_out else text


def _write(path: Path, content: bytes) -> None:
    directories.remove(path)
    directories.write(path, content)


def below_state(path: Path) -> str:
    """A file in `kept/` without the way there, which is nobody else's business."""
    parts = path.parts
    return "/".join(parts[parts.index("kept") :] if "kept" in parts else parts[-1:])
