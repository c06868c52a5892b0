"""The sessions of programs that a later call for the same item may continue: their facts, the rule, and their files.

A session is written by a program that an untrusted repository has influenced. Only calls of the same kind for the same
item get it, under exactly the circumstances of the call that left it.

There is one file for each item, agent and kind of call: a line of JSON about the session, and then the program's own
text. It is handed out once: the next call starts a new session, unless the call that got this one completes and leaves
another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import structlog

from shared.clock import Clock
from shared.filesystem import directories

log = structlog.get_logger()

SECONDS = 300.0
"""Seconds that vendors keep a prompt in their cache after its last use, as far as they document it."""

BYTES_OF_A_TOKEN = 40
"""Largest plausible bytes per token of a session's file; ten are usual. Tools could write the file, not the count."""

SESSION_BYTES = 16 * 2**20
"""Largest session, in bytes, that is kept."""

STORE_BYTES = 256 * 2**20
"""Bytes of all sessions together; the oldest are removed first."""

_HEAD_BYTES = 2**16

_ID = re.compile(r"[0-9a-f][0-9a-f-]{0,63}")
"""A session's id becomes an argument, so it must not look like an option."""

_NAME = re.compile(r"\.?[A-Za-z0-9-][A-Za-z0-9._-]{0,253}")
"""A name on the path to a session's file, which leads nowhere but down."""

_ENDING = ".session"

_NO_SESSION = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""Errors of reading a file that another version, or another program, has written."""


@dataclass(frozen=True, slots=True)
class ResumeLimits:
    """Limits of a continued session: its age in seconds since the end of its last call, and its length in tokens."""

    seconds: float = SECONDS
    tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session as a program has left it after a call.

    `place` are the names on the path to its file below the program's home. `tokens` is its length, and
    `counted` are the program's counts so far, which it counts again with the next call.
    """

    id: str
    place: tuple[str, ...]
    content: bytes = field(repr=False)
    tokens: int
    counted: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as a completed call has left it.

    `circumstances` and `item_text` identify how and for which words the call was made, `tree` is the work tree
    at its end, `ended_at` the time of that (local wall clock: another process reads it).
    """

    found: FoundSession
    circumstances: str
    item_text: str
    tree: str
    ended_at: float


def refusal(kept: KeptSession, circumstances: str, item_text: str, now: float, limits: ResumeLimits) -> str:
    """Return the reason why a call starts a new session instead of continuing `kept`; empty if it may continue."""
    age = now - kept.ended_at
    if kept.circumstances != circumstances:
        return "the call is made in another way than the last one"
    if kept.item_text != item_text:
        return "the text of the item has changed since"
    if not 0 <= age <= limits.seconds:  # a clock that was set back proves nothing
        return f"it is {age:.0f} seconds old, and the limit is {limits.seconds:g}"
    if len(kept.found.content) > BYTES_OF_A_TOKEN * limits.tokens:
        return f"it has {len(kept.found.content):,} bytes, more than {limits.tokens:,} tokens take"
    if kept.found.tokens > limits.tokens:
        return f"it has {kept.found.tokens:,} tokens, and the limit is {limits.tokens:,}"
    return ""


@dataclass(frozen=True, slots=True)
class SessionStore:
    """The directory `root`, below which each item has one, and each agent one in that."""

    root: Path
    clock: Clock
    limits: ResumeLimits

    def read(self, file: Path) -> KeptSession | None:
        """Return the session in a file; None if there is none, or if this version cannot read it."""
        try:
            with directories.open_regular(file) as source:
                head, content = source.readline(_HEAD_BYTES), source.read(SESSION_BYTES + 1)
            return _parse_session(json.loads(head), content)
        except (OSError, *_NO_SESSION):
            return None

    def write(self, file: Path, kept: KeptSession) -> None:
        """Keep a session instead of the previous one; if the disk is full it is not kept. Raises nothing."""
        partial = file.with_suffix(".partial")
        try:
            for place in (self.root, *reversed(file.relative_to(self.root).parents[:-1])):
                (self.root / place).mkdir(mode=0o700, exist_ok=True)
            directories.remove(partial)
            directories.write(partial, _text(kept) + kept.found.content)
            partial.replace(file)
        except OSError as error:
            directories.remove(partial)
            log.warning("session_not_kept", outcome="skipped", error=error.strerror)
        self.sweep()

    def claim(self, file: Path) -> bool:
        """Remove a session, so that no other call gets it; return False if it is missing or stays. Raises nothing."""
        with suppress(OSError):
            file.unlink()
            return True
        return False

    def remove(self, place: Path) -> None:
        """Remove one session, or all of a directory. Raises nothing."""
        directories.remove(place)
        with suppress(OSError, ValueError):
            for above in place.relative_to(self.root).parents[:-1]:
                (self.root / above).rmdir()

    def sweep(self) -> None:
        """Remove sessions too old to be handed out, and the oldest if all take too much space. Raises nothing."""
        now, taken = self.clock.now(), 0
        for age, file, size in sorted(self._files(now)):
            taken += size
            if not 0 <= age <= self.limits.seconds or taken > STORE_BYTES:
                self.remove(file)

    def _files(self, now: float) -> Iterator[tuple[float, Path, int]]:
        """Yield each file with its age and bytes; a file without a readable age counts as older than any other."""
        for file in self.root.glob("*/*/*/*"):
            with suppress(OSError):
                yield now - _ended_at(file), file, file.lstat().st_size


class Continuation:
    """The session that a request's call may continue, and the place for the one that it leaves.

    The prompt of a continued call begins with `tree_changes`: how the work tree differs from what the session has left.
    Nothing here raises, and only the session of a completed call is kept.
    """

    def __init__(
        self, store: SessionStore, file: Path, item_text: str, kept: KeptSession | None = None, tree_changes: str = ""
    ) -> None:
        self.tree_changes = tree_changes
        self._store = store
        self._file = file
        self._item_text = item_text
        self._kept = kept
        self._left: tuple[FoundSession, str, float] | None = None

    def take(self, circumstances: str) -> FoundSession | None:
        """Return the session for a call under these circumstances; only once, and None if it may not be continued."""
        kept, self._kept = self._kept, None
        if not self._store.claim(self._file) or kept is None:
            return None
        reason = refusal(kept, circumstances, self._item_text, self._store.clock.now(), self._store.limits)
        log.info("session_handed_out", outcome="skipped" if reason else "completed", reason=reason or None)
        return None if reason else kept.found

    def put(self, found: FoundSession, circumstances: str) -> None:
        """Note the session of a completed call; it is kept as soon as the resulting tree is known (`leave`)."""
        self._left = found, circumstances, self._store.clock.now()

    def leave(self, tree: str) -> None:
        """Keep the noted session, with the work tree that the call has left: now it may be continued."""
        if self._left is None:
            return
        (found, circumstances, ended_at), self._left = self._left, None
        self._store.write(self._file, KeptSession(found, circumstances, self._item_text, tree, ended_at))


def session_file(directory: Path, call: str) -> Path:
    """Return the file of the session of one kind of call, in an agent's directory of an item."""
    return directory / f"{call}{_ENDING}"


def _text(kept: KeptSession) -> bytes:
    about = asdict(kept)
    about["found"].pop("content")
    return json.dumps(about).encode() + b"\n"


def _parse_session(about: Any, content: bytes) -> KeptSession:
    """Parse a kept session; raise one of `_NO_SESSION` if it is none."""
    found = about["found"]
    name, place = str(found["id"]), tuple(str(name) for name in found["place"])
    if not content or len(content) > SESSION_BYTES or not _ID.fullmatch(name) or not all(map(_NAME.fullmatch, place)):
        raise ValueError("no session")
    session = FoundSession(
        id=name,
        place=place,
        content=content,
        tokens=int(found["tokens"]),
        counted={str(name): float(count) for name, count in found["counted"].items()},
    )
    words = {name: str(about[name]) for name in ("circumstances", "item_text", "tree")}
    return KeptSession(session, **words, ended_at=float(about["ended_at"]))


def _ended_at(file: Path) -> float:
    try:
        with directories.open_regular(file) as source:
            return float(json.loads(source.readline(_HEAD_BYTES))["ended_at"])
    except (OSError, *_NO_SESSION):
        return -1.0
