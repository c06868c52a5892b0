"""The base in step: merged by git, tested, its conflicts resolved once and shown to a person."""

from __future__ import annotations

import pytest
from branch_scene import contains, push, rename_default, subjects, text, tip, work_branch
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, calls, fence, labels, pulls, status

from lab.github.ci.behaviours import GREEN, NEVER
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine that refactors nothing."""
    engine.repository_settings |= {"refactor": "off"}
    return engine


THEIRS = {"directory/greeting.py": "def shout(name):\n    return name.upper()\n"}
"""A file that somebody adds to the base under the very path that the implementation writes."""

RESOLVED = """
- call: resolve_conflict
  round: any
  edits:
    - path: directory/greeting.py
      content: |
        def greet(name):
            return f'Hello, {name}'


        def shout(name):
            return name.upper()
"""

SILENCE = """
import pathlib


def test_nobody_says_hello():
    assert not pathlib.Path("directory/greeting.py").exists()
"""

ROUND = """
- call: implement
  round: 1
  edits:
    - {path: directory/greeting.py, replace: {old: "return", new: "text ="}}
    - {path: directory/greeting.py, replace: {old: "{name}'", new: "{name}'; return text"}}
"""

WORKFLOW = """
    - {path: .github/workflows/ci.yml, content: "on: push\\n"}
"""

HALF = """
- call: resolve_conflict
  round: any
  edits:
    - {path: NOTES.md, content: "I do not know.\\n"}
"""


async def opened(engine: Engine, worker: Loop) -> str:
    """Open a pull request that waits for CI; return its branch."""
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    await engine.until(lambda: bool(worker.resting), worker)
    return work_branch(number)


async def collided(engine: Engine, worker: Loop) -> str:
    """Change on the base the file that the pull request changes, then make CI green."""
    branch = await opened(engine, worker)
    await push(engine, "main", THEIRS)
    engine.lab.ci_mood(REPOSITORY, GREEN)
    await engine.lab.ci_run(REPOSITORY, branch)
    return branch


async def handed_over(engine: Engine, worker: Loop) -> str:
    """Make a pull request that waits for its review; return its branch."""
    number = engine.ready("Greet people")
    await engine.until(lambda: bool(worker.ended), worker)
    assert worker.ended[0].result is Result.HANDED_OVER
    return work_branch(number)


async def changes_asked_for(engine: Engine, worker: Loop) -> None:
    """Ask for changes as a person, and wait until the round ends."""
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, pulls(engine)[0].number, "Please see to it.", author=OWNER)
    engine.lab.label(REPOSITORY, pulls(engine)[0].number, "status:changes-requested", actor=OWNER)
    await engine.until(lambda: len(worker.ended) == 2, worker)


def number_of(branch: str) -> int:
    return int(branch.rpartition("-")[2])


@pytest.mark.fault(34)
async def test_a_conflict_is_resolved_once_and_left_to_a_person_to_merge(engine: Engine) -> None:
    engine.script(TESTS + CODE + RESOLVED)
    async with engine.agent(Role.WORKER) as worker:
        branch = await collided(engine, worker)
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.HANDED_OVER
    main, number = await tip(engine, "main"), number_of(branch)
    assert "flag:had-conflict" in labels(engine, pulls(engine)[0].number)
    assert await contains(engine, branch, main)
    assert (await subjects(engine, branch))[0] == f"Merge main into {branch}"
    assert "shout" in await text(engine, branch, "directory/greeting.py")
    found = await fence(engine, number)
    assert (found.stage, found.attempt, found.base) == (Stage.REVIEWING, 1, main)
    assert calls(engine, "resolve_conflict") == 1


@pytest.mark.fault(34)
@pytest.mark.parametrize(
    ("tried", "why"),
    [
        (HALF, "directory/greeting.py: conflict markers are left"),
        (RESOLVED.replace("shout", "whisper") + WORKFLOW, "Only a person may change this file"),
    ],
    ids=["markers are left", "the patch policy refuses"],
)
async def test_a_conflict_that_is_not_resolved_goes_to_a_person_and_leaves_the_branch(
    engine: Engine, tried: str, why: str
) -> None:
    engine.script(TESTS + CODE + tried)
    async with engine.agent(Role.WORKER) as worker:
        branch = await collided(engine, worker)
        before, number = await tip(engine, branch), number_of(branch)
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.FAILED
    assert await tip(engine, branch) == before
    told = status(engine, number)
    assert why in told
    assert before[:12] in told
    assert labels(engine, number) >= {"status:failed", "flag:had-conflict", "flag:manual-intervention"}
    assert calls(engine, "resolve_conflict") == 1


@pytest.mark.fault(34)
async def test_a_base_500_commits_ahead_is_merged_before_a_round_of_changes(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND)
    async with engine.agent(Role.WORKER) as worker:
        branch = await handed_over(engine, worker)
        await far_ahead(engine, 500)
        await changes_asked_for(engine, worker)
        assert worker.ended[1].result is Result.HANDED_OVER
    main, number = await tip(engine, "main"), number_of(branch)
    assert await contains(engine, branch, main)
    made = await subjects(engine, branch)
    assert made[1] == f"Merge main into {branch}"
    assert "flag:had-conflict" not in labels(engine, pulls(engine)[0].number)
    assert calls(engine, "resolve_conflict") == 0
    found = await fence(engine, number)
    assert (found.base, found.attempt) == (main, 1)


async def far_ahead(engine: Engine, count: int) -> None:
    """Make `count` commits on the base, one of them to a file that only a person may change."""
    bare = engine.lab.at(REPOSITORY).bare
    lines = []
    for number in range(count):
        lines.append("commit refs/heads/main\ncommitter Ada <ada@example.org> now\ndata 4\nMore\n")
        lines.append("from refs/heads/main^0\n" if number == 0 else "")
        lines.append(f"M 100644 inline .github/workflows/{number % 7}.yml\ndata 4\n{number:04}\n")
    async with bare.changing(OWNER):
        await bare.git.check("fast-import", "--quiet", "--date-format=now", stdin="".join(lines).encode())


@pytest.mark.edges(
    "specification: reviewing, gave up",
    "pull_request: implementing, gave up",
)
async def test_a_base_that_breaks_the_branch_without_a_conflict_is_a_conflict_all_the_same(engine: Engine) -> None:
    engine.script(TESTS + CODE + HALF)
    async with engine.agent(Role.WORKER) as worker:
        branch = await handed_over(engine, worker)
        before = await tip(engine, branch)
        await push(engine, "main", {"tests/test_silence.py": SILENCE})
        await changes_asked_for(engine, worker)
        assert worker.ended[1].result is Result.FAILED
    assert await tip(engine, branch) == before
    assert "test_nobody_says_hello" in status(engine, number_of(branch))


@pytest.mark.fault(34)
async def test_a_base_that_was_renamed_is_followed(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND)
    async with engine.agent(Role.WORKER) as worker:
        branch = await handed_over(engine, worker)
        await push(engine, "main", {"README.md": "New.\n"})
        await rename_default(engine, "trunk")
        await changes_asked_for(engine, worker)
        assert worker.ended[1].result is Result.HANDED_OVER
    assert await contains(engine, branch, await tip(engine, "trunk"))
    assert "Merge trunk into" in (await subjects(engine, branch, base="trunk"))[1]
