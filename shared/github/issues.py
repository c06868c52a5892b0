"""Issues: the one conditional poll, single readings before acting, and the few changes to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from shared.github import listing, wire
from shared.github.address import query
from shared.github.client import GitHub
from shared.github.replica_lag import ITEM, KNOWN_SECONDS
from shared.lock.fence import Fence
from shared.lock.write_permit import WritePermit
from shared.models import Assignment, Blocker, Issue, LabelEvent

_LABEL_EVENTS = frozenset({"labeled", "unlabeled"})


class Issues:
    """The issues (and, as issues, the pull requests) of one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._root = f"/repos/{repository}"
        self._path = f"{self._root}/issues"
        self._recent = self._path + query({"state": "open", "sort": "updated", "direction": "desc", "per_page": 100})

    def name(self, fence: Fence) -> None:
        """Note that a fence's item and pull request exist, even if GitHub does not show them yet."""
        for number in filter(None, (fence.key.number, fence.pr)):
            self._github.expect(self._root, ITEM, number)

    async def recent(self) -> tuple[Issue, ...] | None:
        """Return the 100 open items that changed last, newest change first; None if nothing changed.

        One URL, always the same bytes, so that an unchanged list costs nothing. Of bodies, lists keep
        only the lines and files that name other things, see `listing.brief`.
        """
        found = await self._github.changed(self._recent, listing.issues, self._github.points.shared_seconds())
        return None if found is None else self._note_shown(found)

    async def open(self) -> tuple[Issue, ...]:
        """Return all open items, oldest first. May be stale: read the single issue to act."""
        return await self._list_open()

    async def labelled(self, label: str) -> tuple[Issue, ...]:
        """Return the open items that carry a label, oldest first. May be stale: read the single issue to act."""
        return await self._list_open(labels=label)

    async def assigned(self, login: str) -> tuple[Issue, ...]:
        """Return the open items assigned to `login`, oldest first. May be stale: read the single issue to act."""
        return await self._list_open(assignee=login)

    async def _list_open(self, **filters: str) -> tuple[Issue, ...]:
        # By creation, because an order by update shifts items between pages while they are read.
        params = {**filters, "state": "open", "sort": "created", "direction": "asc"}
        found = await self._github.listed(self._path, listing.issues, **params)
        return self._note_shown({issue.number: issue for issue in found}.values())

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]:
        """Return the items that an account created and that changed at or after `since`, open or not, oldest first."""
        params = {"creator": login, "state": "all", "since": since, "sort": "created", "direction": "asc"}
        found = await self._github.pages(self._path, **params)
        return self._note_shown({issue.number: issue for issue in wire.each(wire.issue, found)}.values())

    async def issue(self, number: int) -> Issue:
        """Return one item as it is now; raises `Gone` if it was deleted or transferred."""
        return wire.read(wire.issue, await self._github.item(f"{self._path}/{number}"))

    async def named(self, number: int, at: datetime) -> Issue:
        """Return one item that something shown by GitHub named `at` that time: it existed then.

        Raises `NotShown` if GitHub does not show it, as long as that is so new that a replica may be behind.
        """
        if self._is_new(at):
            self._github.expect(self._root, ITEM, number)
        return await self.issue(number)

    def _note_shown(self, listed: Iterable[Issue]) -> tuple[Issue, ...]:
        """Note that listed items exist, even if the next replica does not show them yet; return them."""
        found = tuple(listed)
        for one in found:
            if self._is_new(one.created_at):
                self._github.expect(self._root, ITEM, one.number)
        return found

    def _is_new(self, at: datetime) -> bool:
        return (self._github.server_time - at).total_seconds() < KNOWN_SECONDS

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]:
        """Return the blockers of an issue by GitHub's own relationships, closed ones too; free while unchanged.

        https://docs.github.com/en/rest/issues/issue-dependencies
        """
        found = wire.each(wire.blocker, await self._github.pages(f"{self._path}/{number}/dependencies/blocked_by"))
        own = self._repository.casefold()
        return tuple(replace(one, repository="") if one.repository.casefold() == own else one for one in found)

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        """Return every time a label was added to or removed from an item, oldest first."""
        events = await self._github.pages(f"{self._path}/{number}/events")
        return wire.each(wire.label_event, [e for e in events if wire.read(_kind, e) in _LABEL_EVENTS])

    async def assignments(self, number: int) -> tuple[Assignment, ...]:
        """Return every time somebody was assigned to an item, oldest first; from the list that `label_events` reads."""
        events = await self._github.pages(f"{self._path}/{number}/events")
        return wire.each(wire.assignment, [e for e in events if wire.read(_kind, e) == "assigned"])

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
        """Create an issue. `UnknownOutcome` means: look for it before creating it again."""
        content = {"title": title, "body": body, "labels": sorted(labels)}
        return wire.reply(wire.issue, await self._github.write("POST", self._path, content, permit))

    async def close(self, number: int, permit: WritePermit) -> Issue:
        """Close an item; already closed is fine."""
        return await self._patch(number, {"state": "closed"}, permit)

    async def retitle(self, number: int, title: str, permit: WritePermit) -> Issue:
        """Replace the title."""
        return await self._patch(number, {"title": title}, permit)

    async def assign(self, number: int, login: str, permit: WritePermit) -> None:
        """Add an assignee; GitHub silently ignores people who cannot be assigned."""
        await self._github.write("POST", f"{self._path}/{number}/assignees", {"assignees": [login]}, permit)

    async def unassign(self, number: int, login: str, permit: WritePermit) -> None:
        """Remove an assignee; not being one is fine."""
        await self._github.write("DELETE", f"{self._path}/{number}/assignees", {"assignees": [login]}, permit)

    async def _patch(self, number: int, change: dict[str, str], permit: WritePermit) -> Issue:
        return wire.reply(wire.issue, await self._github.write("PATCH", f"{self._path}/{number}", change, permit))


def _kind(value: Any) -> str:
    return str(value["event"])
