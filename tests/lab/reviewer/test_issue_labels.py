"""Labels that are for issues, set on a pull request by somebody who looked for a way to have it go on."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from merge_scene import opened
from office import Office, office
from worker_scene import labels

pytestmark = pytest.mark.long

BODY = "Greet them.\n\n## Acceptance criteria\n- [ ] AC1: ant.txt says hello.\n"
FOR_ISSUES = "is a label of issues and starts nothing on a pull request: set `status:reviewing` here"


def answers(here: Office, number: int) -> list[str]:
    return [one.body for one in here.said(number) if FOR_ISSUES in one.body]


@pytest.mark.parametrize("label", ["status:ready", "story", "status:planning"])
async def test_a_label_of_issues_on_an_approved_pull_request_is_answered_once_and_holds_nothing_up(
    engine: Engine, label: str
) -> None:
    async with office(engine, "ant") as here:
        number, pull = await here.approved("Greet ant", BODY)
        here.label(pull, label)
        await here.look(3)
        (told,) = answers(here, pull)
        assert f"`{label}`" in told
        here.unlabel(pull, label) if label in labels(engine, pull) else None
        here.label(pull, label)
        await here.look(3)
        assert len(answers(here, pull)) == 1, "once for each thread"
        here.approve(pull)
        await here.until(lambda: here.is_merged(number))


async def test_on_a_persons_own_pull_request_the_answer_leads_to_its_review(engine: Engine) -> None:
    async with office(engine, "ant") as here:
        change = await opened(engine, "ant")
        engine.lab.unlabel(REPOSITORY, change.number, "status:reviewing", actor=OWNER)
        engine.lab.at(REPOSITORY).issues.edit(change.number, OWNER, title="Greet ant")
        here.label(change.number, "status:ready")
        await here.look(3)
        (told,) = answers(here, change.number)
        assert "`status:ready`" in told
        here.unlabel(change.number, "status:ready")
        here.label(change.number, "status:reviewing")
        await here.until(lambda: change.merged)


async def test_what_is_excluded_or_locked_is_not_talked_to(engine: Engine) -> None:
    async with office(engine, "ant", labels={"exclude": ["no-bots"]}) as here:
        silent, locked = await opened(engine, "silent"), await opened(engine, "locked")
        engine.lab.lock(REPOSITORY, locked.number, actor=OWNER)
        for change in (silent, locked):
            engine.lab.unlabel(REPOSITORY, change.number, "status:reviewing", actor=OWNER)
        here.label(silent.number, "no-bots")
        for change in (silent, locked):
            here.label(change.number, "status:ready")
        number = here.ready("Greet ant", BODY)
        await here.until(lambda: here.is_merged(number))
        assert answers(here, silent.number) == []
