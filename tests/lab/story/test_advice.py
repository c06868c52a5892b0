"""Each "What to do" is done to the letter, and the issue ends merged, without a flag of the end that was overcome."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import advice_stories
import advice_table
import orphan_scene
import pytest
from advice_stories import GOOD, label, say
from engine import OWNER, REPOSITORY, Engine, demo_script
from project_pytest import ALONE
from worker_scene import (
    CODE,
    SLOW,
    TESTS,
    WRONG,
    during_the_call,
    fence,
    labels,
    once,
    pulls,
    status,
)

from lab import target_project
from lab.demo.stories import STORIES as TOLD
from lab.github.server import CHECK_NAME
from shared.llm.port import Ending
from shared.retry.failures import Category
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

BETTER = """
- call: refactor
  edits: [{path: directory/greeting.py, content: "def greet(name: str) -> str:\\n    return f'Hello, {name}'\\n"}]
"""

Story = Callable[[Engine], Awaitable[int]]


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose merges need no person."""
    engine.script(GOOD)
    engine.repository_settings["merge"] = "auto"
    return engine


async def given_up(engine: Engine, script: str) -> int:
    """Make an issue whose work failed by `script`, then correct the cause."""
    engine.script(script)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert "**What to do:**" in status(engine, number)
    assert "status:failed" in labels(engine, number)
    engine.script(GOOD)
    return number


async def attempts_used_up(engine: Engine) -> int:
    engine.repository_settings["max_attempts"] = 1
    number = await given_up(engine, TESTS + WRONG)
    assert "flag:manual-intervention" in labels(engine, number)
    label(engine, number, "status:ready")
    return number


async def ci_stays_red(engine: Engine) -> int:
    engine.repository_settings["ci"] = {"max_retries": 0}
    engine.script(GOOD, ci="false")
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull,) = pulls(engine)
    assert labels(engine, pull.number) >= {"status:ci-failed", "flag:manual-intervention"}
    engine.script(GOOD)
    await engine.lab.ci_run(REPOSITORY, pull.head_branch)
    await engine.lab.idle()
    label(engine, pull.number, "status:changes-requested")
    return number


async def refactoring_waits(engine: Engine) -> int:
    engine.repository_settings["refactor"] = "approve"
    engine.script(GOOD + BETTER)
    number = engine.ready("Greet people")
    await once(engine, number)
    say(engine, number, "/approve")
    return number


async def stopped_by_a_label(engine: Engine) -> int:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
        await engine.until(lambda: bool(worker.ended), worker)
    assert "set `status:ready` on this issue to start again" in status(engine, number)
    engine.script(GOOD)
    label(engine, number, "status:ready")
    return number


async def stopped_with_a_pull_request(engine: Engine) -> int:
    """Set `ready` while the pull request is open, which begins nothing; then follow the answer."""
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull,) = pulls(engine)
    say(engine, number, "/stop")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.tick(worker)
        label(engine, number, "status:ready")
        await engine.tick(worker)
        await engine.tick(worker)
    assert "starts nothing here while" in status(engine, number)
    engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
    engine.lab.unlabel(REPOSITORY, number, "status:ready", actor=OWNER)
    label(engine, number, "status:ready")
    return number


async def pull_request_closed(engine: Engine) -> int:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        engine.lab.close(REPOSITORY, pull.number, actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 2, worker)
    assert "was closed without being merged" in status(engine, number)
    label(engine, number, "status:ready")
    return number


async def configuration_holds_everything(engine: Engine) -> int:
    return await held_by_configuration(engine, "pytest 'never closed", "test_command")


async def program_is_not_there(engine: Engine) -> int:
    return await held_by_configuration(engine, "pytest-nowhere -m pytest", "There is no `pytest-nowhere`")


async def held_by_configuration(engine: Engine, command: str, why: str) -> int:
    good = engine.repository_settings.get("test_command")
    engine.repository_settings["test_command"] = command
    first, second = engine.ready("Greet people"), engine.ready("Part from people")
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
        aside = engine.chronicles[Role.WORKER].health.aside
        assert why in aside[REPOSITORY], "metrics, health and status show it"
        assert len(worker.ended) == 1, "it is found once"
    assert labels(engine, second) == {"status:ready"}
    assert "flag:manual-intervention" not in labels(engine, first)
    assert "correct the configuration file" in status(engine, first)
    assert "correct the specification" not in status(engine, first)
    engine.lab.close(REPOSITORY, second, actor=OWNER)
    del engine.repository_settings["test_command"]
    if good is not None:
        engine.repository_settings["test_command"] = good
    say(engine, first, "/retry")
    return first


async def base_cannot_be_tested(engine: Engine) -> int:
    engine.repository_settings["test_command"] = f"{ALONE} {shlex.quote(sys.executable)} -m pytest --no-such-option"
    number = await given_up(engine, GOOD)
    assert "`test_command` or `setup_command` in the agent's configuration file" in status(engine, number)
    assert "specification" not in status(engine, number).partition("**What to do:**")[2].partition("\n")[0]
    del engine.repository_settings["test_command"]
    label(engine, number, "status:ready")
    return number


async def in_a_circle(engine: Engine) -> int:
    number = engine.ready("Greet people", "Depends on #2")
    other = engine.ready("Part from people", f"Depends on #{number}")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.tick(worker)
    assert f"take `Depends on #{other}` out of this issue" in status(engine, number)
    engine.lab.clock.advance(2)
    engine.lab.at(REPOSITORY).issues.edit(number, OWNER, body="Say hello.")
    return number


async def review_given_up(engine: Engine) -> int:
    number = engine.ready("Greet people")
    await once(engine, number)
    engine.script(TESTS + CODE + "- call: review\n  fails: max_turns\n")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
    (pull,) = pulls(engine)
    assert labels(engine, pull.number) >= {"status:failed", "flag:spec-review-needed"}
    engine.script(GOOD)
    label(engine, pull.number, "status:reviewing")
    return number


async def plan_given_up(engine: Engine) -> int:
    engine.script("- call: plan\n  fails: max_turns\n")
    engine.repository_settings["approval"] = "auto"
    told = TOLD[0]
    story = engine.lab.issue(REPOSITORY, told.title, told.body, author=OWNER, labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: bool(planner.ended), planner)
    assert "status:failed" in labels(engine, story)
    engine.scenario = demo_script(Path(engine.directory))
    engine.ci.jobs = {CHECK_NAME: f"{ALONE} {target_project.CHECK_COMMAND}"}  # red once, as its script expects it
    label(engine, story, "status:planning")
    async with engine.agent(Role.PLANNER, state="machine-2") as planner:
        await engine.until(lambda: "status:specified" in labels(engine, story), planner)
    assert "flag:spec-review-needed" not in labels(engine, story)
    return story + 1


async def branch_was_rewritten(engine: Engine) -> int:
    engine.lab.ci_jobs(REPOSITORY, {"check": "sleep 3"})
    number = engine.ready("Greet people")
    bare = engine.lab.at(REPOSITORY).bare
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(pulls(engine)), worker)
        ours = (await fence(engine, number)).work_head
        async with bare.changing(OWNER):
            await bare.git.run("update-ref", f"refs/heads/auto/issue-{number}", "refs/heads/main~0")
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert "Decide which one counts" in status(engine, number)
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", f"refs/heads/auto/issue-{number}", ours)
    label(engine, pulls(engine)[0].number, "status:changes-requested")
    return number


async def token_may_open_none(engine: Engine) -> int:
    engine.permissions = {"pull_requests": "read"}
    number = engine.ready("Greet people")
    await once(engine, number)
    assert "Let this token open pull requests" in status(engine, number)
    engine.permissions = {}
    say(engine, number, "/retry")
    return number


STORIES: Mapping[str, tuple[Story, ...]] = {
    "worker_agent.comments.given_up": (attempts_used_up, ci_stays_red),
    "worker_agent.comments.refactoring_waits": (refactoring_waits,),
    "worker_agent.comments.withdrawn": (stopped_by_a_label, advice_stories.stopped_and_reviewed_as_it_is),
    "worker_agent.comments.ready_in_vain": (stopped_with_a_pull_request,),
    "worker_agent.comments.pull_request_closed": (
        pull_request_closed,
        advice_stories.pull_request_opened_again,
        advice_stories.branch_restored_and_pull_request_opened_again,
    ),
    "worker_agent.comments.opened_again": (advice_stories.pull_request_opened_again_without_a_word,),
    "worker_agent.comments.unusable": (configuration_holds_everything, program_is_not_there),
    "worker_agent.errors.CycleAborted": (base_cannot_be_tested,),
    "worker_agent.errors.BranchTaken": (branch_was_rewritten,),
    "worker_agent.open_pull_request.pull_request": (token_may_open_none,),
    "worker_agent.intake.intake_comments.cycle_status": (in_a_circle,),
    "shared.commands.command_loop.correction_wanted": (advice_stories.text_to_be_corrected,),
    "worker_agent.errors.BaseGone": (advice_stories.base_gone,),
    "worker_agent.errors.BranchExists": (advice_stories.branch_is_somebodys,),
    "worker_agent.errors.ConflictUnresolved": (advice_stories.conflict_unresolved,),
    "worker_agent.tdd.setup.hooks.HookFailed": (advice_stories.hook_failed,),
    "worker_agent.errors.NotPending": (advice_stories.no_longer_pending,),
    "worker_agent.open_pull_request._finish": (advice_stories.branch_was_emptied,),
    "reviewer_agent.comments.given_up": (review_given_up,),
    "planner_agent.comments.given_up": (plan_given_up,),
}


def test_every_advice_in_the_code_has_a_story() -> None:
    assert advice_table.places() == STORIES.keys()


@pytest.mark.parametrize("story", [one for told in STORIES.values() for one in told], ids=lambda story: story.__name__)
async def test_what_is_advised_ends_merged(engine: Engine, story: Story) -> None:
    await ends_merged(engine, await story(engine))


@pytest.mark.parametrize("told", sorted(advice_table.of_runs()), ids=lambda told: str(told)[:40])
async def test_what_is_advised_about_a_run_ends_merged(engine: Engine, told: str) -> None:
    category, ending = _told_of(told)
    engine.script(f"- call: write_tests\n  fails: {ending}\n")
    number = orphan_scene.issue(engine, "status:implementing")
    await orphan_scene.fence(
        engine, Role.WORKER, number, Stage.IMPLEMENTING, phase="red", failures=f"{category}=9", approved_by="@ada"
    )
    await once(engine, number)
    assert told.split(":")[0].rstrip(".") in status(engine, number)
    engine.script(GOOD)
    label(engine, number, "status:ready")
    await ends_merged(engine, number)


def _told_of(told: str) -> tuple[Category, Ending]:
    """Return a failure that leads to this advice, and that a scripted coder can have."""
    known = [(category, ending) for category, ending in advice_table.of_runs()[told] if ending is not None]
    usual = {
        Category.TURNS: Ending.MAX_TURNS,
        Category.RUN_BUDGET: Ending.MAX_BUDGET,
        Category.LASTING: Ending.PERSISTENT,
        Category.TIMEOUT: Ending.TIMED_OUT,
        Category.PASSING: Ending.TRANSIENT,
    }
    own = [(category, ending) for category, ending in known if category in usual and usual[category] is ending]
    of_login = [one for one in known if one[0] is Category.LASTING]
    return (own or of_login)[0]


def told_as_merged(engine: Engine, number: int) -> bool:
    """Return whether the issue is closed with a status about it, and nothing on it or the pull request is waiting."""
    if engine.issue(number).open or "Merged in #" not in status(engine, number):
        return False
    *_, last = pulls(engine)
    shown = labels(engine, number) | labels(engine, last.number)
    return last.merge_sha is not None and not any(one.startswith(("flag:", "status:")) for one in shown)


async def ends_merged(engine: Engine, number: int) -> None:
    async with (
        engine.agent(Role.WORKER, state="machine-2") as worker,
        engine.agent(Role.REVIEWER, state="machine-2") as reviewer,
    ):
        await engine.in_time(lambda: told_as_merged(engine, number), worker, reviewer, seconds=90)
