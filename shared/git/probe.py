"""A probe whether a git server keeps the promises that the lock needs, by pushes to refs of our own.

The client itself refuses a push whose lease it knows to be wrong, so the server is only put to the
proof when a ref moves between its list of refs and the push: `pre-push` runs then, and moves it.
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from shared.errors import EngineError, NotAllowed, Transient, Unauthorized
from shared.filesystem import directories
from shared.git import history, loose_objects, ref_files
from shared.git.command import Git, Identity, Signature
from shared.git.failures import NotAtomic, PushRefused
from shared.git.fences import Fences
from shared.lock.port import RefUpdate
from shared.lock.write_permit import OperatorPermit
from shared.process import CommandFailed

log = structlog.get_logger()

NAMESPACE = "refs/ack/doctor"
"""Namespace of the probe's refs; no fence is ever there, because no kind of agent has this name."""

LEAST_GIT = (2, 38)
"""The oldest git whose commands the engine knows: `cat-file --batch -z` came last."""

LEFTOVER_SECONDS = 24 * 3600
"""Seconds by which a killed probe's refs are older than the newest ones."""

CLEANUP_SECONDS = 30.0
"""Seconds that removing the refs may take, also for a probe that is cancelled."""

_RIVAL = """\
#!/bin/sh
git --git-dir={git_dir} push --quiet --no-verify --force-with-lease={ref}:{old} {url} {new}:{ref} </dev/null >&2 &&
: > {done}
"""


class UnfitServer(NotAllowed):
    """The git server does not keep what the lock is built on."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One probe's scratch repository and the refs that are its own; `found` are the refs that it saw on the server."""

    git: Git
    url: str
    fence: str
    branch: str
    found: dict[str, tuple[str, int]] = field(default_factory=dict)


async def try_server(git: Git, url: str, by: Identity, permit: OperatorPermit) -> None:
    """Return if refs below `refs/ack/` are accepted, a wrong lease is refused and a push is all or nothing.

    `git` answers for the server; a scratch directory beside its own is used and removed, as are the
    refs on the server. Raises `UnfitServer` with the reason, and as `Git.push` if it cannot be tried.
    """
    permit.check()
    async with _place(git, url) as place:
        old, rival, stale = [await _commit(place.git, by, name) for name in ("first", "rival", "stale")]
        try:
            if not await place.git.push(url, (RefUpdate(place.fence, None, old),)):
                raise Transient(f"The git server says that the new ref {place.fence} exists already.")
            taken = await _race(place, old, rival, stale)
            place.found.update(await _on_server(place))
            _judge(place, place.found, rival, taken=taken)
        except PushRefused as error:
            raise _no_acks(error) from error
        except NotAtomic as error:
            raise UnfitServer(f"{error} Without them the engine cannot work here.") from error


async def try_repository(fences: Fences) -> None:
    """Return if one repository takes refs below `refs/ack/`, on a server that is known to be fit; as `try_server`."""
    try:
        await fences.probe()
    except PushRefused as error:
        raise _no_acks(error) from error


def _no_acks(error: PushRefused) -> UnfitServer:
    return UnfitServer(
        f"The git server does not accept refs below refs/ack/, where the lock lives ({error}). A rule of "
        "the repository or of its owner forbids them: let this account create, move and delete refs/ack/*."
    )


async def _race(place: _Place, old: str, rival: str, stale: str) -> bool:
    """Push `stale` while a rival moves the fence in between; return whether the server took it."""
    hooks, done = place.git.git_dir / "race", place.git.git_dir / "rival-done"
    ref = shlex.quote(place.fence)
    words = {"git_dir": shlex.quote(str(place.git.git_dir)), "url": shlex.quote(place.url)}
    script = _RIVAL.format(ref=ref, old=old, new=rival, done=shlex.quote(str(done)), **words)
    await anyio.to_thread.run_sync(_executable, hooks / "pre-push", script)
    moves = (RefUpdate(place.fence, old, stale), RefUpdate(place.branch, None, stale))
    try:
        taken = await place.git.push(place.url, moves, hooks=hooks)
    except (PushRefused, NotAtomic):
        raise
    except EngineError:
        if await anyio.Path(done).exists():
            raise
        raise Transient("The git server could not be put to the proof: the rival's push did not get through.") from None
    if not await anyio.Path(done).exists():
        raise Transient("The git server could not be put to the proof: git did not run its pre-push hook.")
    return taken


def _judge(place: _Place, found: Mapping[str, tuple[str, int]], rival: str, *, taken: bool) -> None:
    if place.fence not in found:
        raise Transient(f"The git server does not show {place.fence}, which was just pushed.")
    if taken or found[place.fence][0] != rival:
        raise UnfitServer(
            "The git server accepts a push whose expected value is wrong: two agents could work on one issue. "
            "Do not run the engine against this server."
        )
    if place.branch in found:
        raise UnfitServer(
            "The git server carries out a part of an atomic push: code and lock could part. "
            "Do not run the engine against this server."
        )


async def _on_server(place: _Place) -> dict[str, tuple[str, int]]:
    """Return every probe's refs with id and time, as the server has them."""
    await place.git.fetch(place.url, f"+{NAMESPACE}/*:{NAMESPACE}/*")
    if (found := await anyio.to_thread.run_sync(_brought, place.git.git_dir)) is not None:
        return found
    layout = "--format=%(refname) %(objectname) %(committerdate:unix)"
    rows = (line.split(" ") for line in (await place.git.run("for-each-ref", layout, NAMESPACE)).text.splitlines())
    return {ref: (oid, int(at or 0)) for ref, oid, at in rows}  # what is no commit has no date


def _brought(git_dir: Path) -> dict[str, tuple[str, int]] | None:
    """Return the fetched refs, read without a process; None if git has to be asked about one of them."""
    refs = ref_files.below(git_dir, f"{NAMESPACE}/")
    if refs is None:
        return None
    found = {}
    for ref, oid in refs.items():
        one = loose_objects.read(git_dir, oid, history.COMMIT_BYTES)
        commit = history.parsed(oid, one[1]) if one is not None and one[0] == b"commit" else None
        if commit is None:
            return None
        found[ref] = oid, int(commit[0].at.timestamp())
    return found


@asynccontextmanager
async def _place(git: Git, url: str) -> AsyncIterator[_Place]:
    name = secrets.token_hex(8)
    scratch = git.at(git.git_dir.with_name(f"probe-{name}.git"))
    place = _Place(scratch, url, f"{NAMESPACE}/{name}/fence", f"{NAMESPACE}/{name}/branch")
    try:
        await scratch.make()
        yield place
    finally:
        with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
            await _clean(place)
            await anyio.to_thread.run_sync(directories.remove, scratch.git_dir)


async def _clean(place: _Place) -> None:
    """Remove our refs, and those of killed probes, one by one: this server may keep no promise."""
    try:
        found = place.found or await _on_server(place)
        newest, ours = max((at for _, at in found.values()), default=0), place.fence.rpartition("/")[0]
        for ref, (oid, at) in found.items():
            if ref.startswith(f"{ours}/") or newest - at > LEFTOVER_SECONDS:
                await place.git.push(place.url, (RefUpdate(ref, oid, ""),))
    except (NotAllowed, Unauthorized):
        return  # without the right to push, nothing was left
    except (EngineError, CommandFailed) as error:
        log.warning("probe_refs_left", ref=place.fence, error=str(error), next_step="another probe removes them later")


async def _commit(git: Git, by: Identity, name: str) -> str:
    tree = await git.store("tree", b"")
    return await git.commit(tree, (), f"A probe of the git server: {name}\n", Signature(by))


def _executable(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    path.chmod(0o700)
