"""An old test expects something else: the review is asked whether a criterion wants that, and a no needs a person."""

from __future__ import annotations

import pytest
from branch_scene import push, work_branch
from engine import ENGINE, OWNER, REPOSITORY, REVIEWER, Engine
from merge_scene import Change
from worker_scene import status

from shared.git.proof_claim import Claim, ClaimedProof
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role
from worker_agent.tdd import claim_writing

pytestmark = pytest.mark.long

OLD = "tests/test_search.py::test_finds_by_name"

REVIEW = """
- call: review
  answer:
    verdict: approved
    summary: It greets politely.
    findings: []
    criteria: [{{id: AC1, met: true, note: {old}}}]
    breaking_change: {{breaks: false, why: ""}}
    expectations: [{{test: "{old}", asked: "{asked}", criterion: "{criterion}", why: "{why}"}}]

- call: check_criteria
  answer: {{criteria: [{{id: AC1, met: true, note: {old}}}]}}
"""

YES = REVIEW.format(old=OLD, asked="yes", criterion="AC1", why="it is to greet politely")
NO = REVIEW.format(old=OLD, asked="no", criterion="", why="nobody spoke of searching")
NOTHING_SAID = NO.partition("    expectations:")[0] + NO[NO.index("\n- call: check_criteria") :]

NO_KEYS = Keyring(1)
STRANGER = Keyring(1, (Key.of(b"somebody else's key, of 32 bytes"),))


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    return engine


async def handed_over(engine: Engine, keys: Keyring = NO_KEYS) -> Change:
    """Make the worker's pull request as at its hand-over, whose claim names an old test that was changed."""
    here = engine.lab.at(REPOSITORY)
    issue = here.issues.open(
        OWNER, "Greet politely", "## Acceptance criteria\n- [ ] AC1: People are greeted politely.\n"
    )
    engine.lab.label(REPOSITORY, issue.number, "status:reviewing", actor=OWNER)
    base = await here.bare.sha("refs/heads/main")
    assert base is not None
    branch = work_branch(issue.number)
    head = await push(engine, branch, {"GREETING.md": "Good morning.\n"}, on=base)
    await engine.lab.idle()
    line = claim_writing.write(Claim(issue.number, base, head, proof=ClaimedProof(16, 14, 2, (OLD,))), keys)
    body = f"Closes #{issue.number}\n\n## Evidence\n\nnoticed 14 of 16 damages\n\n{line}"
    thread = here.issues.open(ENGINE, "[auto] Greet politely", body, is_pull=True)
    here.pulls.open(thread, (branch, head), ("main", base), draft=False)
    engine.lab.label(REPOSITORY, thread.number, "status:reviewing", actor=OWNER)
    return Change(engine, thread.number, branch, head)


async def reviewed(engine: Engine) -> None:
    """Have a reviewer that has just been started look a few times."""
    engine.lab.clock.advance(2)
    async with engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(4):
            await engine.tick(reviewer)


def is_merged(change: Change) -> bool:
    """Return whether the change is merged, read anew."""
    return change.merged


def review_of(engine: Engine, change: Change) -> str:
    """Return the text of our review of the change."""
    reviews = engine.lab.at(REPOSITORY).pulls.reviews_of(change.number)
    (body,) = [one.body for one in reviews if one.author == REVIEWER]
    return body


async def test_a_changed_expectation_that_a_criterion_asks_for_is_merged(engine: Engine) -> None:
    engine.script(YES)
    change = await handed_over(engine)
    await reviewed(engine)
    assert f"changed expectation `{OLD}`: asked for by **AC1**: it is to greet politely" in review_of(engine, change)
    assert change.merged


@pytest.mark.parametrize("script", [NO, NOTHING_SAID], ids=["no", "silence"])
async def test_one_that_no_criterion_asks_for_waits_until_a_person_merges_it(engine: Engine, script: str) -> None:
    engine.script(script)
    change = await handed_over(engine)
    await reviewed(engine)
    assert not change.merged
    assert f"A changed expectation of `{OLD}` has no criterion that asks for it." in status(engine, change.number)
    assert f"changed expectation `{OLD}`: **no criterion asks for it**" in review_of(engine, change)
    await reviewed(engine)
    assert not change.merged, "nothing but a person's word changes that"
    engine.lab.comment(REPOSITORY, change.number, "/merge", author="mallory")
    await reviewed(engine)
    assert not change.merged, "and not everybody's"
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, change.number, "/merge", author=OWNER)
    await reviewed(engine)
    assert is_merged(change)
    found = await engine.fence(Role.REVIEWER, change.number)
    assert found is not None
    assert found.approved_by.startswith("ada in comment ")


async def test_a_claim_that_somebody_else_has_signed_waits_for_a_person(engine: Engine) -> None:
    engine.script(YES)
    change = await handed_over(engine, STRANGER)
    await reviewed(engine)
    assert not change.merged
    assert "was edited, or is not signed by this engine. Comment `/merge`" in status(engine, change.number)
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, change.number, "/merge", author=OWNER)
    await reviewed(engine)
    assert change.merged
