"""Several label changes of one item in one request, which only GraphQL can do without replacing the whole set.

REST's `PUT` of all labels would lose what a person sets at the same moment. GraphQL carries the changes out in
their order, not as a transaction: what is left of one that failed in between, REST does once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog

from shared.errors import Gone, NotAllowed
from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.github.graphql import ask
from shared.lock.write_permit import WritePermit

REFUSED_SECONDS = 3600.0
"""So long after a refusal REST does everything: a server without GraphQL, its own limit, a token that it refuses."""

RELABEL = """\
mutation Relabel($item: ID!, $on: [ID!]!, $off: [ID!]!) {
  addLabelsToLabelable(input: {labelableId: $item, labelIds: $on}) {
    labelable { labels(first: 100) { nodes { name } } }
  }
  removeLabelsFromLabelable(input: {labelableId: $item, labelIds: $off}) {
    labelable { labels(first: 100) { nodes { name } } }
  }
}
"""

REMOVE = """\
mutation Unlabel($item: ID!, $off: [ID!]!) {
  removeLabelsFromLabelable(input: {labelableId: $item, labelIds: $off}) {
    labelable { labels(first: 100) { nodes { name } } }
  }
}
"""

NOBODY = "nobody"
"""The id of no item: who may use GraphQL is told so."""

_UNKNOWN = "could not resolve to a node"

log = structlog.get_logger()

Names = frozenset[str]


class LabelSwitch:
    """Label changes of the items of one repository; `root` is its path."""

    def __init__(self, github: GitHub, root: str) -> None:
        self._github = github
        self._root = root
        self._listed = False
        self._refused_until = 0.0

    async def change(
        self, number: int, on: Sequence[str], off: Sequence[str], permit: WritePermit
    ) -> tuple[Names, Names] | None:
        """Add labels, then remove others; all labels of the item after each, or None where REST has to do it.

        Raises `Transient` and `UnknownOutcome` as `GitHub.write`.
        """
        if bool(on) + len(off) < 2 or self._github.clock.boot() < self._refused_until:
            return None
        item = self._github.ids.item(self._root, number)
        if item is None or (ids := await self._ids((*on, *off))) is None:
            return None
        name, document = ("Relabel", RELABEL) if on else ("Unlabel", REMOVE)
        variables = {"item": item, "on": ids[: len(on)], "off": ids[len(on) :]}
        if not on:
            del variables["on"]
        try:
            reply = await ask(self._github, name, document, variables, permit)
        except (Refused, NotAllowed, Gone) as error:
            log.info("graphql_refused", outcome="skipped", error=str(error))
            self._github.ids.forget(self._root, number)
            self._listed, self._refused_until = False, self._github.clock.boot() + REFUSED_SECONDS
            return None
        self._github.note_labels(f"{self._root}/issues/{number}", on, off)
        return wire.reply(_shown, reply)

    async def _ids(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The ids of labels; the repository's own list is read once for those that no item has shown."""
        found = self._github.ids.labels(self._root, names)
        if found is None and not self._listed:
            self._listed = True
            await self._github.pages(f"{self._root}/labels")
            found = self._github.ids.labels(self._root, names)
        return found


async def refusal(github: GitHub, permit: WritePermit) -> str:
    """What keeps labels from being changed so, in GitHub's words; empty where nothing does. It changes nothing."""
    try:
        await ask(github, "Unlabel", REMOVE, {"item": NOBODY, "off": []}, permit)
    except (Refused, NotAllowed, Gone) as error:
        return "" if _UNKNOWN in str(error).casefold() else str(error)
    return ""


def _shown(value: Any) -> tuple[Names, Names]:
    """GitHub carries out the parts of a mutation in their order, and answers each before the next."""
    data = value["data"]
    left = _names(data["removeLabelsFromLabelable"])
    return _names(data["addLabelsToLabelable"]) if "addLabelsToLabelable" in data else left, left


def _names(done: Any) -> Names:
    return frozenset(str(one["name"]) for one in done["labelable"]["labels"]["nodes"])
