"""One message as people read it: with its table, without marks and data for programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ParamSpec

from shared.github.status import Status

P = ParamSpec("P")

_MARK = re.compile(r"^<!--.*-->\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Message:
    """`name` is the function that makes it, and after a comma the occasion."""

    name: str
    content: Status | str

    @classmethod
    def of(cls, make: Callable[P, Status | str], *args: P.args, **kwargs: P.kwargs) -> Message:
        """Return what this function makes of these facts, called by its module and its name."""
        return cls(f"{make.__module__.rpartition('.')[2]}.{make.__name__}", make(*args, **kwargs))

    def on(self, occasion: str) -> Message:
        """Return the message with the occasion in its name."""
        return replace(self, name=f"{self.name}, {occasion}")

    @property
    def function(self) -> str:
        """The function alone."""
        return self.name.partition(",")[0]

    def text(self) -> str:
        """Return the text as GitHub shows it."""
        body = self.content
        if isinstance(body, Status):
            body = f"{body.sentence}\n\n{body.notes}" if body.notes else body.sentence
        return re.sub(r"\n{3,}", "\n\n", _MARK.sub("", body)).strip()


def section(title: str, messages: list[Message]) -> str:
    """One chapter of the page: each message quoted below the name of what makes it."""
    parts = [f"## {title}"]
    for message in messages:
        quoted = "\n".join(f"> {line}".rstrip() for line in message.text().split("\n"))
        parts.append(f"**`{message.function}`**{message.name[len(message.function) :]}\n\n{quoted}")
    return "\n\n".join(parts)
