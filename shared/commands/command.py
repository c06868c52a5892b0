"""Commands that people give in comments, parsed together with their author (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from shared.models import Account, Comment
from shared.text.markdown import lines


class Verb(StrEnum):
    """The commands that people can give."""

    START = "start"
    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    RETRY = "retry"
    RESET_ATTEMPTS = "reset-attempts"
    SPEC_REVIEW = "spec-review"
    CLOSE_AND_RESET = "close-and-reset"
    MERGE = "merge"


ALIASES = {"mark-for-spec-review": Verb.SPEC_REVIEW}
"""Other words for a command."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its comment, its author, and the text behind the verb."""

    comment_id: int
    author: Account
    verb: Verb
    text: str
    at: datetime | None = field(default=None, compare=False)
    """Server time at which the command was given."""

    def __str__(self) -> str:
        return f"/{self.verb} by {self.author.login} in comment {self.comment_id}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A text that looks like a command and is none of ours."""

    comment_id: int
    author: Account
    word: str


_LINE = re.compile(r"/([a-z-]+)(?:\s+(.*))?", re.DOTALL)
_LOOKS = re.compile(r"/([a-z][a-z-]{2,30})(?: [^\n/]{0,80})?", re.IGNORECASE)
"""One line and nothing else: a form that a person would hardly write by chance."""
_NEARLY = re.compile(rf"/((?:{'|'.join(Verb)})[.,:;!?]?)(?!\S)", re.IGNORECASE)
"""A nearly correct command at the start, with capitals or punctuation as telephones write: answered, not obeyed."""

_QUESTION = re.compile("[?\uff1f\u061f\u037e\u055e\u1367\u2047\u2048\ufe56]")
"""The question marks of all scripts that have one of their own."""

MOST_APPROVAL_CHARS = 120
"""Most characters of an approval; a longer comment says something else as well."""

_APPROVES = re.compile(
    r"\b(?:lgtm|ship it|go ahead|looks? good|sounds? good|approved?|perfect|do it|please proceed|proceed|\+1"
    r"|go for it|makes sense|agreed|fine (?:with|by) me|all good)\b|\+1|👍|✅|🚀|:(?:\+1|shipit|rocket|thumbsup):",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\?|\b(?:but|not|n't|don't|except|unless|instead|however|change|before|wait|please (?:add|remove|use))\b",
    re.IGNORECASE,
)


def commands(comments: Iterable[Comment]) -> tuple[Command, ...]:
    """Return the commands in comments, in the order of the comments.

    A command is the first line that is neither quoted nor in a code block; what follows it in the comment is its text.
    People may write with the engine's account, so the caller leaves out only comments that carry the engine's mark.
    """
    found = (_command(comment) for comment in comments)
    return tuple(command for command in found if command is not None)


def unknown(comments: Iterable[Comment]) -> tuple[Unknown, ...]:
    """Return the comments that are one line with a word after a slash that is no command, or begin almost as one."""
    return tuple(_unknown(comments))


def mentions(body: str, login: str) -> bool:
    """Return whether a comment mentions `login`, outside of quotes and code."""
    # As GitHub sees it: letters of other scripts may stand right before and behind it.
    called = re.compile(rf"(?<![\w`/])@{re.escape(login)}(?![\w-])", re.IGNORECASE | re.ASCII)
    return called.search(spoken_text(body)) is not None


def asks_for_work(comment: Comment, login: str) -> bool:
    """Return whether a comment that was never edited mentions `login` and holds no question."""
    edited = comment.updated_at > comment.created_at
    return bool(login) and not edited and mentions(comment.body, login) and not _asks(comment)


def asks_a_question(comment: Comment, login: str) -> bool:
    """Return whether a comment that was never edited mentions `login` with a question, and gives no command."""
    edited = comment.updated_at > comment.created_at
    called = bool(login) and not edited and mentions(comment.body, login)
    return called and _asks(comment) and _command(comment) is None


def _asks(comment: Comment) -> bool:
    return _QUESTION.search(spoken_text(comment.body)) is not None


def consents(body: str) -> bool:
    """Return whether a comment approves in other words than the command, and says nothing else.

    Quotes and code do not count. Such people are pointed to the command, and nothing else happens.
    """
    said = spoken_text(body)
    doubts = _DOUBTS.search(said) or _QUESTION.search(said)
    return len(said) <= MOST_APPROVAL_CHARS and _APPROVES.search(said) is not None and doubts is None


def spoken_text(body: str) -> str:
    """Return the part of a comment that its author wrote: no quotes, no code blocks."""
    return "\n".join(_lines(body)).strip()


def _unknown(comments: Iterable[Comment]) -> Iterator[Unknown]:
    for comment in comments:
        spoken = spoken_text(comment.body)
        looks = _LOOKS.fullmatch(spoken) or _NEARLY.match(spoken)
        if looks is not None and _command(comment) is None:
            yield Unknown(comment.id, comment.author, looks[1])


def _command(comment: Comment) -> Command | None:
    match = _LINE.fullmatch(spoken_text(comment.body))
    if match is None:
        return None
    verb = ALIASES.get(match[1]) or (Verb(match[1]) if match[1] in set(Verb) else None)
    if verb is None:
        return None
    return Command(comment.id, comment.author, verb, (match[2] or "").strip(), comment.created_at)


def _lines(body: str) -> Iterator[str]:
    for line in lines(body.replace("\r\n", "\n")):
        if not line.fenced and not line.text.lstrip().startswith(">") and not line.text.startswith(("    ", "\t")):
            yield line.text
