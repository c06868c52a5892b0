"""The GitHub side of one repository, as the planner uses it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.commands.text_unchanged import Texts
from shared.github.ports import Closing, Comments, Inbox, Issues, LabelBoard, People, Replies, StatusBoard


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the planner uses it."""

    inbox: Inbox
    issues: Issues
    comments: Comments
    people: People
    labels: LabelBoard
    status: StatusBoard
    texts: Texts
    closing: Closing
    replies: Replies
