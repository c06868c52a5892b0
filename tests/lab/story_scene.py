"""What the whole stories ask of the lab."""

from __future__ import annotations

from engine import OWNER, REPOSITORY, Engine

from lab.demo.stories import STORIES


def tell(engine: Engine) -> int:
    """The maintainer writes the story."""
    story = STORIES[0]
    return engine.lab.issue(REPOSITORY, story.title, story.body, author=OWNER, labels=("story",)).number


def is_open(engine: Engine, number: int) -> bool:
    return engine.issue(number).open


def has(engine: Engine, number: int, label: str) -> bool:
    """Whether a thread exists and carries a label."""
    thread = engine.lab.at(REPOSITORY).issues.records.get(number)
    return thread is not None and label in thread.labels
