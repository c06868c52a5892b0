"""A picture of a life's results without anything left to chance: two lives that end alike have equal pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from crash_acts import free
from crash_life import Life

from lab import locks
from planner_agent.pending import register

_PART = re.compile(r"<!-- engine-spec/1 (parent=\d+ key=\S+)")
_MARK = re.compile(r"<!-- (engine-[a-z]+/\d+(?: kind=[a-z]+)?)")
_PASSING = re.compile(r"refs/ack/|refs/pull/\d+/merge$")
"""Refs that are compared in another way, or that GitHub makes whenever somebody looks."""

_STATUS = re.compile(r"<!-- engine-status/\d+ kind=([a-z]+)")
_SHOWN = re.compile(r"^\| Stage \| (\S+) \|$", re.MULTILINE)

Picture = Mapping[str, Any]


async def picture(life: Life) -> Picture:
    """Return threads, comments with stages, reviews, pull requests, fences, branches, notes, specifications.

    Nobody's ids or times.
    """
    repository = life.repository
    threads = repository.issues.records.values()
    fences = await locks.fences(repository)
    refs = {ref: oid for ref, oid in (await repository.bare.refs("refs/")).items() if not _PASSING.match(ref)}
    written = repository.comments.records.values()
    comments = Counter((one.number, _kind(one.body)) for one in written)
    return {
        "threads": {one.number: (one.title, one.open, sorted(one.labels)) for one in threads},
        "comments": {key: count for key, count in sorted(comments.items()) if key[1] != "ack"},
        "says": sorted((one.number, *said) for one in written if (said := _status(one.body))),
        "reviews": sorted((one.number, one.state) for one in repository.pulls.reviews.values()),
        "pulls": {
            one.number: (one.head_branch, one.merged_at is not None) for one in repository.pulls.records.values()
        },
        "fences": {
            one.key.ref: (str(one.stage), one.phase, one.pr, one.attempt, one.round, one.next_role, str(one.wait))
            for one in fences
        },
        "trees": {ref: await _tree(life, ref, oid) for ref, oid in sorted(refs.items())},
        "history": len(await repository.bare.log(None, refs[f"refs/heads/{repository.facts.default_branch}"], 50)),
        "register": await _register(life),
        "parts": sorted(found[1] for one in threads if (found := _PART.search(one.body or ""))),
        "free": free(life),
    }


def differences(wanted: Picture, found: Picture) -> str:
    """Return one line for each thing that differs."""
    return "; ".join(f"{key}: {found[key]} instead of {wanted[key]}" for key in wanted if wanted[key] != found[key])


def _kind(body: str) -> str:
    first = body.lstrip().split("\n", 1)[0]
    if first.startswith("ACK:"):
        return "ack"
    found = _MARK.search(body)
    return found[1] if found else first[:40]


def _status(body: str) -> tuple[str, str] | None:
    """Return the kind of agent whose status comment this is, and the stage that it shows."""
    kind, stage = _STATUS.match(body), _SHOWN.search(body)
    return (kind[1], stage[1] if stage else "") if kind else None


async def _register(life: Life) -> Mapping[str, int]:
    """Return the pending tests in the register, each with its issue; 0 if it is still to be opened or noted."""
    bare = life.repository.bare
    tip = await bare.sha(register.REF)
    lines = await bare.log(None, tip, 50) if tip else []
    entries = (register.read(line.message) for line in reversed(lines))
    return {entry.test: entry.issue for entry in entries if entry is not None}


async def _tree(life: Life, ref: str, oid: str) -> str:
    """Return the tree of a branch; for notes only their number, because their names depend on commits."""
    git = life.repository.bare.git
    if ref.startswith("refs/notes/"):
        listed = await git.check("ls-tree", "-r", "--name-only", oid)
        return f"{len(listed.text.split())} notes"
    return (await git.check("rev-parse", f"{oid}^{{tree}}")).text
