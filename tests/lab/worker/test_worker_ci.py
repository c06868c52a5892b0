"""CI in every mood, from the push to the hand-over or the person: whose fault it is, and what that costs."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, REVIEW, TESTS, calls, claims, comments, fence, labels, pulls, status

from lab.github.ci.behaviours import (
    FLAKY,
    LOG_GONE,
    NEVER,
    RED,
    RUNNER_LOST,
    STARTUP_FAILURE,
    TIMED_OUT,
    CiBehaviour,
    Ending,
    late,
)
from lab.github.server import CHECK_NAME
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

FIX = """
- call: fix_ci
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return 'Hello, ' + name\\n"}
"""
OURS = "grep -q f.Hello directory/greeting.py && { echo 'directory/greeting.py:1: error: no f-strings'; exit 1; }; true"
"""A check that only fails for how the change is written."""

APPROVAL = CiBehaviour((Ending("action_required"),))


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting and one repair, and `merge: auto`."""
    engine.script(TESTS + CODE + FIX + REVIEW)
    engine.repository_settings |= {"merge": "auto", "refactor": "off"}
    return engine


async def handed_over(engine: Engine) -> Loop:
    """Run one worker until the item has ended."""
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    return worker


async def overdue(engine: Engine, **ci: object) -> Loop:
    """Run one worker that waits for CI for one second, until the item has ended."""
    engine.repository_settings["ci"] = {"timeout": 1, **ci}
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    return worker


def pulls_merged(engine: Engine) -> list[int]:
    return [pull.number for pull in pulls(engine) if pull.merged_at is not None]


def attempts(engine: Engine) -> int:
    """Return the number of workflow attempts on the newest commit."""
    checks = engine.lab.at(REPOSITORY).checks
    return max((run.attempt for run in checks.runs.values()), default=0)


@pytest.mark.long
@pytest.mark.fault(42)
@pytest.mark.parametrize("mood", [FLAKY, RUNNER_LOST], ids=["flaky", "runner lost"])
async def test_what_is_green_when_it_is_run_again_costs_no_attempt(engine: Engine, mood: CiBehaviour) -> None:
    engine.lab.ci_mood(REPOSITORY, mood)
    number = engine.ready("Greet people")
    worker = await handed_over(engine)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert attempts(engine) == 2
    assert calls(engine, "fix_ci") == 0, "chance and machines are not paid for"
    assert "CI is green" in status(engine, number)


@pytest.mark.long
@pytest.mark.fault(42)
async def test_what_the_change_itself_breaks_is_repaired_at_once(engine: Engine) -> None:
    engine.ci.jobs = {CHECK_NAME: OURS}
    number = engine.ready("Greet people")
    await handed_over(engine)
    assert labels(engine, number) == {"status:reviewing"}
    assert calls(engine, "fix_ci") == 1
    assert attempts(engine) == 1, "a complaint about how code is written is not tried twice"


@pytest.mark.long
@pytest.mark.fault(42)
@pytest.mark.fault(43)
@pytest.mark.parametrize("mood", [RED, LOG_GONE], ids=["red", "log gone"])
async def test_what_stays_red_is_run_again_once_per_commit_and_then_repaired_to_the_limit(
    engine: Engine, mood: CiBehaviour
) -> None:
    engine.lab.ci_mood(REPOSITORY, mood)
    engine.repository_settings["ci"] = {"max_retries": 1}
    number = engine.ready("Greet people")
    worker = await handed_over(engine)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert labels(engine, number) == {"status:ci-failed", "flag:manual-intervention"}
    assert calls(engine, "fix_ci") == 1
    checks = engine.lab.at(REPOSITORY).checks
    assert [run.attempt for run in checks.workflow_runs()] == [2, 2]
    assert "CI still fails after 1 repair." in status(engine, number)
    assert "ours: tests" in status(engine, number)
    assert "status:changes-requested" in status(engine, number)
    asked = [exchange.path for exchange in engine.lab.exchanges]
    assert any(path.endswith("/annotations") for path in asked) is (mood is LOG_GONE), "the next best evidence"


@pytest.mark.long
@pytest.mark.fault(42)
async def test_where_the_token_may_not_run_jobs_again_it_says_so_once_and_repairs(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, RED)
    engine.repository_settings["ci"] = {"max_retries": 0}
    engine.permissions["actions"] = "read"
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: attempts(engine) > 0, worker)
        await engine.until(lambda: bool(worker.ended), worker)
    assert labels(engine, number) == {"status:ci-failed", "flag:manual-intervention"}
    asked = [one for one in engine.lab.exchanges if one.path.endswith("/rerun-failed-jobs")]
    assert [one.status for one in asked] == [403]


@pytest.mark.long
@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("mood", "runs"),
    [(TIMED_OUT, 2), (STARTUP_FAILURE, 1), (NEVER, 1), (APPROVAL, 1)],
    ids=["timed out", "startup failure", "never", "action required"],
)
async def test_what_is_nobodys_fault_and_does_not_end_goes_to_review_with_a_warning_and_is_not_merged(
    engine: Engine, mood: CiBehaviour, runs: int
) -> None:
    engine.lab.ci_mood(REPOSITORY, mood)
    number = engine.ready("Greet people")
    worker = await overdue(engine, none_is_green=True)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert "without passing CI" in status(engine, number)
    assert calls(engine, "fix_ci") == 0
    assert attempts(engine) == runs


@pytest.mark.long
@pytest.mark.fault(42)
async def test_a_late_check_is_waited_for(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, late(90))
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        await engine.tick(worker)
        assert worker.ended == []
        engine.lab.clock.advance(91)
        await engine.until(lambda: bool(worker.ended), worker)
    assert "CI is green" in status(engine, number)


@pytest.mark.long
@pytest.mark.fault(42)
async def test_what_went_to_review_without_a_green_ci_is_merged_by_itself_once_that_is_green(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, late(900))
    number = engine.ready("Greet people")
    await overdue(engine)
    (pull,) = pulls(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
        for _ in range(3):
            await engine.tick(reviewer)
        assert engine.issue(number).open
        assert pulls_merged(engine) == [], "approved, but nothing is merged before it is green"
        engine.lab.clock.advance(901)
        await engine.lab.idle()
        await engine.until(lambda: pulls_merged(engine) == [pull.number], reviewer)


@pytest.mark.long
@pytest.mark.fault(42)
@pytest.mark.prompt("its limit of a second is shorter than what a replica takes")
async def test_a_required_check_that_nobody_reports_keeps_a_commit_from_being_green(engine: Engine) -> None:
    engine.lab.configure(REPOSITORY, protections={"main": Protection(checks=(CHECK_NAME, "security"))})
    number = engine.ready("Greet people")
    engine.repository_settings["ci"] = {"timeout": 1}
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.resting or worker.ended), worker)
        await engine.lab.idle()  # what is reported is there, however slow the machine is
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert "Required checks were not reported in time (security)" in status(engine, number)
    (pull,) = pulls(engine)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
        for _ in range(3):
            await engine.tick(reviewer)
        (told,) = [one.body for one in comments(engine, pull.number) if "engine-status" in one.body]
        assert "Required checks are missing: security." in told
        assert pulls_merged(engine) == []
        engine.lab.at(REPOSITORY).checks.say(pull.head_sha, "security", "success", description="Safe", creator=OWNER)
        engine.lab.clock.advance(301)
        await engine.in_time(lambda: pulls_merged(engine) == [pull.number], reviewer)


@pytest.mark.long
@pytest.mark.fault(42)
async def test_a_red_base_is_waited_for_without_the_lease_told_once_and_then_it_goes_on(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, RED)
    await engine.lab.ci_run(REPOSITORY)
    number = engine.ready("Greet people")
    worker = await handed_over(engine)
    assert [end.result for end in worker.ended] == [Result.PARKED]
    waiting = await fence(engine, number)
    assert waiting.stage is Stage.TESTING
    assert waiting.wait is not None
    assert waiting.wait.reason == "red-base"
    assert "base branch: its checks fail too" in status(engine, number)
    assert calls(engine, "fix_ci") == 0
    told = len(comments(engine, number))
    for _ in range(2):
        engine.lab.clock.advance(301)
        async with engine.agent(Role.WORKER) as worker:
            await engine.tick(worker)
            await engine.tick(worker)
        assert worker.ended == []
    assert len(comments(engine, number)) == told, "no ACK and no word as long as the base is red"
    engine.lab.ci_mood(REPOSITORY, CiBehaviour())
    await engine.lab.ci_run(REPOSITORY)
    await engine.lab.idle()
    await handed_over(engine)
    assert labels(engine, number) == {"status:reviewing"}
    assert claims(engine, number) == 2
    assert calls(engine, "fix_ci") == 0
    assert len(pulls(engine)) == 1


@pytest.mark.long
@pytest.mark.fault(43)
@pytest.mark.edges(
    "specification: testing, CI given up",
    "pull_request: new, CI given up",
)
async def test_a_person_is_told_what_each_repair_was_up_against(engine: Engine) -> None:
    complaints = (("f.Hello", "'a.py:1: error: no f'-strings"), ("'Hello, ' +", "'a.py:2: error: no con'catenation"))
    lint = [f'grep -q "{what}" directory/greeting.py && {{ echo {said}; exit 1; }}' for what, said in complaints]
    engine.ci.jobs = {
        CHECK_NAME: "; ".join((*lint, "true"))
    }  # the command, which logs repeat, spells neither complaint
    engine.repository_settings["ci"] = {"max_retries": 1}
    number = engine.ready("Greet people")
    await handed_over(engine)
    assert labels(engine, number) == {"status:ci-failed", "flag:manual-intervention"}
    told, _, tried = status(engine, number).partition("**What was tried:**")
    assert "no concatenation" in told
    assert "no f-strings" not in told
    assert f"- CI was red before repair 1 (CI_RED): {CHECK_NAME}: " in tried
    assert "no f-strings" in tried
    assert calls(engine, "fix_ci") == 1
