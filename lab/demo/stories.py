"""The stories of the demonstration, and the script that its coder follows for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from shared.errors import Misconfigured

_TEMPLATE = Path(__file__).with_name("scenario.yml")


@dataclass(frozen=True, slots=True)
class Story:
    """The maintainer's text, and the words by which its script differs from the others'."""

    title: str
    body: str
    field: str
    word: str
    sample: str


def _story(title: str, field: str, word: str, sample: str) -> Story:
    body = f"As a user of the directory I want to find people by a part of their {word}, so that I need no login."
    return Story(title, body, field, word, sample)


STORIES = (
    _story("Add user search", "name", "name", "LOVE"),
    _story("Find people by e-mail", "email", "e-mail address", "ADA@"),
    _story("Find people by login", "login", "login", "DA"),
)
"""In the order in which they are told; no title is a part of another."""


def first_stories(count: int) -> tuple[Story, ...]:
    """The first `count` stories; raises `Misconfigured` when there are not so many."""
    if not 1 <= count <= len(STORIES):
        raise Misconfigured(f"--stories takes a number from 1 to {len(STORIES)}, not {count}.")
    return STORIES[:count]


def scenario(stories: Sequence[Story]) -> str:
    """The scenario file for these stories: for each a wrong first try, a red CI, one round of changes."""
    template = Template(_TEMPLATE.read_text(encoding="utf-8"))
    return "\n".join(
        template.substitute(title=s.title, field=s.field, word=s.word, sample=s.sample, upper=s.field.capitalize())
        for s in stories
    )
