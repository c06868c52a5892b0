"""Requests of one process to GitHub and git: the two stores of `Gateway`, and the agents' other requests."""

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
        """Return a thread, perhaps an older state of it."""
        found: tuple[Comment, ...] = await Call(
            "reads the comments of", partial(self._github.thread, number, since), detail=number
        )
        return found

    async def opening(self, number: int, since: datetime | None) -> tuple[Comment, ...]:
        """Return a thread that is probably empty: the item is asked first how many comments it has."""
        count = await Call(
            "counts the comments of", lambda at: len(self._github.thread(number, None, at)), detail=number
        )
        return await self.thread(number, since) if count else ()

    def known(self, number: int) -> tuple[Comment, ...] | None:
        """Return the comments that are known without asking: none."""
        return None

    async def comment(self, id: int) -> Comment | None:
        """Return one comment, perhaps an older state of it."""
        found: Comment | None = await Call("reads comment", partial(self._github.comment, id), detail=id)
        return found

    async def post(self, number: int, body: str, permit: object) -> Comment:
        """Post a new comment."""
        write = partial(self._write, self._github.post, number, body)
        posted: Comment = await Call("posts", write, write=True, detail=body)
        return posted

    async def edit(self, id: int, body: str, permit: object, *, urgent: bool = False) -> Comment | None:
        """Replace a comment's text."""
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
        """Return the present fence."""
        found: tuple[str, str] | None = await Call(
            "reads fence", lambda at: self._github.fence(ref), stale=False, detail=ref
        )
        return found

    async def commit(self, message: str, parents: Sequence[str]) -> str:
        """Make a commit that no ref names yet."""
        return self._github.committed(message, parents)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        """Push the fence and the updates atomically."""
        push = partial(self._github.push, ref, message, expected, parents, updates)
        pushed: str | None = await Call("pushes", lambda at: push(), write=True, detail=message)
        return pushed

    async def probe(self) -> None:
        """Make, move and delete a scratch ref."""
        await Call("probes", lambda at: self._github.probe(), write=True)


class Forge:
    """The agents' requests to GitHub besides those of the lock."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    async def item(self, number: int) -> Item:
        """Return an issue or pull request, perhaps an older state of it."""
        found: Item = await Call("reads item", partial(self._github.item, number), detail=number)
        return found

    async def timeline(self, number: int) -> tuple[LabelChange, ...]:
        """Return the label changes with their authors, perhaps without the newest."""
        found: tuple[LabelChange, ...] = await Call(
            "reads timeline of", partial(self._github.timeline, number), detail=number
        )
        return found

    async def pulls_of(self, branch: str) -> tuple[Pull, ...]:
        """Return the pull requests of a branch, perhaps without the newest."""
        found: tuple[Pull, ...] = await Call(
            "reads pull requests of", partial(self._github.pulls_of, branch), detail=branch
        )
        return found

    async def tip(self, ref: str) -> str | None:
        """Return the present commit of a branch."""
        found: str | None = await Call("fetches", lambda at: self._github.refs.get(ref), stale=False, detail=ref)
        return found

    async def add_label(self, number: int, label: str) -> frozenset[str]:
        """Add a label; return all labels."""
        write = partial(self._github.add_label, number, label)
        labels: frozenset[str] = await self._write("adds label", write, f"{label} to {number}")
        return labels

    async def remove_label(self, number: int, label: str) -> None:
        """Remove a label."""
        await self._write("removes label", partial(self._github.remove_label, number, label), f"{label} of {number}")

    async def open_pull(self, branch: str) -> Pull | None:
        """Open a new pull request; None is a 422."""
        found: Pull | None = await self._write(
            "opens a pull request for", partial(self._github.open_pull, branch), branch
        )
        return found

    async def merge(self, number: int, sha: str, closes: int) -> bool:
        """Merge a commit."""
        return bool(await self._write("merges", partial(self._github.merge, number, sha, closes), f"{number} at {sha}"))

    async def _write(self, name: str, run: Any, detail: object) -> Any:
        return await Call(name, lambda at: run(), write=True, detail=detail)
