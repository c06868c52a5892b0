"""The counter of tries in an issue's title (`titles.attempts`): shown while code is written, taken off at its end."""

from __future__ import annotations

from dataclasses import replace

from shared.github.ports import Issues
from shared.lock.hold import Held
from shared.models import Issue
from shared.pending.mark import is_pending
from shared.specification import plain_title
from shared.text import harmless, redact

TITLE_LIMIT = 256
"""GitHub refuses longer titles."""


def counted(title: str, attempt: str) -> str:
    """Return a title with `attempt`, for example "2/3", or without any if it is empty or GitHub would change it."""
    plain = plain_title(title)
    if not attempt:
        return plain
    wanted = f"{plain} | attempt {attempt}"
    return wanted if len(wanted) <= TITLE_LIMIT and redact(harmless(wanted), ()) == wanted else plain


class Titles:
    """Keeps the counter in the title; an approval is bound to the title without it."""

    def __init__(self, issues: Issues, *, shown: bool) -> None:
        """Create it; if `shown` is false, titles are edited only for issues about a pending test."""
        self._issues = issues
        self._shown = shown

    async def show(self, held: Held, issue: Issue, attempt: str = "") -> Issue:
        """Make the title follow; return the issue with its own title, which prompts and commits use.

        A title that a person edits between our reading and our writing is overwritten: GitHub has no conditional write.
        So it is written only if it differs: once an attempt, and at the end.
        """
        wanted = counted(issue.title, attempt)
        pending = is_pending(issue.body)  # its title was made with a counter, which stays as a record
        if (attempt if pending else self._shown) and wanted != issue.title:
            await self._issues.retitle(issue.number, wanted, held)
        return replace(issue, title=plain_title(issue.title))
