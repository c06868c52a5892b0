"""An issue that is edited between the review and the merge: nothing is merged by a text that nobody has read."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, REVIEWER, Engine
from office import office
from worker_scene import calls, labels

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"
MORE = f"{BODY}- [ ] AC2: fly.txt says hello as well.\n"

BOTH = """
- call: review
  for: greet both
  round: any
  answer:
    verdict: changes_requested
    summary: Nobody greets the fly.
    findings: []
    criteria: [{id: AC1, met: true, note: test_ant}, {id: AC2, met: false, note: nothing says hello to it}]
    breaking_change: {breaks: false, why: ""}

- call: implement
  for: greet both
  attempt: any
  round: any
  edits: [{path: fly.txt, content: "hello, fly\\n"}]

- call: review
  for: greet both
  round: 1
  answer:
    verdict: approved
    summary: Both are greeted.
    findings: []
    criteria: [{id: AC1, met: true, note: test_ant}, {id: AC2, met: true, note: fly.txt}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  for: greet both
  round: any
  answer: {criteria: [{id: AC1, met: true, note: test_ant}, {id: AC2, met: true, note: read}]}
"""


def reviews(engine: Engine, pull: int) -> int:
    """Return how often the engine has reviewed a pull request."""
    return sum(one.author == REVIEWER for one in engine.lab.at(REPOSITORY).pulls.reviews_of(pull))


async def test_a_criterion_that_is_added_after_the_review_is_worked_on_before_the_merge(engine: Engine) -> None:
    """The owner thinks of the fly while Grace has still to approve."""
    async with office(engine, "ant", knows=BOTH) as here:
        here.protect(approvals=2, dismiss_stale=True)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        pull, head = here.pull(number).number, here.pull(number).head_sha
        here.edit(number, title="Greet both", body=MORE)
        here.approve(pull)
        await here.until(lambda: here.was_told(pull, "it is reviewed by the new text before it is merged"))
        assert not here.is_merged(number)
        await here.until(lambda: here.is_approved(number) and here.pull(number).head_sha != head)
        here.approve(pull)
        await here.until(lambda: here.is_merged(number))
        assert "edited after" not in here.status(number)
    assert await engine.lab.at(REPOSITORY).bare.read("refs/heads/main", "fly.txt")
    assert reviews(engine, pull) == 3


async def test_a_word_that_is_put_right_after_the_review_costs_one_review_and_no_work(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        here.edit(number, body=BODY.replace("Greet them", "Greet all of them"))
        here.approve(here.pull(number).number)
        await here.until(lambda: here.is_merged(number))
    assert (reviews(engine, here.pull(number).number), calls(engine, "implement")) == (2, 1)


async def test_a_ticked_box_is_no_other_text(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        here.protect(approvals=2)
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_approved(number))
        here.edit(number, body=BODY.replace("[ ]", "[x]"))
        here.approve(here.pull(number).number)
        await here.until(lambda: here.is_merged(number))
    assert reviews(engine, here.pull(number).number) == 1


async def test_where_no_review_is_left_a_person_says_what_becomes_of_it(engine: Engine) -> None:
    async with office(engine, "ant", review={"max_commits": 1}) as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.edit(number, body=MORE)
        here.approve(pull)
        await here.until(lambda: "comment `/merge` to have it merged as it is" in here.status(pull))
        assert not here.is_merged(number)
        assert "status:approved" in labels(engine, pull)
        here.say(pull, "/merge", by=OWNER)
        await here.until(lambda: here.is_merged(number))
    assert reviews(engine, here.pull(number).number) == 1
