"""The worker's status comments, with notes about parts of an issue that were not understood: references, images.

"Hängt von #12 ab" blocks nothing, and a coder sees no picture that is stored elsewhere. The author reads of it in the
comment that is written anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from shared.github.ports import StatusComments
from shared.github.status import Status
from shared.lock.write_permit import WritePermit
from shared.models import Issue
from shared.newest import Newest
from shared.specification import read
from shared.text import neutralise, one_line
from worker_agent.attached_images import images

TOLD, LINE_CHARS = 3, 160
"""The most lines that are quoted, and the most characters of each."""

MOST_NOTED = 100
"""The most issues that are remembered with a note: that of another stands in its status when it was read again."""


class NotedStatus:
    """A status board that appends to each status of an issue the parts of its text that were not understood."""

    def __init__(self, board: StatusComments, without: Callable[[Issue], int]) -> None:
        """`without` counts the images of an issue that no coder is shown, as far as that is known."""
        self._board = board
        self._without = without
        self._noted: Newest[int, Issue] = Newest(MOST_NOTED)

    def seen(self, issue: Issue) -> None:
        """Remember an issue as it is now, if its text may need a note."""
        self._noted.pop(issue.number, None)
        if note_text(issue, len(images(issue.body))):
            self._noted[issue.number] = issue

    async def data(self, number: int) -> Mapping[str, Any]:
        """Return the comment's machine-readable data."""
        return await self._board.data(number)

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        """Post or edit the status, with the note."""
        issue = self._noted.get(number)
        note = note_text(issue, self._without(issue)) if issue is not None else ""
        whole = "\n\n".join(part for part in (status.notes, note) if part)
        await self._board.show(number, replace(status, notes=whole) if note else status, permit)


def note_text(issue: Issue, without: int) -> str:
    """Return the note about both; empty if everything was understood and every image is shown."""
    return "\n\n".join(filter(None, (_lines(issue), _images(issue, without))))


def _images(issue: Issue, without: int) -> str:
    if not without:
        return ""
    count = len(images(issue.body))
    if without < count:
        which = f"{without} of the {count} images of this issue {'was' if without == 1 else 'were'}"
    else:
        which = "The image of this issue was" if count == 1 else f"The {count} images of this issue were"
    return f"**{which} not shown to any coder:** put into words what matters in it."


def _lines(issue: Issue) -> str:
    lines = [line for line in read(issue.body).unread if line]
    if not lines:
        return ""
    quoted = [f"> {neutralise(one_line(line, LINE_CHARS))}" for line in lines[:TOLD]]
    more = [f"> and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
    return "\n".join(
        [
            "**Nothing waits for the issues that these lines name.** If this has to wait for one, write "
            "`Depends on #` and its number on a line of its own, or set GitHub's relationship:",
            "",
            *quoted,
            *more,
        ]
    )
