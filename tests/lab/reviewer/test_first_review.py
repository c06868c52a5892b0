"""A first review lists no reviews before it is posted, and lists them before the merge: what people say is seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from engine import OWNER, REPOSITORY, Engine
from merge_scene import SCRIPT, Change, looks, opened

from shared.github.label_board import LOOKS
from shared.workflow import Role
from shared.workflow.labels import Labels


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    for name in map(Labels().of, LOOKS):
        engine.lab.at(REPOSITORY).labels.ensure(name)
    return engine


def asked(change: Change) -> list[str]:
    """Return the requests about its reviews, in their order."""
    path = f"/pulls/{change.number}/reviews"
    return [one.method for one in list(change.engine.lab.exchanges) if one.path.endswith(path)]


async def test_a_first_review_lists_reviews_only_when_it_is_posted(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await opened(engine, "calm")
        await engine.until(lambda: change.merged, reviewer)
        assert asked(change)[:2] == ["POST", "GET"]


async def strike(change: Change, point: Callable[[str, str], bool]) -> None:
    """Let the owner ask for changes right before the first request that the predicate picks."""

    async def passing(method: str, path: str) -> None:
        if not change.struck and point(method, path):
            change.struck = True
            pulls = change.engine.lab.at(REPOSITORY).pulls
            pulls.review(change.number, OWNER, "CHANGES_REQUESTED", "No.", change.head)

    change.engine.lab.interludes.append(passing)


async def test_a_request_for_changes_right_before_its_label_is_read_before_the_review(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await opened(engine, "early")
        await strike(change, lambda method, path: path.endswith("/graphql"))
        await looks(engine, reviewer)
        assert change.struck
        assert asked(change)[0] == "GET"
        assert not change.merged


async def test_a_request_for_changes_during_the_review_keeps_it_from_being_merged(engine: Engine) -> None:
    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await opened(engine, "during")
        await strike(change, lambda method, path: method == "POST" and path.endswith(f"/pulls/{change.number}/reviews"))
        await looks(engine, reviewer)
        assert change.struck
        assert asked(change)[:2] == ["POST", "GET"]
        assert not change.merged
