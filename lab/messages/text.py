"""One message as people read it: with its table, without marks and data for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared.github.status import Status

_MARK = re.compile(r"^<!--.*-->\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Message:
    """`name` is the function that makes it, and after a comma the occasion."""

    name: str
    content: Status | str

    @property
    def function(self) -> str:
        """The function alone."""
        return self.name.partition(",")[0]

    def text(self) -> str:
        """Return the text as GitHub shows it."""
        body = "\n".join(_status(self.content)) if isinstance(self.content, Status) else self.content
        return re.sub(r"\n{3,}", "\n\n", _MARK.sub("", body)).strip()


def _status(status: Status) -> Iterator[str]:
    yield status.sentence
    if status.notes:
        yield f"\n{status.notes}"


def section(title: str, messages: list[Message]) -> str:
    """One chapter of the page: each message quoted below the name of what makes it."""
    parts = [f"## {title}"]
    for message in messages:
        quoted = "\n".join(f"> {line}".rstrip() for line in message.text().split("\n"))
        parts.append(f"**`{message.function}`**{message.name[len(message.function) :]}\n\n{quoted}")
    return "\n\n".join(parts)
