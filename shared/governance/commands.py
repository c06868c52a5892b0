"""Commands that people give in comments: read, and bound to who may give them (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from shared.markdown import lines
from shared.models import Account, Comment


class Verb(StrEnum):
    """What can be ordered."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    RETRY = "retry"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Command:
    """One order: which comment gave it, who, and the text behind the verb."""

    comment_id: int
    author: Account
    verb: Verb
    text: str


_LINE = re.compile(r"/([a-z-]+)(?:\s+(.*))?", re.DOTALL)


def commands(comments: Iterable[Comment], *, after: int = 0, ours: Collection[int] = ()) -> tuple[Command, ...]:
    """The commands in comments with an id above `after`, oldest first.

    A command is the first line that is neither quoted nor in a code block; what follows it in the
    comment is its text. Comments by the engine's own accounts count only when a person wrote them,
    which the caller tells by leaving out of `comments` what carries the engine's mark (D18).
    """
    found = (_command(comment) for comment in comments if comment.id > after and comment.author.id not in ours)
    return tuple(command for command in found if command is not None)


def _command(comment: Comment) -> Command | None:
    spoken = "\n".join(_spoken(comment.body)).strip()
    match = _LINE.fullmatch(spoken)
    if match is None or match[1] not in set(Verb):
        return None
    return Command(comment.id, comment.author, Verb(match[1]), (match[2] or "").strip())


def _spoken(body: str) -> Iterable[str]:
    """The lines a person said themselves: no quotes, no code blocks."""
    for line in lines(body.replace("\r\n", "\n")):
        if not line.fenced and not line.text.lstrip().startswith(">") and not line.text.startswith(("    ", "\t")):
            yield line.text
