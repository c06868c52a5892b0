"""The refusal of commands that bind the work to a text if the text may have been edited after the command."""

from __future__ import annotations

from shared.commands.command import Command
from shared.commands.command_rules import Effect
from shared.commands.recovery import Case
from shared.commands.text_history import Texts
from shared.github.ports import People
from shared.specification import body_sha256
from shared.workflow import HALTED, TERMINAL, Role

RENEWING = frozenset({Effect.START, Effect.RETRY, Effect.RESET_ATTEMPTS, Effect.CLOSE_AND_RESET})
"""Effects that bind the work to the issue's text as it is read then."""

MAY_BE_EDITED = "the text may have been edited after your command; read it and give it again"


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
