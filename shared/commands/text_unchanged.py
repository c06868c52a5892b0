"""The refusal of commands that bind the work to a text if the text may have been edited after the command.

GitHub's REST interface reports no edits and no editors, only when an item changed last. So a text counts as unchanged
since a label was set if nothing has happened to the item since, or if a list has shown it in just that version.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime

from shared.commands.command import Command
from shared.commands.command_reader import SAME_MOMENT
from shared.commands.command_rules import Effect
from shared.commands.recovery import Case
from shared.github.inbox import PAGE
from shared.github.listing import brief
from shared.github.ports import People
from shared.models import Issue
from shared.specification import body_sha256, plain_title
from shared.text import digest
from shared.workflow import HALTED, TERMINAL, Role

MOST_ITEMS = 2000
"""Items of which versions are kept; the least recently listed goes first."""

MOST_UNLISTED = 200
"""Items of which versions are kept although a whole list lacks them: a replica may show a new one late."""

MOST_VERSIONS = 32
"""Versions of one item that are kept, the newest."""

RENEWING = frozenset({Effect.START, Effect.RETRY, Effect.RESET_ATTEMPTS, Effect.CLOSE_AND_RESET})
"""Effects that bind the work to the issue's text as it is read then."""

MAY_BE_EDITED = "the text may have been edited after your command; read it and give it again"


class Texts:
    """The versions of title and body that lists have shown; forgotten at the end of the process."""

    def __init__(self) -> None:
        self._seen: OrderedDict[int, dict[datetime, str]] = OrderedDict()

    def note(self, listed: Iterable[Issue]) -> None:
        """Keep the versions that a list shows, each issue as `listing.brief` keeps it.

        A list that is shorter than a page is the whole one: of what it lacks, little is kept.
        """
        shown = tuple(listed)
        most = MOST_ITEMS if len(shown) >= PAGE else len(shown) + MOST_UNLISTED
        for issue in shown:
            versions = self._seen.setdefault(issue.number, {})
            self._seen.move_to_end(issue.number)
            versions.setdefault(issue.updated_at, _digest(issue))
            while len(versions) > MOST_VERSIONS:
                del versions[min(versions)]
        while len(self._seen) > most:
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
    return digest(said)[:16]


class TextUnchanged:
    """Guards texts of people without write access; people with write access need nobody's approval for an edit."""

    def __init__(self, texts: Texts, people: People) -> None:
        self._texts = texts
        self._people = people

    async def doubt(self, order: Command, effect: Effect, case: Case) -> str:
        """Return why `effect` is not carried out on the text in `case`; empty without a doubt. Raises `Transient`."""
        issue = case.issue
        if issue is None or not _binds(effect, case):
            return ""
        if case.fence is not None and case.fence.body_sha256 == body_sha256(issue.title, issue.body):
            return ""  # it is bound to this very text already
        if order.at is not None and self._texts.stood(issue, order.at):
            return ""
        return "" if (await self._people.permission(issue.author.login)).may_write else MAY_BE_EDITED


def _binds(effect: Effect, case: Case) -> bool:
    """Return whether `effect` binds to a new text; reviews take the worker's text, and waiting work keeps its own."""
    if effect not in RENEWING:
        return False
    if case.fence is None or effect is Effect.CLOSE_AND_RESET:
        return True
    return case.fence.key.kind is not Role.REVIEWER and case.fence.stage in HALTED | TERMINAL
