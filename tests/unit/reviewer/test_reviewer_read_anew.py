"""An issue that says something else than when its pull request was reviewed: it is read anew, not merged unread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.reviewer_forge import auto, tick
from fakes.reviewer_world import ADA, HEAD, KEYS, PULL, SPECIFIED, World, answer
from reviewer_merge_scene import merges

from reviewer_agent.review.verdict import Judgement, PersonOnly, Reader, ReviewVerdict, mark, text_key
from reviewer_agent.snapshot import Bounds
from shared.models import CheckOutcome, Review, ReviewState
from shared.workflow import Stage

MORE = f"{SPECIFIED.body}\n- [ ] AC3: It says goodbye as well.\n"


def of_the_new_text(verdict: str = "approved", *, met: bool = True) -> dict[str, Any]:
    """Return a review that knows three criteria."""
    third = {"id": "AC3", "met": met, "note": "test_goodbye"}
    known = answer()["criteria"]
    return answer(verdict, criteria=[*known, third])


async def approved(**facts: object) -> World:
    """Return a world in which the engine approves, and something else blocks the merge until it is removed."""
    world = World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED}, **facts)  # type: ignore[arg-type]
    await tick(world, **auto())
    assert (world.stage, merges(world)) == (Stage.APPROVED, 0)
    world.checks[HEAD] = CheckOutcome.PASSED
    world.server.seconds += 3600
    return world


async def test_what_was_edited_after_its_review_is_reviewed_again_before_it_is_merged() -> None:
    world = await approved()
    world.issue = replace(world.issue, body=MORE, updated_at=world.now)
    world.answers.append(of_the_new_text())
    await tick(world, **auto())
    assert (len(world.requests), merges(world)) == (2, 1)
    assert any("it is reviewed by the new text" in one.sentence for one in world.statuses)
    assert "goodbye" in world.requests[-1].prompt


async def test_a_tick_in_a_box_and_spaces_are_the_same_text() -> None:
    world = await approved()
    world.issue = replace(world.issue, body=f"\n{world.issue.body.replace('[ ]', '[x]')}  \n")
    await tick(world, **auto())
    assert (len(world.requests), merges(world)) == (1, 1)


async def test_where_no_review_is_left_it_waits_for_a_word_that_is_younger_than_the_edit() -> None:
    world, bounds = await approved(), Bounds(reviews=1)
    world.say(ADA, "/merge")
    world.server.seconds += 60
    world.issue = replace(world.issue, body=MORE, updated_at=world.now)
    await tick(world, **auto(bounds=bounds))
    assert (len(world.requests), merges(world), world.stage) == (1, 0, Stage.APPROVED)
    assert "comment `/merge` to have it merged as it is" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    await tick(world, **auto(bounds=bounds))
    assert (len(world.requests), merges(world)) == (1, 1)


async def test_what_the_new_text_asks_for_gets_a_round_however_many_there_were() -> None:
    world = await approved()
    assert world.fence is not None
    world.issue = replace(world.issue, body=MORE, updated_at=world.now)
    world.answers.append(of_the_new_text("changes_requested", met=False))
    await tick(world, **auto(bounds=Bounds(rounds=2)))
    assert world.stage is Stage.CHANGES_REQUESTED
    assert merges(world) == 0


@pytest.mark.parametrize(("text", "known"), [("", True), (text_key(SPECIFIED), True), ("0" * 12, False)])
def test_a_review_says_of_which_text_it_speaks(text: str, known: bool) -> None:
    verdict = ReviewVerdict(HEAD, 0, Judgement.APPROVED, PersonOnly.NONE, 0, SPECIFIED.updated_at, text=text)
    said = Review(1, ADA, ReviewState.APPROVED, f"{mark(KEYS, PULL, verdict)}\nFine.", HEAD, SPECIFIED.updated_at)
    found = Reader(KEYS, {ADA.id}).read(PULL, said)
    assert found is not None
    assert (found.text, found.knows(SPECIFIED)) == (text, known)
