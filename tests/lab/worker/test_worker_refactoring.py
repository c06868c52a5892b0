"""The refactoring after green: taken, rolled back, nothing to do, and confirmed or declined by a person."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, calls, fence, labels, once, pulls, status

from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

BETTER = """
- call: refactor
  edits: [{path: directory/greeting.py, content: "def greet(name: str) -> str:\\n    return f'Hello, {name}'\\n"}]
"""
BREAKS_FIRST = """
- call: refactor
  edits: [{path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}]
""" + BETTER.replace("edits", "retry: 1\n  edits")
BREAKS = """
- call: refactor
  retry: any
  edits: [{path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}]
"""
STRAYS = """
- call: refactor
  retry: any
  edits: [{path: directory/store.py, content: "raise SystemExit\\n"}]
"""
NOTHING = """
- call: refactor
  edits: []
"""
GREEN = ["Implement Greet people", "Add tests for Greet people"]


async def history(engine: Engine, number: int) -> list[str]:
    """Return the subjects of the work branch, newest first."""
    base, head = (await fence(engine, number)).base, await branch(engine, number)
    assert head is not None
    commits = await engine.lab.at(REPOSITORY).bare.log(base, head, 10)
    return [commit.message.splitlines()[0] for commit in commits]


@pytest.mark.parametrize(
    ("script", "subjects", "told"),
    [
        (BREAKS_FIRST, ["Refactor Greet people", *GREEN], ""),
        (BREAKS, GREEN, "Refactor: no changes (tests would break)"),
        (STRAYS, GREEN, "directory/store.py: it is not part of this change"),
        (NOTHING, GREEN, "Refactor: no changes"),
    ],
    ids=["taken at the second try", "breaks tests", "strays into old code", "nothing to do"],
)
async def test_a_refactoring_is_taken_only_when_every_test_stays_green(
    engine: Engine, script: str, subjects: list[str], told: str
) -> None:
    engine.repository_settings["refactor"] = "auto"
    engine.script(TESTS + CODE + script)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert await history(engine, number) == subjects
    (pull,) = pulls(engine)
    assert pull.head_sha == await branch(engine, number)
    body = engine.issue(pull.number).body or ""
    assert told in body
    assert ("Refactor: no changes" in body) is (subjects == GREEN)
    assert labels(engine, number) == {"status:reviewing"}
    assert (await fence(engine, number)).attempt == 1, "no attempt is spent"


@pytest.mark.parametrize(
    ("word", "subjects"),
    [("/approve", ["Refactor Greet people", *GREEN]), ("/reject the old one reads better", GREEN)],
)
@pytest.mark.edges(
    "specification: implementing, approval needed",
    "specification: awaiting-approval, confirmed",
)
async def test_a_person_says_whether_the_refactoring_is_published(
    engine: Engine, word: str, subjects: list[str]
) -> None:
    engine.repository_settings["refactor"] = "approve"
    engine.script(TESTS + CODE + BETTER)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:awaiting-approval"}
    assert (await fence(engine, number)).stage is Stage.AWAITING_APPROVAL
    assert await branch(engine, number) is None
    assert not list(pulls(engine))
    assert "def greet(name: str) -> str:" in status(engine, number)
    assert "`/approve`" in status(engine, number)

    engine.lab.comment(REPOSITORY, number, "/approve", author="mallory")
    engine.lab.comment(REPOSITORY, number, f"> {word}\n\nShould I?", author=OWNER)
    async with engine.agent(Role.WORKER, state="machine-2") as worker:
        await engine.tick(worker)
        assert worker.ended == [], "neither a stranger's word nor a quoted one counts"
        assert await branch(engine, number) is None
        engine.lab.clock.advance(2)  # GitHub tells times of change in seconds
        engine.lab.comment(REPOSITORY, number, word, author=OWNER)
        await engine.until(lambda: "status:reviewing" in labels(engine, number), worker)
    assert await history(engine, number) == subjects
    assert calls(engine, "refactor") == 1
    body = engine.issue(next(iter(pulls(engine))).number).body or ""
    assert ("Refactor: no changes (declined by ada)" in body) is (subjects == GREEN)
