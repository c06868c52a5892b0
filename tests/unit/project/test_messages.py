"""The page of all messages: current, complete, and in words that people understand at once."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest

from lab.messages import planner, reviewer, worker
from lab.messages.__main__ import CHAPTERS, PAGE, page

POETIC = (
    "leads on",
    "let go of",
    "takes this up",
    "a free one",
    "no attempt is spent",
    "the coder did not say",
    "For programs",
    "It breaks callers",
    "control test",
    "a person decides",
    "a person merges",
    "Only a person",
    "take the flag off",
    "hollow",
    "ledger",
    "goes on from where",
)
"""Words of ours that a maintainer who has read none of our documents would have to look up."""


def made_by(module: ModuleType) -> list[str]:
    """Return the public functions of a module of sentences."""
    short = module.__name__.rpartition(".")[2]
    where = "branch" if module.__name__ == "worker_agent.branch.comments" else short
    found = [name for name, one in inspect.getmembers(module, inspect.isfunction) if one.__module__ == module.__name__]
    return [f"{where}.{name}" for name in found if not name.startswith("_")]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m lab.messages`"


@pytest.mark.parametrize("agent", [planner, worker, reviewer], ids=["planner", "worker", "reviewer"])
def test_every_function_that_makes_a_text_is_on_it(agent: ModuleType) -> None:
    shown = {message.function for message in agent.messages()}
    wanted = {name for module in agent.MODULES for name in made_by(module)}
    assert wanted - shown - {name for name in wanted if name.partition(".")[2] in agent.UNPOSTED} == set()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_message_is_empty_and_each_is_a_sentence_of_plain_words(chapter: str) -> None:
    for message in CHAPTERS[chapter].messages():
        text = message.text()
        assert text, message.name
        assert not [word for word in POETIC if word.casefold() in text.casefold()], message.name
        assert "{" not in re.sub(r"`[^`]*`", "", text) or message.function == "text.review_body", message.name
