"""The worker among people and beside other workers: what ends, pauses, withdraws and resumes its work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from judge import Judge

from lab.faults import Fault, FaultKind
from lab.server import Lab
from lab.world.comments import CommentRecord
from lab.world.pulls import PullRecord
from shared.items import Result
from shared.lock.codec import Fence
from shared.loop import Loop
from shared.workflow import Role, Stage

TESTS = """
- call: write_tests
  edits:
    - path: tests/test_greeting.py
      content: |
        from directory.greeting import greet


        def test_greets():
            assert greet("Ada") == "Hello, Ada"
"""

CODE = """
- call: implement
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
"""

WRONG = """
- call: implement
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}
"""

SLOW = """
- call: write_tests
  takes: 600
  edits: [{path: tests/test_never.py, content: "def test_never(): assert False\\n"}]
"""


@pytest.fixture
async def engine(tmp_path: Path, judge: Judge) -> AsyncIterator[Engine]:
    """A lab with the demo's project; at the end every exchange was as GitHub describes it."""
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        async with Engine.of(lab, tmp_path, tmp_path / "scenario.yml") as engine:
            engine.script(TESTS + CODE)
            yield engine
        assert lab.unlisted == []
        assert lab.faults.unused == []
    assert judge.complaints == []
    assert judge.judged > 0


def comments(engine: Engine, number: int) -> list[CommentRecord]:
    return engine.lab.at(REPOSITORY).comments.of(number)


def status(engine: Engine, number: int) -> str:
    """The one status comment of an issue."""
    (found,) = [comment.body for comment in comments(engine, number) if "engine-status" in comment.body]
    return found


def labels(engine: Engine, number: int) -> set[str]:
    return set(engine.issue(number).labels)


def pulls(engine: Engine) -> list[PullRecord]:
    return engine.lab.at(REPOSITORY).pulls.records.values()


async def branch(engine: Engine, number: int) -> str | None:
    return await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/auto/issue-{number}")


async def fence(engine: Engine, number: int) -> Fence:
    found = await engine.fence(Role.WORKER, number)
    assert found is not None
    return found


def acks(engine: Engine, number: int) -> list[str]:
    return [comment.body for comment in comments(engine, number) if comment.body.startswith("ACK:")]


async def is_released(engine: Engine, number: int) -> bool:
    """Whether the ACK that the fence names is released; one that lost a race is dead without a word."""
    holder = engine.lab.at(REPOSITORY).comments.require((await fence(engine, number)).ack_id)
    return "state=released" in holder.body


def calls(engine: Engine, call: str) -> int:
    """How many machines were given an answer to a call."""
    return len([*engine.directory.glob(f"*/scripted/*-{call}-given")])


async def once(engine: Engine, number: int, *, state: str = "machine-1") -> Loop:
    """One worker, until the item has ended."""
    async with engine.agent(Role.WORKER, state=state) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert await is_released(engine, number)
    return worker


async def during_the_call(engine: Engine, worker: Loop) -> None:
    """Let a claim come as far as a coder at work in its tree."""
    await worker.tick()
    await eventually(lambda: any(engine.directory.glob("machine-1/workspaces/*/issue-*/tree/directory/store.py")))


async def eventually(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        await anyio.sleep(0.02)
    raise AssertionError("it did not come to that")


async def test_a_run_leaves_one_ack_and_one_status_comment(engine: Engine) -> None:
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert len(acks(engine, number)) == 1
    assert len(comments(engine, number)) == 2
    assert "CI is green" in status(engine, number)
    assert comments(engine, pulls(engine)[0].number) == []
    assert labels(engine, number) == {"status:reviewing"}


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
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
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


@pytest.mark.fault(14)
async def test_an_issue_closed_during_a_paid_call_is_let_go(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        engine.lab.close(REPOSITORY, number, actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN
    assert await is_released(engine, number)
    assert pulls(engine) == []
    assert await branch(engine, number) is None


@pytest.mark.fault(17)
async def test_a_stage_label_taken_off_by_a_person_is_an_order_to_stop(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        engine.script(TESTS + CODE)
        await engine.tick(worker)
        assert len(worker.ended) == 1, "it began again without being asked"
    assert labels(engine, number) == set()
    assert await is_released(engine, number)


@pytest.mark.fault(17)
async def test_ready_set_again_while_it_is_held_changes_nothing(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.WORKER, state="machine-2") as other:
        await during_the_call(engine, worker)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        await engine.tick(other)
        assert (other.ended, other.busy) == ([], 0)
        await worker.tick()
        assert worker.busy == 1
    assert len(acks(engine, number)) == 1


async def test_a_paused_issue_is_released_and_goes_on_later(engine: Engine) -> None:
    engine.ci.never = True
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.label(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        assert await is_released(engine, number)
        assert "Paused" in status(engine, number)
        await engine.tick(worker)
        assert worker.busy == 0
        engine.lab.unlabel(REPOSITORY, number, "flag:paused", actor=OWNER)
        await engine.until(lambda: bool(worker.resting), worker)
    assert calls(engine, "implement") == 1
    assert len(pulls(engine)) == 1


async def test_a_label_set_by_a_stranger_starts_nothing(engine: Engine) -> None:
    number = engine.ready("Mine bitcoins", by="mallory")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        assert worker.busy == 0
    assert comments(engine, number) == []
    assert labels(engine, number) == {"status:ready"}
    assert await engine.fence(Role.WORKER, number) is None


async def test_an_open_blocker_holds_an_issue_back_until_it_is_closed(engine: Engine) -> None:
    blocker = engine.ready("First", by="mallory")
    number = engine.ready("Greet people", f"Depends on #{blocker}")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.tick(worker)
        assert comments(engine, number) == []
        engine.lab.close(REPOSITORY, blocker, actor=OWNER)
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]


@pytest.mark.fault(32)
async def test_a_pull_request_closed_by_a_person_ends_the_work(engine: Engine) -> None:
    engine.ci.never = True
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert await branch(engine, number) is not None
    assert "Stopped" in status(engine, number)


@pytest.mark.fault(42)
async def test_a_ci_that_never_finishes_is_handed_over_with_a_warning(engine: Engine) -> None:
    engine.ci.never = True
    engine.repository_settings["ci"] = {"timeout": 1}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker, ticks=400)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert "without a green CI" in status(engine, number)


@pytest.mark.fault(42)
async def test_no_checks_at_all_is_green_only_where_the_configuration_says_so(engine: Engine) -> None:
    engine.ci.jobs = {}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        await engine.tick(worker)
        assert worker.ended == []
    engine.repository_settings["ci"] = {"none_is_green": True}
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]


@pytest.mark.fault(37)
async def test_another_worker_goes_on_from_the_red_commit(engine: Engine) -> None:
    engine.script(TESTS + CODE.replace("implement", "implement\n  takes: 600"))
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as first:
        await first.tick()
        await eventually(lambda: any("red on the base" in one.body for one in comments(engine, number)))
    red = (await fence(engine, number)).work_head
    assert await is_released(engine, number)
    engine.script(CODE)  # no answer to write_tests: a second call would fail
    worker = await once(engine, number, state="machine-2")
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    tip = await branch(engine, number)
    assert tip is not None
    history = await engine.lab.at(REPOSITORY).bare.log(None, tip, 3)
    assert [commit.message.partition("\n")[0] for commit in history[:2]] == [
        "Implement Greet people",
        "Add tests for Greet people",
    ]
    assert red in {commit.sha for commit in history}


@pytest.mark.fault(40)
async def test_two_workers_make_one_pull_request(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as one, engine.agent(Role.WORKER, state="machine-2") as two:
        async with anyio.create_task_group() as group:
            group.start_soon(one.tick)
            group.start_soon(two.tick)
        assert one.busy + two.busy <= 1
        await engine.until(lambda: bool(one.ended + two.ended), one, two)
    assert len(pulls(engine)) == 1
    assert calls(engine, "write_tests") == calls(engine, "implement") == 1
    assert await is_released(engine, number)


@pytest.mark.fault(37)
async def test_a_restarted_agent_continues_its_own_live_lock_at_once(engine: Engine) -> None:
    engine.ci.never = True
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        # Killed before it could say so: GitHub does not take the release.
        engine.lab.configure(REPOSITORY, archived=True)
    engine.lab.configure(REPOSITORY, archived=False)
    assert not await is_released(engine, number)
    async with engine.agent(Role.WORKER, state="machine-2") as stranger:
        await engine.tick(stranger)
        assert (stranger.busy, stranger.resting) == (0, ())
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        assert len(worker.resting) == 1
    assert len(acks(engine, number)) == 1
    assert calls(engine, "write_tests") == 1


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


@pytest.mark.fault(32)
async def test_ready_after_a_closed_pull_request_starts_over_once_its_branch_is_gone(engine: Engine) -> None:
    engine.ci.never = True
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.tick(worker)
        await drop_branch(engine, number)
        engine.lab.unlabel(REPOSITORY, number, "status:testing", actor=OWNER)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        await engine.until(lambda: bool(worker.resting), worker)
    assert len(pulls(engine)) == 2
    assert labels(engine, number) == {"status:testing"}


@pytest.mark.fault(32)
async def test_a_closed_pull_request_of_the_same_commit_is_asked_about(engine: Engine) -> None:
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        held_back = engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/pulls$"))
        await engine.until(lambda: bool(pulls(engine)), worker)
        assert not held_back.unused
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.FAILED]
        assert "reopen it" in worker.ended[0].sentence
    assert len(pulls(engine)) == 1


async def drop_branch(engine: Engine, number: int) -> None:
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", "-d", f"refs/heads/auto/issue-{number}")
