"""The rejected attempts on an item, read from the notes of its commits for a person: one line for each attempt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import structlog

from shared.errors import EngineError
from shared.git.command import Identity
from shared.git.mirror import Mirror
from shared.git.names import notes_ref
from shared.git.notes import Note, NoteError, Notes, read
from shared.lock.fence import Fence
from shared.process import CommandFailed
from shared.text import neutralise, one_line
from shared.text.comment_signatures import Keyring
from worker_agent.branch.history import HISTORY_LIMIT

log = structlog.get_logger()

SHOWN = 8
"""Number of attempts that are listed, the newest ones; of the others only the number is given."""

REASON_CHARS = 200
"""Maximum length of one attempt's reason, in characters."""

CI_RED = "CI_RED"
"""The type of error of a commit that CI refused, in the note of its repair."""

_NUMBERED = re.compile(r"implementation \d+")

_READER = Identity("nobody", "nobody@invalid")
"""An identity for reading notes only; it signs nothing."""


class AttemptHistory:
    """The earlier attempts on one repository's items; read from git alone, never from GitHub's API."""

    def __init__(self, mirror: Mirror, keys: Keyring) -> None:
        self._mirror = mirror
        self._keys = keys

    async def before(self, fence: Fence) -> tuple[str, ...]:
        """Return one line of Markdown for each, oldest first. Failures are only logged: none blocks giving up."""
        if not fence.work_head:
            return ()
        try:
            return attempt_lines(await self._notes(fence))
        except (EngineError, CommandFailed, OSError) as error:
            log.warning("tries_not_read", outcome="skipped", error=str(error))
            return ()

    async def _notes(self, fence: Fence) -> Sequence[Note]:
        """Return the authentic notes of the current start's commits, oldest first."""
        await self._mirror.obtain(fence.work_head, fence.key.ref)
        notes = await commit_notes(self._mirror, fence.key.number, fence.work_head, self._keys, without=fence.base)
        return notes[::-1]


async def commit_notes(mirror: Mirror, number: int, head: str, keys: Keyring, *, without: str = "") -> tuple[Note, ...]:
    """Return the authentic notes of an issue's commits that lead to `head`, newest first; not those of `without`."""
    ref = notes_ref(number)
    if await mirror.refresh(ref) is None:
        return ()
    texts = await Notes(mirror.git, _READER).all(ref)
    commits = await mirror.log(head, HISTORY_LIMIT, without=without)
    found = (read(texts[commit.oid], keys) for commit in commits if commit.oid in texts)
    return tuple(note for note in found if note is not None)


def attempt_lines(notes: Sequence[Note]) -> tuple[str, ...]:
    """Return a line for each rejected attempt in `notes` (oldest first): name, type of error, and reason."""
    refused = RefusedAttempts()
    errors = [error for note in notes for error in refused.of(note)]
    left = len(errors) - SHOWN
    shown = [_line(error) for error in errors[-SHOWN:]]
    return (f"{left} more before these", *shown) if left > 0 else tuple(shown)


class RefusedAttempts:
    """Collects rejected attempts from notes, oldest first: each once, and numbered if its name occurs again."""

    def __init__(self) -> None:
        self._known: list[NoteError] = []
        self._named: Counter[str] = Counter()

    def of(self, note: Note) -> Iterator[NoteError]:
        """Yield the errors of this note that no earlier note has reported."""
        for error in (note.error, *note.rolled_back):
            if error is not None and error not in self._known:  # the last refused try stands in the note of two commits
                self._known.append(error)
                self._named[error.message] += 1
                yield _again(error, self._named[error.message])


def _again(error: NoteError, time: int) -> NoteError:
    """Return the error, marked as repeated if its name occurred before: `/retry` makes the last attempt once more."""
    found = _NUMBERED.match(error.message)
    if found is None or time == 1:
        return error
    more = f"{found[0]} ({time}{'nd' if time == 2 else 'rd' if time == 3 else 'th'} time)"
    return replace(error, message=more + error.message[found.end() :])


def _line(error: NoteError) -> str:
    what, why = one_line(error.message, REASON_CHARS), one_line(error.details, REASON_CHARS)
    return neutralise(": ".join(filter(None, (f"{what} ({one_line(error.type, 40)})", why))))
