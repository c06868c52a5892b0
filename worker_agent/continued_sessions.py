"""Which of an item's calls go on with what the program remembers of the last one of their kind, and what they are told.

Only calls that write code or tests do, each kind in a session of its own: who judges begins anew, always. Sessions
stay on this machine, and end with the item or the lease.
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
from shared.llm.continuation import KeptSession
from shared.llm.kept_sessions import Continuation, SessionStore, agent_directory, session_file
from shared.llm.port import CoderCall
from shared.lock.hold import RELEASED, Held
from shared.process import CommandFailed
from shared.text.prompts import Prompts, Untrusted
from shared.workflow import HALTED, TERMINAL, Stage
from worker_agent.work_context import WorkContext

log = structlog.get_logger()

CONTINUED = frozenset({CoderCall.WRITE_TESTS, CoderCall.IMPLEMENT, CoderCall.REFACTOR, CoderCall.FIX_CI})

MOST_CHANGED, MOST_CHARACTERS = 50, 8000
"""Where more files are not as the last call left them, or their names are longer, its session is not worth its tokens.
"""

SWEEP_SECONDS = 60.0
"""How often is looked for sessions that are too old."""


class ContinuedSessions:
    """The sessions of one repository's items that this agent's calls have left."""

    def __init__(self, store: SessionStore, repository: str, prompts: Prompts) -> None:
        self._store = store
        self._repository = repository
        self._prompts = prompts
        self._next = 0.0

    def tidy(self) -> None:
        """Once a minute: forget what is too old, also where nothing is worked on any more."""
        now = self._store.clock.boot()
        if now >= self._next:
            self._next = now + SWEEP_SECONDS
            self._store.sweep()

    async def of(self, work: WorkContext, call: CoderCall, start: str) -> Continuation | None:
        """What goes with a call that begins with the files of `start`; None for one that always begins anew."""
        if call not in CONTINUED:
            return None
        file = session_file(self._directory(work.held), call)
        kept = await to_thread.run_sync(self._store.read, file)
        changed = None if kept is None else await _changed(work, kept, start)
        if changed is None:
            return Continuation(self._store, file, _words(work))
        told = self._prompts.render("continue", changed=Untrusted("\n".join(changed)))
        return Continuation(self._store, file, _words(work), kept, told)

    def ended(self, held: Held) -> None:
        """A lease has ended: forget what its item will not need any more."""
        if is_over(held.lost, held.fence.stage):
            self._store.remove(self._directory(held))

    def _directory(self, held: Held) -> Path:
        item = workspace_path(self._store.root, self._repository, held.fence.key.number)
        return agent_directory(item, held.claimant.agent)


def is_over(lost: str, stage: Stage) -> bool:
    """Whether a lease that has ended so is the last that this agent had to do with the item for now (pure)."""
    return lost not in {"", RELEASED} or stage in TERMINAL | HALTED


async def _changed(work: WorkContext, kept: KeptSession, start: str) -> tuple[str, ...] | None:
    """The files of `start` that are not as a session has left them; None where that is unknown, or too much."""
    try:
        changes = await work.space.changes(kept.tree, start)
    except (EngineError, CommandFailed, ValueError) as error:  # made in a workspace that is gone
        log.info("session_handed_out", outcome="skipped", reason=f"its tree is not known: {error}"[:300])
        return None
    return listed([change.path for change in changes])


def listed(paths: Sequence[str]) -> tuple[str, ...] | None:
    """The paths as a prompt names them; None where that is too much (pure)."""
    return tuple(sorted(paths)) if len(paths) <= MOST_CHANGED and sum(map(len, paths)) <= MOST_CHARACTERS else None


def _words(work: WorkContext) -> str:
    """What people ask for, in one word: who takes something back takes it from every session, too."""
    return hashlib.sha256(json.dumps([work.issue.title, work.text, work.conventions]).encode()).hexdigest()
