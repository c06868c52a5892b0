"""The worker on its own: how a run ends, what it costs, what is refused and what is left behind."""

from __future__ import annotations

import json

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, WRONG, acks, branch, calls, claims, comments, fence, labels, once, pulls, status

from lab.github.ci.behaviours import NEVER
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a CI that takes no time."""
    engine.script(TESTS + CODE)
    return engine


async def test_a_run_leaves_one_comment_that_is_lock_and_status(engine: Engine) -> None:
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert claims(engine, number) == len(comments(engine, number)) == 1
    assert "CI is green" in status(engine, number)
    assert comments(engine, pulls(engine)[0].number) == []
    assert labels(engine, number) == {"status:reviewing"}


@pytest.mark.edges(
    "specification: implementing, gave up",
)
async def test_attempts_used_up(engine: Engine) -> None:
    engine.script(TESTS + WRONG)
    engine.repository_settings["max_attempts"] = 2
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert (await fence(engine, number)).attempt == 2
    assert await branch(engine, number) is None
    assert pulls(engine) == []
    assert "2 implementations did not pass the tests" in status(engine, number)
    assert "test_greets" in status(engine, number)
    _, _, tried = status(engine, number).partition("**What was tried:**\n\n")
    for attempt, line in enumerate(tried.splitlines()[:2], 1):
        begins = (
            f"- implementation {attempt} was refused and rolled back (IMPLEMENTATION_FAILED): tests/test_greeting.py"
        )
        assert line.startswith(begins)
    (outcome,) = engine.directory.glob("machine-1/kept/*/issue-*/*/outcome.json")
    assert outcome.parent.name in status(engine, number), "it says where the rest is"
    assert "+    return name" in outcome.with_name("patch.diff").read_text()
    assert "Greet people" in outcome.with_name("prompt.md").read_text()
    assert json.loads(outcome.read_text())["category"] == "IMPLEMENTATION_FAILED"


async def test_tests_that_pass_at_once_are_never_implemented(engine: Engine) -> None:
    engine.script(TESTS.replace("from directory.greeting import greet", "greet = 'Hello, {}'.format") + CODE)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:problematic-test"}
    assert calls(engine, "implement") == 0
    assert "TEST_UNEXPECTED_PASS" in status(engine, number)


async def test_a_base_that_cannot_be_tested_costs_nothing(engine: Engine) -> None:
    engine.repository_settings["test_command"] = "pytest-that-is-nowhere -m pytest"
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: "install it" in "".join(acks(engine, number)), worker, ticks=60)
    assert "install it" in status(engine, number)
    assert "pytest-that-is-nowhere" in status(engine, number)
    assert "status:failed" not in labels(engine, number), "it is a matter of the machine, not of the issue"
    assert calls(engine, "write_tests") == 0
    assert (await fence(engine, number)).attempt == 0


async def test_an_old_test_edited_while_implementing_counts_as_a_failed_attempt(engine: Engine) -> None:
    cheat = "\n    - {path: tests/test_directory.py, content: 'def test_nothing(): pass'}\n"
    engine.script(TESTS + CODE.rstrip() + cheat + CODE.replace("implement", "implement\n  attempt: 2"))
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert (await fence(engine, number)).attempt == 2
    tip = await branch(engine, number)
    assert tip is not None
    old = await engine.lab.at(REPOSITORY).bare.git.run("show", f"{tip}:tests/test_directory.py")
    assert "test_gets_a_user_by_login" in str(old)


async def test_a_change_of_the_workflows_is_kept_on_disk_and_never_pushed(engine: Engine) -> None:
    engine.script(TESTS + CODE.rstrip() + "\n    - {path: .github/workflows/x.yml, content: 'on: push'}\n")
    number = engine.ready("Greet people")
    await once(engine, number)
    assert "status:failed" in labels(engine, number)
    assert await branch(engine, number) is None
    (patch,) = (engine.directory / "machine-1" / "kept").rglob("patch.diff")
    assert "+on: push" in patch.read_text()
    assert ".github/workflows/x.yml" in status(engine, number)


@pytest.mark.fault(24)
async def test_a_coder_that_changes_nothing_did_not_succeed(engine: Engine) -> None:
    engine.script(TESTS + "\n- call: implement\n  attempt: any\n  text: Done!\n")
    engine.repository_settings["max_attempts"] = 1
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert "Nothing was changed" in status(engine, number)


@pytest.mark.parametrize(("ending", "flag"), [("max_turns", "spec-review-needed"), ("max_budget", "budget-exceeded")])
async def test_a_run_that_used_up_its_limits_says_which(engine: Engine, ending: str, flag: str) -> None:
    engine.script(f"- call: write_tests\n  fails: {ending}\n")
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", f"flag:{flag}"}


@pytest.mark.fault(42)
@pytest.mark.edges(
    "specification: testing, CI overdue",
    "pull_request: new, CI overdue",
)
async def test_a_ci_that_never_finishes_is_handed_over_with_a_warning(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.repository_settings["ci"] = {"timeout": 1}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert "without passing CI" in status(engine, number)


@pytest.mark.fault(42)
async def test_no_checks_at_all_is_green_only_where_the_configuration_says_so(engine: Engine) -> None:
    engine.ci.jobs = {}
    base = await engine.lab.at(REPOSITORY).bare.sha("refs/heads/main")
    assert base is not None
    engine.lab.at(REPOSITORY).checks.say(base, "test", "success", description="once", creator=OWNER)
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        await engine.tick(worker)
        assert worker.ended == []
    engine.repository_settings["ci"] = {"none_is_green": True, "timeout": 0.05}
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)  # time is in whole seconds
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]


async def test_labels_left_behind_by_a_crash_after_the_hand_over_are_finished(engine: Engine) -> None:
    number = engine.ready("Greet people")
    await once(engine, number)
    (pull,) = pulls(engine)
    # As if it had ended between the fence and the labels.
    for item in (number, pull.number):
        engine.lab.unlabel(REPOSITORY, item, "status:reviewing", actor=ENGINE)
    engine.lab.label(REPOSITORY, number, "status:testing", actor=ENGINE)
    await once(engine, number, state="machine-2")
    assert labels(engine, number) == {"status:reviewing"}
    assert labels(engine, pull.number) == {"status:reviewing", "automated"}
    assert len(pulls(engine)) == 1
