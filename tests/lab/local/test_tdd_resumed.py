"""A task that is taken up again: ordered once, on what was left, and not where somebody else went on meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from local_project import CODE, TESTS, Project

from console.tdd import own_github, preflight
from console.tdd.checkout import Checkout
from console.tdd.inputs import Unready
from console.tdd.own_github import ended
from console.tdd.task import Records, State, Task, TddOptions
from console.tdd.task_run import TaskRun
from lab.github.server import Lab
from runtime.telemetry.progress import Progress
from shared.errors import Misconfigured
from shared.github import status_record
from shared.loop.real_clock import RealClock


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    made = await Project.made(tmp_path)
    made.configured(TESTS + CODE)
    return made


async def test_a_branch_that_a_person_went_on_with_is_not_taken_up_again(project: Project) -> None:
    checkout = await Checkout.around(project.top, project.variables())
    options = TddOptions(project.outside / "SPEC.md", config=project.outside / "config.yml", branch="result")
    ready = await preflight.ready(options, checkout, project.variables())
    task = Task(ready.task_id, "", str(project.outside), ready.order, State.FAILED, head=ready.order.commit)
    again = TddOptions(resume=task.id)
    assert (await preflight.again(task, again, checkout, project.variables())).order == ready.order
    await project.git("checkout", "--quiet", "-b", "result")
    with pytest.raises(Unready, match="'result' is checked out"):
        await preflight.again(task, again, checkout, project.variables())
    await project.commit_empty("Mine")
    await project.git("checkout", "--quiet", "trunk")
    with pytest.raises(Unready, match="git branch -m result NAME"):
        await preflight.again(task, again, checkout, project.variables())


async def test_an_order_that_nobody_has_answered_is_given_once(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github", durable=True) as lab:
        await lab.repository("local/x", {"a": "1\n"}, collaborators={"you": "admin"})
        lab.issue("local/x", "Greet", "Say hello.", author="you", labels=("status:failed",))
        assert (await ended(lab.at("local/x"))) is not None
        await own_github.go_on(lab, "local/x")
        assert [one.body for one in lab.at("local/x").comments.of(1)] == ["/reset-attempts"]
    async with Lab(tmp_path / "github") as lab:  # as after a kill right then
        assert await ended(lab.at("local/x")) is None
        await own_github.go_on(lab, "local/x")
        assert len(lab.at("local/x").comments.of(1)) == 1


async def test_an_order_that_was_answered_so_long_ago_that_nobody_records_it_any_more_is_not_pending(
    tmp_path: Path,
) -> None:
    async with Lab(tmp_path / "github") as lab:
        repository = await lab.repository("local/x", {"a": "1\n"}, collaborators={"you": "admin"})
        lab.issue("local/x", "Greet", "Say hello.", author="you", labels=("status:failed",))
        known: status_record.Record = {}
        for _ in range(status_record.MOST + 1):
            lab.comment("local/x", 1, "/reset-attempts", author="you")
            entry = {
                "id": repository.comments.of(1)[-1].id,
                "by": "you",
                "command": "/reset-attempts",
                "outcome": "done",
            }
            known = status_record.merged(known, {"commands": [entry]})
        assert len(known["commands"]) == status_record.MOST
        lines = ["<!-- engine-status/1 kind=worker n=1 -->", "It failed.", "", status_record.machine_readable(known)]
        lab.comment("local/x", 1, "\n".join(lines), author="engine-bot")
        assert not own_github.pending(repository)
        await own_github.go_on(lab, "local/x")
        assert repository.comments.of(1)[-1].body == "/reset-attempts"
        assert own_github.pending(repository)


@pytest.mark.parametrize("state", [State.DONE, State.FAILED])
async def test_what_another_process_has_done_since_the_record_was_read_is_not_done_again(
    project: Project, state: State
) -> None:
    checkout, records = await Checkout.around(project.top, project.variables()), Records(project.top)
    options = TddOptions(project.outside / "SPEC.md", config=project.outside / "config.yml", branch="result")
    ready = await preflight.ready(options, checkout, project.variables())
    place = project.outside / "state/tdd" / ready.task_id
    read = Task(ready.task_id, "2026-11-22T10:00:00+00:00", str(place), ready.order)
    now = replace(read, state=state, head=ready.order.commit)
    await checkout.exclude()
    await project.git("branch", "result")
    records.write(now)
    course = TaskRun(ready, checkout, records, Progress(RealClock()))
    if state is State.DONE:
        assert await course.run(read) == now
        assert not place.exists(), "there was nothing left of it, and there is nothing now"
    else:
        with pytest.raises(Misconfigured, match=r"worked on the task .* meanwhile"):
            await course.run(read)
        assert not (place / "github").exists()
    assert records.read(read.id) == now
    assert project.calls("write_tests") == 0


async def test_what_has_not_stopped_is_given_no_order(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github") as lab:
        await lab.repository("local/x", {"a": "1\n"}, collaborators={"you": "admin"})
        lab.issue("local/x", "Greet", "Say hello.", author="you", labels=("status:ready",))
        await own_github.go_on(lab, "local/x")
        assert lab.at("local/x").comments.of(1) == []
