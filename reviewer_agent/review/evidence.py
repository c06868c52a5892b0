"""What a change's tests have shown: the engine's own signed records of its runs, and what the pull request says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from reviewer_agent import links
from shared.git.notes import Note, read
from shared.markdown import heading, lines
from shared.marks import Keyring
from shared.models import PullRequest

TESTS = 100
"""So many tests of one run are named."""

HISTORY = 200
"""So many commits of the branch are looked through for records."""


class Notes(Protocol):
    """The notes in the repository's copy on this machine; a ref is full."""

    async def all(self, ref: str) -> Mapping[str, str]: ...


class OneCommit(Protocol):
    """A commit in a history."""

    @property
    def oid(self) -> str: ...


class Refs(Protocol):
    """What brings a ref here, and tells a branch's own commits."""

    async def refresh(self, ref: str) -> str | None: ...

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[OneCommit]: ...


class Runs:
    """The recorded runs of one pull request; what others have written into the notes is no record."""

    def __init__(self, refs: Refs, notes: Notes, keys: Keyring) -> None:
        self._refs = refs
        self._notes = notes
        self._keys = keys

    async def of(self, pull_request: PullRequest, base: str) -> str:
        """One paragraph per phase commit of our own branch, oldest first; empty for anybody else's."""
        issue = links.issue_of(pull_request)
        if issue is None:
            return ""
        ref = f"refs/notes/workflow/issue-{issue}"
        if await self._refs.refresh(ref) is None:
            return ""
        texts = await self._notes.all(ref)
        own = await self._refs.log(pull_request.head_sha, HISTORY, without=base)
        found = [(one.oid, read(texts[one.oid], self._keys)) for one in reversed(own) if one.oid in texts]
        return told((oid, note) for oid, note in found if note is not None and note.issue == issue)


def told(notes: Iterable[tuple[str, Note]]) -> str:
    """Each phase commit and what its tests did."""
    return "\n\n".join("\n".join(_told(oid, note)) for oid, note in notes)


def _told(oid: str, note: Note) -> Iterator[str]:
    yield f"Commit {oid[:12]}, phase {note.phase}, cycle {note.cycle}: {note.test_result or 'no result'}"
    named = [*dict.fromkeys([*note.new_tests, *note.red, *note.green])]
    for test in named[:TESTS]:
        yield f"- {test}: red {note.red.get(test, 'not run')}, green {note.green.get(test, 'not run')}"
    if len(named) > TESTS:
        yield f"- and {len(named) - TESTS} more"
    yield from (f"- no test for {criterion}: {why}" for criterion, why in note.set_aside.items())


def stated(body: str) -> str:
    """The section `Evidence` of a pull request's body; empty when there is none."""
    found: list[str] = []
    inside = False
    for line in lines(body.replace("\r\n", "\n")):
        title = heading(line)
        if title is not None and title[0] <= 2:
            inside = title[1].casefold() == "evidence"
        elif inside:
            found.append(line.text)
    return "\n".join(found).strip()
