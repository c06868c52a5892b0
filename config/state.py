"""The state directory: its version, and the identities of the agents that run from it.

Everything in it may be deleted at any time: GitHub and the fences know what matters. An identity is
a lock file (flock, held for the life of its agent) and a small JSON file with the nonces of the locks
that the agent holds on GitHub, so that a restarted agent goes on with its own locks at once.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import structlog

from shared.errors import Misconfigured
from shared.filesystem.disk_space import DiskFull, as_disk_full
from shared.workflow import Role

log = structlog.get_logger()

VERSION = 1
"""The layout that this version of the engine reads and writes."""

_AGENT_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,63})")


class AgentIdentity:
    """This process's identity on GitHub, and the nonces of the locks that it holds there."""

    nonces: frozenset[str]

    def __init__(self, kind: Role, lock: _Lock, nonces: frozenset[str]) -> None:
        """Write it to the disk, with the nonces of an earlier process of the same id."""
        self.kind, self.id, self._lock = kind, lock.path.stem, lock
        self._write(nonces)

    def fresh(self) -> str:
        """Return a new nonce, which is remembered before."""
        nonce = secrets.token_hex(16)
        self.remember(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Return whether this agent id made the nonce."""
        return nonce in self.nonces

    def remember(self, nonce: str) -> None:
        """Note, on disk before it returns, that a lock with this nonce is about to be ours."""
        self._write(self.nonces | {nonce})

    def forget(self, nonce: str) -> None:
        """Note that the lock with this nonce is no longer ours."""
        self._write(self.nonces - {nonce})

    def _write(self, nonces: frozenset[str]) -> None:
        self._lock.renew()
        content = {"id": self.id, "kind": self.kind, "pid": os.getpid(), "nonces": sorted(nonces)}
        replace_file(self._lock.path.with_suffix(".json"), json.dumps(content) + "\n")
        self.nonces = nonces


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """One state directory; several agents may share it, each under its own id."""

    path: Path

    def open(self) -> Self:
        """Create it (mode 0700) or check that this version can use it; raises `Misconfigured`."""
        version = self.path / "VERSION"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = version.read_text(encoding="utf-8", errors="replace").strip() if version.exists() else ""
        except OSError as error:
            raise _unusable(self.path, error) from None
        if not found:
            replace_file(version, f"{VERSION}\n")
        elif not re.fullmatch(r"[0-9]{1,9}", found):
            raise Misconfigured(f"{version} does not hold a version: give another state_dir, or delete that file.")
        elif int(found) > VERSION:
            raise Misconfigured(
                f"The state directory {self.path} is of a newer version of the engine (layout {found}, this one "
                f"knows {VERSION}): upgrade the engine, or give another state_dir."
            )
        elif int(found) < VERSION:  # all of it but `kept/` can be made again, and that has no layout
            log.warning("state_directory_upgraded", path=str(self.path), was=int(found), now=VERSION)
            replace_file(version, f"{VERSION}\n")
        if self.path.stat().st_mode & 0o077:
            log.warning(
                "state_directory_open_to_others",
                path=str(self.path),
                next_step=f"chmod 700 {shlex.quote(str(self.path))}",
            )
        return self

    @contextmanager
    def claim_identity(self, kind: Role, agent_id: str | None = None) -> Iterator[AgentIdentity]:
        """An id that no other process of this directory uses while the block runs.

        `agent_id` chooses it (`--agent-id`). Otherwise an unused one of this kind is taken up again,
        first one that still holds locks, else a new one is made. Raises `Misconfigured`.
        """
        lock, nonces = self._claim_requested(kind, agent_id) if agent_id is not None else self._claim_unused(kind)
        try:
            yield AgentIdentity(kind, lock, nonces)
        finally:
            lock.close()

    def _claim_requested(self, kind: Role, agent_id: str) -> tuple[_Lock, frozenset[str]]:
        if not _AGENT_ID.fullmatch(agent_id):
            raise Misconfigured(f"'{agent_id}' is no agent id: at most 64 of the characters a-z, 0-9 and '-'.")
        lock = _Lock(self.path / "agents" / f"{agent_id}.lock")
        if not lock.acquire():
            raise Misconfigured(
                f"Another process already runs as '{agent_id}' from {self.path}: choose another --agent-id."
            )
        found = _read(lock.path.with_suffix(".json"))
        if found is not None and found[0] is not kind:
            lock.close()
            raise Misconfigured(f"'{agent_id}' is the id of a {found[0]} in {self.path}: choose another --agent-id.")
        return lock, found[1] if found else frozenset()

    def _claim_unused(self, kind: Role) -> tuple[_Lock, frozenset[str]]:
        known = [(file, _read(file)) for file in sorted((self.path / "agents").glob("*.json"))]
        ours = [(file, found[1]) for file, found in known if found is not None and found[0] is kind]
        for file, _ in sorted(ours, key=lambda one: not one[1]):
            lock = _Lock(file.with_suffix(".lock"))
            if _AGENT_ID.fullmatch(file.stem) and lock.acquire():
                found = _read(file)  # again: its agent may have ended between the first look and the lock
                return lock, found[1] if found else frozenset()
        lock = _Lock(self.path / "agents" / f"{kind}-{secrets.token_hex(4)}.lock")
        if not lock.acquire():
            raise Misconfigured(f"The new id {lock.path.stem} is already in use; start again.")
        return lock, frozenset()


class _Lock:
    """An exclusive flock on a file; the kernel lets go of it when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """Try to take the lock; return whether it is ours now."""
        try:
            for directory in (self.path.parent.parent, self.path.parent):
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(descriptor)
                    return False
                self._descriptor = descriptor
                if self._in_place():
                    return True
                self.close()  # the file was deleted meanwhile: what we locked is not what others see
        except OSError as error:
            self.close()
            raise _unusable(self.path, error) from None

    def renew(self) -> None:
        """Lock again if somebody deleted the file; raises `Misconfigured` when another was faster."""
        if self._descriptor is None:
            raise RuntimeError("this identity has been given back")
        if not self._in_place():
            self.close()
            if not self.acquire():
                raise Misconfigured(f"{self.path} was deleted, and another process has taken this id: stopping.")

    def close(self) -> None:
        """Release the lock; harmless when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _in_place(self) -> bool:
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False


def _read(file: Path) -> tuple[Role, frozenset[str]] | None:
    """Kind and nonces of an identity; None when there is none. A damaged one has lost its nonces."""
    try:
        content = json.loads(file.read_bytes())
        return Role(content["kind"]), frozenset(str(nonce) for nonce in content["nonces"])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(file, error) from None
    except (ValueError, TypeError, KeyError):
        log.warning("identity_unreadable", file=str(file))
        return None


def replace_file(file: Path, text: str) -> None:
    """Replace `file` (mode 0600) so that a crash leaves the old or the new content, never a part.

    Raises `DiskFull` or `Misconfigured`.
    """
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as sink:
            sink.write(text)
            sink.flush()
            os.fsync(descriptor)
        temporary.replace(file)
        _sync_directory(file.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise _unusable(file, error) from None


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, error: OSError) -> Misconfigured | DiskFull:
    if isinstance(error, FileExistsError | NotADirectoryError):
        return Misconfigured(f"The state directory cannot be used: {path} is not a directory: give another state_dir.")
    return as_disk_full(error, path) or Misconfigured(
        f"The state directory cannot be used: {path}: {error.strerror}. Make it writable for this account, "
        f"or give another state_dir."
    )
