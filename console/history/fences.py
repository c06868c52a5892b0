"""The engine's own refs in a mirror: the fences of each item, newest and earlier ones, and the lines of the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shared.budget import ledger_lines
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Entry
from shared.git.append_only_log import back_from
from shared.git.mirror import Mirror
from shared.lock.codec import FENCE_NAMESPACE, ItemKey
from shared.lock.fence import Fence, read_fence
from shared.workflow import Role

_REF = re.compile(rf"{FENCE_NAMESPACE}/(planner|worker|reviewer)/([1-9][0-9]{{0,9}})")

MOST_BYTES = 256 * 2**20
"""Bytes of fences that are read at most; one fence has less than a kibibyte."""


@dataclass(frozen=True, slots=True)
class Chain:
    """All states of one item's fence, oldest first; never empty.

    `foreign` are commits that travelled with it and that the engine did not make.
    """

    fences: tuple[Fence, ...]
    foreign: tuple[str, ...] = ()


def newest(refs: Mapping[str, tuple[str, str]]) -> dict[ItemKey, Fence]:
    """The fences among refs below `refs/ack/`, each with its commit id and message."""
    found = ((key_of(ref), oid, message) for ref, (oid, message) in refs.items())
    read = (read_fence(key, oid, message) for key, oid, message in found if key is not None)
    return {fence.key: fence for fence in read if fence is not None}


def key_of(ref: str) -> ItemKey | None:
    """Return the item whose fence a ref is; None for another ref, such as the ledger's."""
    found = _REF.fullmatch(ref)
    return None if found is None else ItemKey(Role(found[1]), int(found[2]))


async def chains(mirror: Mirror) -> dict[ItemKey, Chain]:
    """Return every chain of the mirror, by two git commands for any number of chains."""
    listed = (await mirror.git.run("for-each-ref", "--format=%(refname) %(objectname)", FENCE_NAMESPACE)).text
    rows = (line.split(" ") for line in listed.splitlines())
    tips = {key: oid for ref, oid in rows if (key := key_of(ref)) is not None}
    if not tips:
        return {}
    commits = await _commits(mirror, tips)
    fences = {key: tuple(_fences_back_from(commits, key, oid)) for key, oid in tips.items()}
    carried = {key: _foreign_parents(commits, of) for key, of in fences.items()}
    foreign = await _without_trailer(mirror, frozenset(one for of in carried.values() for one in of))
    return {
        key: Chain(of[::-1], tuple(one for one in carried[key] if one in foreign)) for key, of in fences.items() if of
    }


_Commits = Mapping[str, tuple[tuple[str, ...], str]]
"""Commit id -> parents and message."""


async def _commits(mirror: Mirror, tips: Mapping[ItemKey, str]) -> _Commits:
    """Return the commits along first parents, except those on a branch: no fence is ever on a branch."""
    stdin = "".join(f"{oid}\n" for oid in tips.values()).encode()
    verb = ("log", "--first-parent", "-z", "--format=%H%n%P%n%B", "--stdin", "--not", "--branches")
    told = (await mirror.git.run(*verb, stdin=stdin, cap=MOST_BYTES)).stdout.decode("utf-8", "replace")
    found = (entry.split("\n", 2) for entry in told.split("\0") if entry)
    return {oid: (tuple(parents.split()), message) for oid, parents, message in found}


def _fences_back_from(commits: _Commits, key: ItemKey, oid: str) -> Iterator[Fence]:
    while oid in commits:
        parents, message = commits[oid]
        fence = read_fence(key, oid, message)
        if fence is None:
            return
        yield fence
        oid = parents[0] if parents else ""


def _foreign_parents(commits: _Commits, fences: tuple[Fence, ...]) -> tuple[str, ...]:
    own = {fence.oid for fence in fences}
    parents = (parent for fence in fences for parent in commits[fence.oid][0])
    return tuple(dict.fromkeys(parent for parent in parents if parent not in own))


async def _without_trailer(mirror: Mirror, commits: frozenset[str]) -> frozenset[str]:
    """Return the commits without the trailer that an agent writes into each of its commits."""
    if not commits:
        return frozenset()
    stdin = "".join(f"{oid}\n" for oid in sorted(commits)).encode()
    verb = ("log", "--no-walk=unsorted", "-z", "--format=%H %(trailers:key=Agent,valueonly,separator=%x2C)", "--stdin")
    told = (await mirror.git.run(*verb, stdin=stdin, cap=MOST_BYTES)).stdout.decode("utf-8", "replace")
    rows = (entry.strip().partition(" ") for entry in told.split("\0") if entry.strip())
    return frozenset(oid for oid, _, agent in rows if not agent.strip())


async def ledger(mirror: Mirror, *, whole: bool) -> list[Entry]:
    """Return the ledger's lines, oldest first, if there is one; without `whole` only as many as the books need."""
    found: list[Entry] = []
    is_last = ledger_lines.until_balanced()
    async for line in back_from(mirror, await mirror.sha(REF)):
        entry = ledger_lines.read(line.message)
        if entry is None:
            continue
        found.append(entry)
        if is_last(entry) and not whole:
            break
    return found[::-1]
