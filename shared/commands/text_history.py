"""The versions of issue texts, to decide if a text is still the one that stood there when somebody asked for work.

GitHub's REST interface reports no edits and no editors, only when an item changed last. So a text counts as unchanged
since a label was set if nothing has happened to the item since, or if a list has shown it in just that version.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime, timedelta

from shared.github.listing import brief
from shared.models import Issue
from shared.specification import plain_title

MOST_ITEMS = 2000
"""Items of which versions are kept; the least recently listed goes first."""

MOST_VERSIONS = 32
"""Versions of one item that are kept, the newest."""

SAME_MOMENT = timedelta(seconds=1)
"""Tolerance in comparing times: GitHub counts whole seconds, and may count a label's change with the next one."""


class Texts:
    """The versions of title and body that lists have shown; forgotten at the end of the process."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, dict[datetime, str]] = OrderedDict()

    def note(self, listed: Iterable[Issue]) -> None:
        """Keep the versions that a list shows, each issue as `listing.brief` keeps it."""
        for issue in listed:
            versions = self._seen.setdefault(issue.number, {})
            self._seen.move_to_end(issue.number)
            versions.setdefault(issue.updated_at, _digest(issue))
            while len(versions) > MOST_VERSIONS:
                del versions[min(versions)]
            while len(self._seen) > MOST_ITEMS:
                self._seen.popitem(last=False)

    def stood(self, issue: Issue, at: datetime) -> bool:
        """Return whether `issue`, just read in full, is known to have had the same text at `at` (server time)."""
        if issue.updated_at <= at + SAME_MOMENT:
            return True
        then = [said for version, said in self._seen.get(issue.number, {}).items() if at <= version <= at + SAME_MOMENT]
        return bool(then) and set(then) == {_digest(brief(issue))}


def _digest(issue: Issue) -> str:
    """Return a hash of the title without the engine's counter and of the body's hash, with which `brief` ends it."""
    said = f"{plain_title(issue.title)}\0{issue.body.rpartition(chr(10))[2]}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
