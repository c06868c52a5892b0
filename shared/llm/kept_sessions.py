"""The sessions that are kept on this machine: one file for each item, agent and kind of call.

A file is a line of JSON about the session, and then what the program wrote. It is handed out once: whatever becomes
of the call that gets it, the next one begins anew unless that call has completed and left another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog

from shared.clock import Clock
from shared.filesystem import directories
from shared.llm.continuation import FoundSession, KeptSession, ResumeLimits, refusal

log = structlog.get_logger()

SESSION_BYTES = 16 * 2**20
"""A longer session is not kept."""

STORE_BYTES = 256 * 2**20
"""What all of them may take together; the oldest go first."""

_HEAD_BYTES = 2**16

_ID = re.compile(r"[0-9a-f][0-9a-f-]{0,63}")
"""A session's id becomes an argument, so it is no option."""

_NAME = re.compile(r"\.?[A-Za-z0-9-][A-Za-z0-9._-]{0,253}")
"""A name on the way to its file, which leads nowhere but down."""

_ENDING = ".session"

_NO_SESSION = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading says of a file that another version, or nobody, has written."""


@dataclass(frozen=True, slots=True)
class SessionStore:
    """The directory `root`, below which each item has one, and each agent one in that (`agent_directory`)."""

    root: Path
    clock: Clock
    limits: ResumeLimits

    def read(self, file: Path) -> KeptSession | None:
        """The session in a file; None for none, or for what this version does not read."""
        try:
            with directories.open_regular(file) as source:
                head, content = source.readline(_HEAD_BYTES), source.read(SESSION_BYTES + 1)
            return _kept(json.loads(head), content)
        except (OSError, *_NO_SESSION):
            return None

    def write(self, file: Path, kept: KeptSession) -> None:
        """Keep a session in place of the one before it; one for which there is no room is not kept. Raises nothing."""
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
        """Take a session away, so that nobody else has it; False where it is not there, or stays. Raises nothing."""
        with suppress(OSError):
            file.unlink()
            return True
        return False

    def remove(self, place: Path) -> None:
        """Forget one session, or all of a directory. Raises nothing."""
        directories.remove(place)
        with suppress(OSError, ValueError):
            for above in place.relative_to(self.root).parents[:-1]:
                (self.root / above).rmdir()

    def sweep(self) -> None:
        """Forget what is too old to be handed out, and the oldest where all take too much. Raises nothing."""
        now, taken = self.clock.now(), 0
        for age, file, size in sorted(self._files(now)):
            taken += size
            if not 0 <= age <= self.limits.seconds or taken > STORE_BYTES:
                self.remove(file)

    def _files(self, now: float) -> Iterator[tuple[float, Path, int]]:
        """Each with its age and bytes; what tells no age is older than anything."""
        for file in self.root.glob("*/*/*/*"):
            with suppress(OSError):
                yield now - _ended_at(file), file, file.lstat().st_size


class Continuation:
    """What goes with a request whose call may continue a session, and whose own may be continued.

    `told` is what the prompt then begins with: how the work tree differs from what the session has left. Nothing here
    raises, and only what a completed call has left is kept.
    """

    def __init__(
        self, store: SessionStore, file: Path, item_text: str, kept: KeptSession | None = None, told: str = ""
    ) -> None:
        self.told = told
        self._store = store
        self._file = file
        self._item_text = item_text
        self._kept = kept
        self._left: tuple[FoundSession, str, float] | None = None

    def take(self, circumstances: str) -> FoundSession | None:
        """The session, for a call under these circumstances; once, and None where it may not be continued."""
        kept, self._kept = self._kept, None
        if not self._store.claim(self._file) or kept is None:
            return None
        why = refusal(kept, circumstances, self._item_text, self._store.clock.now(), self._store.limits)
        log.info("session_handed_out", outcome="skipped" if why else "completed", reason=why or None)
        return None if why else kept.found

    def put(self, found: FoundSession, circumstances: str) -> None:
        """A call has completed and left this; it counts as soon as the tree is known that it has left (`leave`)."""
        self._left = found, circumstances, self._store.clock.now()

    def leave(self, tree: str) -> None:
        """The work tree as the call has left it: from now on its session may be continued."""
        if self._left is None:
            return
        (found, circumstances, ended_at), self._left = self._left, None
        self._store.write(self._file, KeptSession(found, circumstances, self._item_text, tree, ended_at))


def agent_directory(item: Path, agent: str) -> Path:
    """Where one agent keeps the sessions of an item, whose directory below the store's root is `item`."""
    return item / agent


def session_file(directory: Path, call: str) -> Path:
    """The session of one kind of call in an agent's directory of an item."""
    return directory / f"{call}{_ENDING}"


def _text(kept: KeptSession) -> bytes:
    about = asdict(kept)
    about["found"].pop("content")
    return json.dumps(about).encode() + b"\n"


def _kept(about: Any, content: bytes) -> KeptSession:
    """Raises one of `_NO_SESSION` for what is none."""
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
