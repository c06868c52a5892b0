"""Changes of items in as few requests as possible: several at once by GraphQL, else one by one by REST.

REST's `PUT` of all labels would lose a label that a person sets at the same moment. GraphQL carries the changes out in
their order, not as a transaction: REST repeats the rest of one that failed in between.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from shared.errors import Blocked, Gone, NotAllowed
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import GraphqlUsedUp, NotFound, Refused
from shared.github.replica_lag import LABEL, YOUNG_SECONDS
from shared.lock.write_permit import WritePermit
from shared.workflow.labels import folded

REFUSED_SECONDS = 3600.0
"""Seconds of REST only after GraphQL was refused: a server without it, a token that it refuses."""

NOBODY = "nobody"
"""The id of no item: with it, a caller that may use GraphQL is told that the item is unknown."""

_NAME = "ChangeItems"
_LABELS = "labelable { labels(first: 100) { nodes { name } } ... on PullRequest { reviews { totalCount } } }"
_UNKNOWN = "could not resolve to a node"

log = structlog.get_logger()

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class ItemChange:
    """The changes of an issue or a pull request, in the order of the fields; nothing else of it changes."""

    number: int
    body: str | None = None
    close: bool = False
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()

    @property
    def requests(self) -> int:
        """Number of requests that REST needs."""
        return bool(self.fields) + bool(self.on) + len(self.off)

    @property
    def fields(self) -> dict[str, str]:
        """Fields that REST changes by one PATCH."""
        body = {} if self.body is None else {"body": self.body}
        return body | ({"state": "closed"} if self.close else {})


class ItemChanges:
    """The changes of the items of one repository."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._root = f"/repos/{repository}"
        self._listed = False
        self._missed = False
        self._refused_until = 0.0

    async def carry_out(self, changes: Sequence[ItemChange], permit: WritePermit) -> None:
        """Make all changes, in this order. A refusal of one keeps none of the others from being made.

        Raises the first refusal, after the last change; `Transient` and `UnknownOutcome` at once.
        """
        if await self.at_once(changes, permit) is not None:
            return
        refused: list[Blocked] = []
        for request in (one for change in changes for one in self._one_by_one(change, permit)):
            try:
                await request
            except Blocked as error:
                refused.append(error)
        if refused:
            raise refused[0]

    async def begun_in_turn(
        self, changes: Sequence[ItemChange], permit: WritePermit
    ) -> AsyncGenerator[tuple[Names, Names] | None, None]:
        """Make changes of labels in turn; yield the labels of each item after adding and at the end.

        Where GraphQL cannot be had, REST adds, and the caller removes: it can see first what came in between. An item
        is then changed when it is asked for. None for an item of which nothing was changed.
        """
        needed = [one for one in changes if one.requests]
        together = await self.at_once(needed, permit)
        done = iter(together or ())
        for one in changes:
            if not one.requests:
                yield None
            elif together is not None:
                yield next(done)
            # A label of one of them may be new to the repository, which REST alone takes.
            elif len(needed) > 1 and (alone := await self.at_once([one], permit)) is not None:
                yield alone[0]
            elif one.on:
                labels = await self.add(one.number, one.on, permit)
                yield labels, labels
            else:
                yield None

    async def exchange(self, number: int, on: str, off: str, permit: WritePermit) -> tuple[Names, Names]:
        """Add a label, then remove another if one request can do both; return all labels after each of these."""
        changed = await self.at_once([ItemChange(number, on=(on,), off=(off,))], permit)
        if changed is not None:
            return changed[0]
        labels = await self.add(number, [on], permit)
        return labels, labels

    async def at_once(
        self, changes: Sequence[ItemChange], permit: WritePermit
    ) -> tuple[tuple[Names, Names], ...] | None:
        """Make all changes in one request; return the labels of each changed item after adding and at the end.

        None if REST has to do it, because it takes no more requests or a label was renamed, for example. Raises
        `Transient` and `UnknownOutcome`.
        """
        if sum(change.requests for change in changes) < 2 or self._github.clock.boot() < self._refused_until:
            return None
        variables = await self._variables(changes)
        if variables is None:
            return None
        try:
            reply = await self._github.graphql(_NAME, document(changes), variables, permit)
        except GraphqlUsedUp as limited:
            log.debug("graphql_used_up", outcome="skipped", error=str(limited))
            return None
        except (Refused, NotAllowed, Gone) as error:
            log.info("graphql_refused", outcome="skipped", error=str(error))
            if not self._is_too_new(changes, str(error)):
                for change in changes:
                    self._github.ids.forget(self._root, change.number)
                self._listed, self._refused_until = False, self._github.clock.boot() + REFUSED_SECONDS
            return None
        finally:
            self._github.note_write(self._root)
        self._missed = False
        shown = wire.reply(
            lambda value: tuple(_labels_shown(value["data"], place) for place in range(len(changes))), reply
        )
        if renamed := _renamed_labels(changes, shown):
            log.info("labels_renamed", outcome="retrying", labels=renamed)
            self._github.ids.forget_labels(self._root)
            self._listed = False
            return None
        counts = wire.reply(
            lambda value: [_reviews_shown(value["data"], place) for place in range(len(changes))], reply
        )
        for change, count in zip(changes, counts, strict=True):
            self._github.note_labels(f"{self._root}/issues/{change.number}", change.on, change.off)
            if count is not None:
                self._github.note_count(f"{self._root}/pulls/{change.number}/reviews", count)
        return shown

    def _is_too_new(self, changes: Sequence[ItemChange], message: str) -> bool:
        """Return whether GraphQL misses one of the items, which may not be shown yet; False the second time."""
        ids = {one.number: self._github.ids.item(self._root, one.number) for one in changes}
        missed = [number for number, item in ids.items() if _UNKNOWN in message.casefold() and item and item in message]
        if self._missed or not missed:
            return False
        self._missed = True
        for number in missed:
            self._github.ids.forget_item(self._root, number)
        return True

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> Names:
        """Add labels in one request; return all labels of the item."""
        path = f"{self._root}/issues/{number}/labels"
        return wire.reply(wire.label_names, await self._github.write("POST", path, {"labels": sorted(names)}, permit))

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        """Remove a label that was read there, or that a fence shows; one that is missing for a second is fine."""
        label = f"{number}/labels/{segment(name)}"
        self._github.expect(self._root, LABEL, label, YOUNG_SECONDS)
        try:
            await self._github.write("DELETE", f"{self._root}/issues/{label}", None, permit)
        except NotFound:
            return

    def _one_by_one(self, change: ItemChange, permit: WritePermit) -> Iterator[Awaitable[Any]]:
        if change.fields:
            yield self._github.write("PATCH", f"{self._root}/issues/{change.number}", change.fields, permit)
        if change.on:
            yield self.add(change.number, change.on, permit)
        for name in change.off:
            yield self.remove(change.number, name, permit)

    async def _variables(self, changes: Sequence[ItemChange]) -> dict[str, Any] | None:
        """Return the values of `document`; None if the id of an item or a label is not known."""
        found: dict[str, Any] = {}
        for place, one in enumerate(changes):
            item = self._github.ids.item(self._root, one.number)
            if item is None or (ids := await self._ids((*one.on, *one.off))) is None:
                return None
            on, off = list(ids[: len(one.on)]), list(ids[len(one.on) :])
            values = {"item": item, "body": one.body, "on": on or None, "off": off or None}
            found |= {f"{name}{place}": value for name, value in values.items() if value is not None}
        return found

    async def _ids(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """Return the ids of labels; the repository's own list is read once for those that no item has shown."""
        found = self._github.ids.labels(self._root, names)
        if found is None and not self._listed:
            self._listed = True
            await self._github.pages(f"{self._root}/labels")
            found = self._github.ids.labels(self._root, names)
        return found


def document(changes: Sequence[ItemChange]) -> str:
    """Return the mutation that makes all changes, in their order; names end in the place of the item."""
    parts = [part for place, one in enumerate(changes) for part in _parts(place, one)]
    types = {name: kind for types, _ in parts for name, kind in types.items()}
    declared = ", ".join(f"${name}: {kind}" for name, kind in types.items())
    return f"mutation {_NAME}({declared}) {{\n" + "".join(f"  {field}\n" for _, field in parts) + "}\n"


def _parts(n: int, change: ItemChange) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yield each field, with the variables that it needs."""
    item = {f"item{n}": "ID!"}
    if change.body is not None:
        field = f"body{n}: updateIssue(input: {{id: $item{n}, body: $body{n}}}) {{ issue {{ id }} }}"
        yield item | {f"body{n}": "String!"}, field
    if change.close:
        yield item, f"close{n}: closeIssue(input: {{issueId: $item{n}, stateReason: COMPLETED}}) {{ issue {{ id }} }}"
    for name, mutation in (("on", "addLabelsToLabelable"), ("off", "removeLabelsFromLabelable")):
        if getattr(change, name):
            given = f"{{labelableId: $item{n}, labelIds: ${name}{n}}}"
            yield item | {f"{name}{n}": "[ID!]!"}, f"{name}{n}: {mutation}(input: {given}) {{ {_LABELS} }}"


async def refusal(github: GitHub, permit: WritePermit) -> str:
    """Return GitHub's refusal to change items by GraphQL; empty if it would accept. Changes nothing."""
    try:
        await github.graphql(_NAME, document([ItemChange(0, off=(NOBODY,))]), {"item0": NOBODY, "off0": []}, permit)
    except (GraphqlUsedUp, Refused, NotAllowed, Gone) as error:
        return "" if _UNKNOWN in str(error).casefold() else str(error)
    return ""


def _labels_shown(data: Any, place: int) -> tuple[Names, Names]:
    """Read the labels after adding and at the end: GitHub carries out and answers a mutation's parts in order."""
    on, off = data.get(f"on{place}"), data.get(f"off{place}")
    left = _names(off or on)
    return (_names(on), left) if on else (left, left)


def _reviews_shown(data: Any, place: int) -> int | None:
    """Read how many reviews a pull request has at the end; None for an issue, or if nothing was asked about it."""
    done = data.get(f"off{place}") or data.get(f"on{place}")
    reviews = done["labelable"].get("reviews") if done else None
    return int(reviews["totalCount"]) if reviews else None


def _renamed_labels(changes: Sequence[ItemChange], shown: Sequence[tuple[Names, Names]]) -> tuple[str, ...]:
    """Return the labels added by id that were renamed meanwhile: their old names are still missing."""
    return tuple(
        name
        for one, (after, _) in zip(changes, shown, strict=True)
        for name in one.on
        if name.casefold() not in folded(after)
    )


def _names(done: Any) -> Names:
    return frozenset(str(one["name"]) for one in done["labelable"]["labels"]["nodes"]) if done else frozenset()
