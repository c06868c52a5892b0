"""GraphQL's ids of issues, pull requests and labels, as REST's answers show them (pure)."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Mapping
from sys import intern
from typing import Any

from shared.newest import Newest

MOST = 5000
"""Most items whose ids are remembered; the one that was shown longest ago goes first."""

MOST_CLOSED = 100
"""Most closed items among them: their labels may be changed once more, right after they were closed."""

_ROOT = re.compile(r"(?P<root>/(?:repos/[^/]+/[^/]+|repositories/\d+))(?P<rest>/.*)")


class GlobalIds:
    """The ids that one client was shown."""

    def __init__(self) -> None:
        self._items: Newest[tuple[str, int], str] = Newest(MOST)
        self._closed: OrderedDict[tuple[str, int], None] = OrderedDict()
        self._labels: dict[str, dict[str, str]] = {}

    def learn(self, path: str, value: Any) -> None:
        """Note the ids in an answer: items, lists of items, and labels of either an item or the repository."""
        found = _ROOT.fullmatch(path.partition("?")[0])
        if found is None:
            return
        root, are_labels = intern(found["root"].casefold()), found["rest"].endswith("/labels")
        for one in value if isinstance(value, list) else (value,):
            if are_labels:
                self._label(root, one)
            elif isinstance(one, Mapping) and isinstance(one.get("number"), int):
                self._item(root, one)

    def item(self, root: str, number: int) -> str | None:
        """Return the id of an issue or pull request of the repository at the path `root`; None if unknown."""
        return self._items.get((root.casefold(), number))

    def labels(self, root: str, names: Collection[str]) -> tuple[str, ...] | None:
        """Return the ids of labels, in the order of their names; None if one of them is not known."""
        known = self._labels.get(root.casefold(), {})
        found = tuple(known.get(name.casefold(), "") for name in names)
        return found if all(found) else None

    def forget(self, root: str, number: int) -> None:
        """Forget an item and the repository's labels: one of them has changed."""
        self.forget_item(root, number)
        self.forget_labels(root)

    def forget_item(self, root: str, number: int) -> None:
        """Forget an item until it is shown again."""
        self._items.pop((root.casefold(), number), None)

    def forget_labels(self, root: str) -> None:
        """Forget the repository's labels."""
        self._labels.pop(root.casefold(), None)

    def _item(self, root: str, item: Mapping[str, Any]) -> None:
        key = root, item["number"]
        if isinstance(item.get("node_id"), str):
            self._items[key] = item["node_id"]
        self._closed.pop(key, None)
        if item.get("state") == "closed":
            self._closed[key] = None
            if len(self._closed) > MOST_CLOSED:
                self._items.pop(self._closed.popitem(last=False)[0], None)
        labels = item.get("labels")
        for label in labels if isinstance(labels, list) else ():
            self._label(root, label)

    def _label(self, root: str, label: Any) -> None:
        """Note a label; a renamed one keeps its id, which no longer stands for its old name."""
        if isinstance(label, Mapping) and isinstance(label.get("name"), str) and isinstance(label.get("node_id"), str):
            name, known = label["name"].casefold(), self._labels.setdefault(root, {})
            if known.get(name) != label["node_id"]:
                for old in [old for old, id_ in known.items() if id_ == label["node_id"]]:
                    del known[old]
                known[name] = label["node_id"]
