"""What one process asks of GitHub and git: the two stores of `Gateway`, and what agents do besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from shared.lock.port import RefUpdate
from shared.models import Account, Comment

from .github import GitHub
from .kernel import Call
from .records import Item, LabelChange, Pull


class Comments:
    """The comment store of `Gateway`."""

    def __init__(self, github: GitHub, account: Account) -> None:
        self._github = github
        self._account = account

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        """A thread, perhaps as it was."""
        found: tuple[Comment, ...] = await Call(
            "reads the comments of", partial(self._github.thread, number, since), detail=number
        )
        return found

    async def opening(self, number: int, since: datetime | None) -> tuple[Comment, ...]:
        """A thread that is probably empty: the item is asked first how many comments it has."""
        count = await Call(
            "counts the comments of", lambda at: len(self._github.thread(number, None, at)), detail=number
        )
        return await self.thread(number, since) if count else ()

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """What is known without asking: nothing."""
        return None

    async def comment(self, id: int) -> Comment | None:
        """One comment, perhaps as it was."""
        found: Comment | None = await Call("reads comment", partial(self._github.comment, id), detail=id)
        return found

    async def post(self, number: int, body: str, permit: object) -> Comment:
        """A new comment."""
        write = partial(self._write, self._github.post, number, body)
        posted: Comment = await Call("posts", write, write=True, detail=body)
        return posted

    async def edit(self, id: int, body: str, permit: object, *, urgent: bool = False) -> Comment | None:
        """A new text."""
        write = partial(self._write, self._github.edit, id, body)
        edited: Comment | None = await Call("edits", write, write=True, detail=body)
        return edited

    def _write(self, write: Callable[[int, str, Account], object], where: int, body: str, at: float) -> object:
        self._github.weather.writing(at, body)
        return write(where, body, self._account)


class Fences:
    """The fence store of `Gateway`."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    async def read(self, ref: str) -> tuple[str, str] | None:
        """The fence as it is."""
        found: tuple[str, str] | None = await Call(
            "reads fence", lambda at: self._github.fence(ref), stale=False, detail=ref
        )
        return found

    async def commit(self, message: str, parents: Sequence[str]) -> str:
        """A commit that no ref names yet."""
        return self._github.committed(message, parents)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """An atomic push."""
        push = partial(self._github.push, ref, message, expected, parents, updates)
        pushed: str | None = await Call("pushes", lambda at: push(), write=True, detail=message)
        return pushed

    async def probe(self) -> None:
        """A scratch ref, three times."""
        await Call("probes", lambda at: self._github.probe(), write=True)


class Forge:
    """What agents ask of GitHub besides the lock."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    async def item(self, number: int) -> Item:
        """An issue or pull request, perhaps as it was."""
        found: Item = await Call("reads item", partial(self._github.item, number), detail=number)
        return found

    async def timeline(self, number: int) -> tuple[LabelChange, ...]:
        """Who changed labels, perhaps not the newest."""
        found: tuple[LabelChange, ...] = await Call(
            "reads timeline of", partial(self._github.timeline, number), detail=number
        )
        return found

    async def pulls_of(self, branch: str) -> tuple[Pull, ...]:
        """The pull requests of a branch, perhaps not the newest."""
        found: tuple[Pull, ...] = await Call(
            "reads pull requests of", partial(self._github.pulls_of, branch), detail=branch
        )
        return found

    async def tip(self, ref: str) -> str | None:
        """A branch as it is."""
        found: str | None = await Call("fetches", lambda at: self._github.refs.get(ref), stale=False, detail=ref)
        return found

    async def add_label(self, number: int, label: str) -> frozenset[str]:
        """Add a label; all labels then."""
        write = partial(self._github.add_label, number, label)
        labels: frozenset[str] = await self._write("adds label", write, f"{label} to {number}")
        return labels

    async def remove_label(self, number: int, label: str) -> None:
        """Remove a label."""
        await self._write("removes label", partial(self._github.remove_label, number, label), f"{label} of {number}")

    async def open_pull(self, branch: str) -> Pull | None:
        """A new pull request; None is a 422."""
        found: Pull | None = await self._write(
            "opens a pull request for", partial(self._github.open_pull, branch), branch
        )
        return found

    async def merge(self, number: int, sha: str, closes: int) -> bool:
        """Merge a commit."""
        return bool(await self._write("merges", partial(self._github.merge, number, sha, closes), f"{number} at {sha}"))

    async def _write(self, name: str, run: Any, detail: object) -> Any:
        return await Call(name, lambda at: run(), write=True, detail=detail)
