"""`python -m lab.messages`: write `docs/messages.md`, all messages as one page."""

from __future__ import annotations

from pathlib import Path

from lab.messages import commands, planner, reviewer, worker
from lab.messages.text import section

PAGE = Path(__file__).parents[2] / "docs" / "messages.md"

_HEAD = """# Messages

Every text that the engine posts on GitHub, with made-up facts, in the order in which people meet them; of status
comments the sentence and what follows it, without the table and the data for programs. `python -m lab.messages` writes
this page, and a test fails while it is not current."""

CHAPTERS = {
    "On a story: the planner": planner,
    "On an issue and its pull request: the worker": worker,
    "On a pull request: the reviewer": reviewer,
    "Commands, reminders and labels": commands,
}


def page() -> str:
    """The whole page."""
    chapters = (section(title, list(module.messages())) for title, module in CHAPTERS.items())
    return "\n\n".join([_HEAD, *chapters]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
