"""The issue of a story that was typed in at a console."""

from __future__ import annotations

from shared.errors import Misconfigured
from shared.github.ports import Issues
from shared.lock.write_permit import OperatorPermit
from shared.models import Issue
from shared.specification import BODY_LIMIT
from shared.text import one_line, visible

TITLE_LIMIT = 240
"""GitHub refuses longer titles at 256 characters."""


async def create_story(issues: Issues, text: str, *labels: str) -> Issue:
    """Create the issue: the first line of `text` is its title, the rest its body, and it carries `labels`.

    A first line that is too long for a title stands in the body as well. Raises `Misconfigured` for a story that says
    nothing or is longer than GitHub accepts.
    """
    title, body = split(text)
    return await issues.create(title, body, labels, OperatorPermit("a story from the command line"))


def split(text: str) -> tuple[str, str]:
    """Return title and body; errors as `create_story`."""
    text = text.strip()
    if not visible(text).strip():
        raise Misconfigured("The story is empty: say in the first line what is wanted, and the details below it.")
    first, _, rest = text.partition("\n")
    title = one_line(first.lstrip("# "), TITLE_LIMIT)
    body = text if not title or len(one_line(first, len(first))) > TITLE_LIMIT else rest.strip()
    if len(body) > BODY_LIMIT:
        raise Misconfigured(
            f"The story has {len(body):,} characters; GitHub accepts {BODY_LIMIT:,}. Shorten or split it."
        )
    return title or "Story", body
