"""A maintainer's day, its end: whoever merges or closes, the issue says how it went, and nothing asks for more."""

from __future__ import annotations

import re

import pytest
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, REVIEW, TESTS, claims, fence, labels, once, pulls, status

from lab.github.merge_button import MergeOrder, press
from shared.reconcile.sweep import DOUBT_SECONDS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

BODY = "Greet people.\n\n## Acceptance criteria\n- [ ] AC1: `greet(name)` says hello.\n\n## Notes\n- [ ] tell Bea\n"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, a reviewer that approves, and a CI that takes no time."""
    engine.script(TESTS + CODE + REVIEW)
    return engine


async def merge(engine: Engine) -> str:
    """Press the merge button as the owner; return the first digits of the commit."""
    (pull,) = pulls(engine)
    await press(engine.lab.at(REPOSITORY), pull.number, MergeOrder(), engine.lab.account(OWNER))
    (merged,) = pulls(engine)
    return str(merged.merge_sha)[:7]


async def test_a_merge_by_the_engine_is_told_where_the_work_was_asked_for(engine: Engine) -> None:
    engine.repository_settings["merge"] = "auto"
    number = engine.ready("Greet people", BODY)
    engine.lab.label(REPOSITORY, number, "good first issue", actor=OWNER)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: not engine.issue(number).open, worker, reviewer)
        await engine.tick(worker, reviewer)
    (pull,) = pulls(engine)
    said = status(engine, number)
    merged = rf"Merged in #{pull.number} as `{str(pull.merge_sha)[:7]}`"
    told = rf"^{merged}: 1 attempt, \$0\.00, (?:less than a minute|\d+ min)\.$"
    assert re.search(told, said, re.MULTILINE), said
    assert "waits for review" not in said
    assert labels(engine, number) == {"good first issue"}
    assert labels(engine, pull.number) == {"automated"}
    assert engine.issue(number).body == BODY.replace("- [ ] AC1", "- [x] AC1"), "what no test proves stays open"


async def test_a_merge_by_a_person_before_any_review_is_told_alike(engine: Engine) -> None:
    number = engine.ready("Greet people", BODY)
    await once(engine, number)
    commit = await merge(engine)
    before = claims(engine, number)
    async with engine.agent(Role.WORKER, state="machine-2") as worker:
        await engine.tick(worker)
        await engine.tick(worker)
        assert worker.ended == [], "nothing that is closed is claimed"
    (pull,) = pulls(engine)
    assert f"Merged in #{pull.number} as `{commit}`: 1 attempt" in status(engine, number)
    assert labels(engine, number) == set()
    assert labels(engine, pull.number) == {"automated"}
    assert "- [x] AC1" in str(engine.issue(number).body)
    assert (await fence(engine, number)).stage is Stage.DONE
    assert claims(engine, number) == before


async def test_a_pull_request_that_a_person_closes_waits_for_nobody(engine: Engine) -> None:
    number = engine.ready("Greet people", BODY)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(
            lambda: "status:approved" in {x for p in pulls(engine) for x in labels(engine, p.number)}, worker, reviewer
        )
        (pull,) = pulls(engine)
        engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
        await engine.until(lambda: "was closed without being merged" in status(engine, number), worker, reviewer)
        await engine.tick(worker, reviewer)
    assert labels(engine, pull.number) == {"automated"}
    assert engine.issue(number).open, "it is the maintainer's to say what becomes of the issue"
    assert engine.issue(number).body == BODY
    engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
    worker = await once(engine, number, state="machine-2")
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER], "the advice leads on"


async def test_an_issue_that_a_person_closes_shows_no_stage(engine: Engine) -> None:
    number = engine.ready("Greet people", BODY)
    await once(engine, number)
    (pull,) = pulls(engine)
    engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
    engine.lab.close(REPOSITORY, number, actor=OWNER)
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(3):  # one reading of a closed issue may be an old one
            await engine.tick(worker, reviewer)
            clock.skip(DOUBT_SECONDS)
    assert labels(engine, number) == set()
    assert labels(engine, pull.number) == {"automated"}
    assert status(engine, number).splitlines()[1].startswith("Stopped: ")
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN


async def test_a_tick_of_anybody_is_no_edit_of_the_specification(engine: Engine) -> None:
    engine.repository_settings |= {"merge": "auto"}
    number = engine.lab.issue(REPOSITORY, "Greet people", BODY, author="mallory").number
    engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
    await once(engine, number)
    engine.lab.at(REPOSITORY).issues.edit(number, "mallory", body=BODY.replace("[ ]", "[x]"))
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: not engine.issue(number).open, reviewer)
    assert [pull.merge_sha is not None for pull in pulls(engine)] == [True]
