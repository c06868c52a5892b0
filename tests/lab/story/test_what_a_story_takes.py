"""Costs of one story from the first word to the merge: requests that are charged, and processes of git."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from engine import OWNER, REPOSITORY, Engine
from story_scene import has, is_open

from benchmarks.request_counts import Exchange, Tally, tally
from benchmarks.requests import PULLS_LABEL, GitCounts, script
from shared.github.label_board import LOOKS
from shared.workflow import Role
from shared.workflow.labels import Labels

MADE_IN_THE_PROCESS = {"clone", "init", "count-objects", "for-each-ref", "update-ref", "read-tree", "checkout-index"}
"""Git commands that an ordinary life never starts."""


@pytest.mark.prompt("what is asked again because it is shown late would be counted")
async def test_a_story_takes_no_more_requests_and_processes_than_it_needs(engine: Engine, tmp_path: Path) -> None:
    counts = GitCounts(tmp_path / "programs")
    engine.variables["PATH"] = f"{counts.directory}:{os.environ['PATH']}"
    engine.script(script("initial"))
    engine.repository_settings |= {"approval": "auto", "merge": "auto"}
    for name in ("story", PULLS_LABEL, *map(Labels().of, LOOKS)):  # as the stories before this one have left them
        engine.lab.at(REPOSITORY).labels.ensure(name)
    async with (
        engine.agent(Role.PLANNER) as planner,
        engine.agent(Role.WORKER) as worker,
        engine.agent(Role.REVIEWER) as reviewer,
    ):
        await engine.tick(planner, worker, reviewer)
        before, asked = counts.so_far(), len(engine.lab.exchanges)
        story = engine.lab.issue(
            REPOSITORY, "Count users by initial", "For a register.", author=OWNER, labels=("story",)
        )
        await engine.until(lambda: has(engine, 2, "status:ready"), planner)
        await engine.until(lambda: not is_open(engine, 2), worker, reviewer)
        await engine.in_time(lambda: not is_open(engine, story.number), planner)
        took = counts.so_far() - before
        told = _told(engine, asked)
    _expect_git(took)
    assert (told.writes, told.speech) == (24, 6), told.shapes
    assert told.shapes["POST /issues/N/labels"] == 1, "the first label of the story, and no other"
    polls, of_a_start = told.shapes["GET /issues"], told.shapes["GET /labels"]
    assert told.shapes["GET /pulls/N/reviews"] == 1, "of a first review, those that the merge looks at"
    assert "GET /issues/comments/N" not in told.shapes, "the planner wrote it last"
    assert told.charged - polls - of_a_start <= 46, told.shapes


def _told(engine: Engine, since: int) -> Tally:
    return tally(Exchange(one.method, one.path, one.status) for one in list(engine.lab.exchanges)[since:])


def _expect_git(took: Counter[str]) -> None:
    assert not took.keys() & MADE_IN_THE_PROCESS
    assert took["push"] <= 29, took
    assert took["fetch"] <= 15, "three of them look whether what was let go of is still so: ticks without a pause"
    assert took.total() <= 57, took
