"""The pages of a list: their entries, and whether another page follows (pure).

GitHub's ETag is of a page's body, not of its `Link`, and a 304 has no `Link`: a page that was full when it was
read stays the same page after a next one has begun. So a full page never proves that the list ends there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import Transient
from shared.github.address import query

PAGE = 100
"""Entries per page, GitHub's maximum."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of entries of a page, and of its whole list if the page states that."""

    listed: int = 0
    total: int | None = None


NOTHING = Extent()
"""The extent of a value that is no list."""


def entries(path: str, value: Any) -> list[Any]:
    """Return the entries of one page, which may stand inside an object, as `check_runs` beside `total_count`."""
    found = _list(value)
    if found is None:
        raise Transient(f"GitHub's answer to {path} is not a list")
    return found


def extent(value: Any) -> Extent:
    """Return the extent of a page; empty for an answer that is no list."""
    total = value.get("total_count") if isinstance(value, dict) else None
    return Extent(len(_list(value) or ()), total if isinstance(total, int) else None)


def address(path: str, params: Mapping[str, object], number: int = 1) -> str:
    """Return the address of page `number` of a list; the first one is asked for without a number."""
    return path + query({"per_page": PAGE, **params, "page": number if number > 1 else None})


def may_go_on(page: Extent, read: int, size: int) -> bool:
    """Return whether entries may follow a page without a link, after `read` entries of the list, its own included."""
    return page.listed >= size and (page.total is None or read < page.total)


def _list(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    lists = [part for part in value.values() if isinstance(part, list)] if isinstance(value, dict) else []
    return lists[0] if len(lists) == 1 else None
