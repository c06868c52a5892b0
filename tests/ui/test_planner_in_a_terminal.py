"""The planner as a person meets it: typed and pasted stories, questions, an editor, a resized window, Ctrl-C."""

from __future__ import annotations

import re
from functools import partial

import pytest
from engine import REPOSITORY, Engine
from tmux_terminal import Terminal
from ui_scene import person, script, writes

from lab.github.world.issues import IssueRecord

PLAN = """
- call: plan
  round: {round}
  answer:
    summary: >-
      The directory can be read by login only. People want to find a user by a part of the name,
      also 日本語の名前を持つ人, and nobody should have to know how it is spelled.
      A module of its own reads it and leaves the store alone.
    complexity: low
    estimate_hours: 2
    steps:
      - {{id: s1, title: Write tests for the search, files: [tests/test_search_by_name.py], depends_on: []}}
      - {{id: s2, title: Implement the search, files: [directory/search_by_name.py], depends_on: [s1]}}
    ambiguities: {asks}
    options:
      - {{title: A function over the iterator, tradeoff: Simple and linear., chosen: true}}
      - {{title: An index kept by the store, tradeoff: Fast but has to be maintained., chosen: false}}
    specifications:
      - key: search
        title: Search users by name
        goal: A caller can find all users whose name contains a text, whatever the case of its letters.
        criteria: [It returns the users whose name contains the text., A blank text finds nobody.]
        files: [directory/search_by_name.py, tests/test_search_by_name.py]
        kind: feature
        may_change: []
        out_of_scope: []
        depends_on: []
"""
ASKS = "[{question: 'Does Ä equal ä?', assumption: They are the same letter., impact: The order., blocking: true}]"
SCRIPT = PLAN.format(round=0, asks=ASKS) + PLAN.format(round=1, asks="[]")
"""A plan with a question, and the one that follows its answer."""

STORY = "Story (what is wanted, the number of an open issue, or 'edit' for your editor):"


APPROVE = "Create 1 specification issue in ada/directory? [Y/n/edit]"
COLOUR = re.compile("\x1b\\[[0-9;]*[34][0-7]")
FRAMES = {"╭": "╮", "╰": "╯", "│": "│", "┃": "┃", "┏": "┓", "┡": "┩", "└": "┘"}


def assert_unbroken(shown: str) -> None:
    """Assert that no frame on the screen is cut or wrapped."""
    lines = [line.rstrip() for line in shown.splitlines()]
    framed = [line for line in lines if line[:1] in FRAMES]
    assert framed
    assert [line for line in framed if line[-1] != FRAMES[line[0]]] == []
    assert [line for line in lines if line[:1] not in FRAMES and line[-1:] in FRAMES.values()] == []


def is_framed(shown: str, *, columns: int) -> bool:
    """Return whether every frame is as wide as the window, with the question below."""
    tops = [line.rstrip() for line in shown.splitlines() if line[:1] in {"╭", "┏"}]
    whole = bool(tops) and all(len(line) == columns and line[-1] == FRAMES[line[0]] for line in tops)
    return whole and "[Y/n/edit]" in shown


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that has one question about every story."""
    engine.scenario = engine.directory / "plans.yml"
    engine.scenario.write_text(SCRIPT, encoding="utf-8")
    return engine


def issues(engine: Engine) -> list[IssueRecord]:
    return list(engine.lab.at(REPOSITORY).issues.records.values())


async def tells(one: Terminal, *lines: str) -> None:
    """Start the planner and type a story."""
    await one.runs("planner-agent", REPOSITORY)
    await one.asks(STORY)
    await one.types(lines[0], "Enter")
    for line in lines[1:]:
        await one.asks("...")
        await one.types(line, "Enter")
    await one.asks("...")
    await one.types("", "Enter")


async def test_a_story_is_typed_asked_about_resized_and_edited(engine: Engine) -> None:
    editor = script(engine.directory / "editor", "exec sed -i 's/title: Search users/title: Find users/' \"$1\"")
    async with person(engine, EDITOR=str(editor)) as one:
        await tells(one, "Find people: 検索 für alle", "By a part of the name,", "also Ætheling's.")
        assert_unbroken(await one.asks("Answer [Enter: They are the same letter.]:"))
        await one.types("Yes, it does.", "Enter")
        assert_unbroken(await one.asks(APPROVE))
        for columns in (60, 40, 90):
            await one.resizes(columns, 60)
            shown = await one.until(partial(is_framed, columns=columns), f"the plan in {columns} columns")
            assert_unbroken(shown)
            assert "日本語の名前を持つ人" in shown
            await one.asks(APPROVE)
        await one.types("edit", "Enter")
        await one.sees("Find users by name")
        await one.asks(APPROVE)
        assert writes(engine) == []
        await one.types("", "Enter")
        assert await one.ended() == 0
    story, specification = issues(engine)
    assert (story.title, story.body) == ("Find people: 検索 für alle", "By a part of the name,\nalso Ætheling's.")
    assert (specification.title, set(specification.labels)) == ("Find users by name", {"status:ready"})


async def test_a_pasted_story_in_a_narrow_window_without_colours(engine: Engine) -> None:
    async with person(engine, columns=40, rows=60, NO_COLOR="1") as one:
        await one.runs("planner-agent", REPOSITORY)
        await one.asks(STORY)
        await one.pastes("検索: search by name\n\n- äöü\n- \U0001f50d and more\n")
        await one.sees("and more")
        await one.types("", "Enter")
        assert_unbroken(await one.asks("[Enter: They are the same letter.]:"))
        await one.types("", "Enter")
        shown = await one.asks(APPROVE)
        assert_unbroken(shown)
        assert "Search users by name" in shown
        assert not COLOUR.search(await one.screen(colours=True))
        await one.types("n", "Enter")
        assert await one.ended() == 0
        assert "Nothing was created." in await one.seen()
    assert writes(engine) == []


PROMPTS = [(STORY, "Find people"), ("...", ""), ("[Enter: They are the same letter.]:", ""), (APPROVE, "")]
"""The prompts, each with an answer that leads to the next one."""


@pytest.mark.parametrize("place", range(len(PROMPTS)), ids=["the story", "its details", "a question", "the decision"])
async def test_who_leaves_at_a_prompt_leaves_nothing_behind(engine: Engine, place: int) -> None:
    async with person(engine) as one:
        for key in ("C-c", "C-d") if place in {0, 3} else ("C-c",):
            await one.runs("planner-agent", REPOSITORY)
            for question, answer in PROMPTS[:place]:
                await one.asks(question)
                await one.types(answer, "Enter")
            await one.asks(PROMPTS[place][0])
            await one.types("", key)
            assert await one.ended() == 130, key
            seen = await one.seen()
            assert "Cancelled: nothing was created." in seen
            assert "Traceback" not in seen
    assert writes(engine) == []


async def test_ctrl_c_while_it_plans_or_in_the_editor_leaves_nothing_behind(engine: Engine) -> None:
    editor = script(engine.directory / "editor", "stty -echo; echo the editor is open; exec sleep 600")
    async with person(engine, EDITOR=str(editor)) as one:
        await tells(one, "Find people")
        await one.asks("[Enter: They are the same letter.]:")
        await one.types("", "Enter")
        await one.asks(APPROVE)
        await one.types("edit", "Enter")
        await one.sees("the editor is open")
        await one.types("", "C-c")
        assert await one.ended() == 130
        engine.scenario.write_text("- {call: plan, takes: 600, answer: {}}", encoding="utf-8")
        await tells(one, "Find people")
        await one.sees("Planning; this can take some minutes.")
        await one.types("", "C-c")
        assert await one.ended() == 130
        assert "Traceback" not in await one.seen()
    assert writes(engine) == []
