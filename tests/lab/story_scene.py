"""The steps and questions that whole stories share."""

from __future__ import annotations

from engine import OWNER, REPOSITORY, Engine

from lab.demo.stories import STORIES


def tell(engine: Engine) -> int:
    """Write the story as the maintainer."""
    story = STORIES[0]
    return engine.lab.issue(REPOSITORY, story.title, story.body, author=OWNER, labels=("story",)).number


def is_open(engine: Engine, number: int) -> bool:
    return engine.issue(number).open


def has(engine: Engine, number: int, label: str) -> bool:
    """Return whether a thread exists and carries a label."""
    thread = engine.lab.at(REPOSITORY).issues.records.get(number)
    return thread is not None and label in thread.labels
