"""Files kept on this machine of an item that was given up: the last prompt, its outcome, and the reason."""

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
"""Bytes of a transcript's end that are kept with an item; the whole one stays in `kept/calls` for a while."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last paid run of an item that completed: from the commit `start` it made `tree`."""

    space: Workspace
    start: str
    tree: str
    request: Request
    outcome: RunOutcome


async def keep_last(last: LastRun, why: Blocked, directory: Path, gate: Gate) -> bool:
    """Write `patch.diff`, `prompt.md`, `outcome.json` and, if there is one, `events.jsonl`; return whether that worked.

    A failed write is only logged, since it must not keep an item from being given up. The texts contain no secrets; the
    patch is kept unchanged.
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
    """Return the end of a transcript, from the beginning of a line; empty if the file was deleted meanwhile."""
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
    """Return the path of a file in `kept/`, without the directories above, which are not to be published."""
    parts = path.parts
    return "/".join(parts[parts.index("kept") :] if "kept" in parts else parts[-1:])
