"""Work that is stopped during a review or before a merge: people are told at once, and told how it is resumed."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from office import office
from worker_scene import claims, labels

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"


async def test_an_issue_that_is_paused_while_its_pull_request_waits_is_told_there_and_resumed(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.label(number, "flag:paused")
        here.say(number, "I have to ask the ants first.")
        await here.look(2)
        here.approve(pull)
        await here.until(lambda: "It is not merged while its issue is closed, locked, paused" in here.status(pull))
        before = claims(engine, pull)
        here.say(number, "They have not answered yet.")
        await here.look(3)
        assert claims(engine, pull) == before, "told once"
        here.unlabel(number, "flag:paused")
        await here.until(lambda: here.is_merged(number))


async def test_what_holds_a_review_up_is_told_anew_when_it_has_become_something_else(engine: Engine) -> None:
    """A stranger's issue is locked before its review, then unlocked and edited by its author."""
    async with office(engine, "ant") as here:
        number = here.issue("Greet ant", BODY, by="mallory")
        here.label(number, "status:ready")
        await here.until(lambda: here.is_proposed(number) and "status:reviewing" in labels(engine, number), here.worker)
        pull = here.pull(number).number
        here.label(number, "flag:paused")
        await here.until(lambda: "It is not reviewed while its issue is" in here.status(pull))
        here.unlabel(number, "flag:paused")
        here.edit(number, body=f"{BODY}And the fly.\n", by="mallory")
        await here.until(lambda: "was edited after its text was approved" in here.status(pull))
        here.edit(number, body=BODY, by="mallory")
        await here.until(lambda: here.is_merged(number))


async def test_a_pull_request_that_is_stopped_says_how_it_is_taken_up_again(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.say(pull, "/stop", by=OWNER)
        told = "Stopped by ada. To have it go on, set `status:reviewing` here."
        await here.until(lambda: told in here.status(pull))
        assert "It waits for" not in here.status(pull)
        here.approve(pull)
        await here.look(3)
        assert not here.is_merged(number)
        here.label(pull, "status:reviewing")
        await here.until(lambda: here.is_merged(number))
    assert engine.lab.at(REPOSITORY).pulls.require(pull).merged_at is not None


async def test_an_issue_that_is_stopped_while_its_pull_request_waits_says_how_it_is_taken_up_again(
    engine: Engine,
) -> None:
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.say(number, "/stop", by=OWNER)
        await here.until(lambda: "To have it go on, set `status:reviewing` here." in here.status(number))
        here.approve(pull)
        await here.until(lambda: "It is not merged while its issue is" in here.status(pull))
        here.label(number, "status:reviewing")
        await here.until(lambda: here.is_merged(number))
