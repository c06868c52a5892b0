"""The calls of an item that continue the program's session of the last call of their kind, and their prompts.

Only calls that write code or tests do, each kind in a session of its own; a call that judges always begins anew.
Sessions stay on this machine, and end with the item or the lease.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import structlog
from anyio import to_thread

from shared.errors import EngineError
from shared.git.names import workspace_path
from shared.llm.kept_sessions import Continuation, KeptSession, SessionStore, session_file
from shared.llm.port import CoderCall
from shared.lock.hold import RELEASED, Held
from shared.process import CommandFailed
from shared.text.prompts import Prompts, Untrusted
from shared.workflow import HALTED, TERMINAL, Stage
from worker_agent.work_context import WorkContext

log = structlog.get_logger()

CONTINUED = frozenset({CoderCall.WRITE_TESTS, CoderCall.IMPLEMENT, CoderCall.REFACTOR, CoderCall.FIX_CI})

MOST_CHANGED, MOST_CHARACTERS = 50, 8000
"""The most changed files, and characters of their names: beyond that, a session is not worth its tokens."""

SWEEP_SECONDS = 60.0
"""Seconds between two searches for sessions that are too old."""


class ContinuedSessions:
    """The sessions of one repository's items that this agent's calls have left."""

    def __init__(self, store: SessionStore, repository: str, prompts: Prompts) -> None:
        self._store = store
        self._repository = repository
        self._prompts = prompts
        self._next = 0.0

    def tidy(self) -> None:
        """Delete sessions that are too old, once a minute; also if no item is worked on any more."""
        now = self._store.clock.boot()
        if now >= self._next:
            self._next = now + SWEEP_SECONDS
            self._store.sweep()

    async def of(self, work: WorkContext, call: CoderCall, start: str) -> Continuation | None:
        """Return the session that a call on the files of `start` continues or begins; None if its kind keeps none."""
        if call not in CONTINUED:
            return None
        file = session_file(self._directory(work.held), call)
        kept = await to_thread.run_sync(self._store.read, file)
        changed = None if kept is None else await _changed_files(work, kept, start)
        if changed is None:
            return Continuation(self._store, file, _words(work))
        told = self._prompts.render("continue", changed=Untrusted("\n".join(changed)))
        return Continuation(self._store, file, _words(work), kept, told)

    def ended(self, held: Held) -> None:
        """Delete the sessions of an item whose lease has ended if they are not needed any more."""
        if is_over(held.lost, held.fence.stage):
            self._store.remove(self._directory(held))

    def _directory(self, held: Held) -> Path:
        return workspace_path(self._store.root, self._repository, held.fence.key.number) / held.claimant.agent


def is_over(lost: str, stage: Stage) -> bool:
    """Return whether an ended lease was this agent's last one on the item for now (pure)."""
    return lost not in {"", RELEASED} or stage in TERMINAL | HALTED


async def _changed_files(work: WorkContext, kept: KeptSession, start: str) -> tuple[str, ...] | None:
    """Return the files that differ between a session's end and `start`; None if that is unknown, or too many."""
    try:
        changes = await work.space.changes(kept.tree, start)
    except (EngineError, CommandFailed, ValueError) as error:  # made in a workspace that is gone
        log.info("session_handed_out", outcome="skipped", reason=f"its tree is not known: {error}"[:300])
        return None
    return listed([change.path for change in changes])


def listed(paths: Sequence[str]) -> tuple[str, ...] | None:
    """Return the paths as a prompt names them; None if there are too many (pure)."""
    return tuple(sorted(paths)) if len(paths) <= MOST_CHANGED and sum(map(len, paths)) <= MOST_CHARACTERS else None


def _words(work: WorkContext) -> str:
    """Return a digest of the people's text: text that a person takes back must vanish from every session, too."""
    return hashlib.sha256(json.dumps([work.issue.title, work.text, work.conventions]).encode()).hexdigest()
