"""`status` and `report` on a repository in which agents have worked: what they say, what it costs, what they leave."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_scene import looking, visited
from branch_scene import APPROVED, push
from engine import OWNER, REPOSITORY, Engine, demo_script
from orphan_scene import charged, writes
from worker_scene import CODE, SLOW, TESTS, WRONG, during_the_call, labels, pulls

from console.report.command import gathered, reported
from console.report.figures import Figures, figures
from console.report.item import Touch, WorkState
from console.report.rework import Reason
from console.status.command import StatusOptions, print_board
from console.status.row import Waiting, Whom
from lab.demo.stories import STORIES
from reviewer_agent.after_merge.record import Answer, Record, Records
from shared.budget.budgets import BudgetLimits
from shared.budget.ledger import Ledger
from shared.budget.ledger_lines import RunDetails
from shared.git.command import Identity
from shared.git.fences import Fences
from shared.loop.real_clock import RealClock
from shared.workflow import Role, Stage, Track

OTHER_TESTS = """
- call: write_tests
  edits:
    - path: tests/test_parting.py
      content: |
        from directory.parting import part


        def test_parts():
            assert part("Ada") == "Bye, Ada"
"""

OTHER_CODE = """
- call: implement
  attempt: any
  edits:
    - {path: directory/parting.py, content: "def part(name):\\n    return f'Bye, {name}'\\n"}
"""

OTHER_WRONG = WRONG.replace("directory/greeting.py", "directory/parting.py")


async def refs(engine: Engine) -> dict[str, str]:
    return await engine.lab.at(REPOSITORY).bare.refs("refs/")


@pytest.mark.prompt("it counts requests")
async def test_a_look_is_one_charged_request_after_two_to_sign_in_and_changes_nothing(engine: Engine) -> None:
    story = engine.lab.issue(REPOSITORY, "Search", author=OWNER, labels=("story",)).number
    first, second = engine.ready("Greet"), engine.ready("Part", "Depends on #2")
    third = engine.lab.issue(REPOSITORY, "Wait", author=OWNER, labels=("status:ready", "blocked")).number
    before, written = await refs(engine), len(writes(engine))
    async with visited(engine) as visit:
        look, sign_in = looking(visit), charged(engine)
        board = await look.look()
        after = charged(engine)
        assert (await look.look()).rows == board.rows
        assert charged(engine) - after == 0, "nothing has changed"
    assert (sign_in, after) == (2, 3)
    assert [(row.number, row.waiting) for row in board.rows] == [
        (third, Waiting(Whom.PERSON, "take the label 'blocked' off")),
        (story, Waiting(Whom.PLANNER, "an idle planner")),
        (first, Waiting(Whom.WORKER, "an idle worker")),
        (second, Waiting(Whom.ITEM, f"#{first}")),
    ]
    assert (await refs(engine), len(writes(engine))) == (before, written)


@pytest.mark.prompt("it counts requests")
@pytest.mark.long
async def test_the_board_follows_an_item_to_the_person_it_waits_for(engine: Engine) -> None:
    engine.script(SLOW)
    number = engine.ready("Greet people")
    async with visited(engine) as visit:
        look = looking(visit)
        async with engine.agent(Role.WORKER) as worker:
            await during_the_call(engine, worker)
            (row,) = (await look.look()).rows
            assert (row.stage, row.waiting) == (Stage.IMPLEMENTING, None)
            assert row.holder.startswith("worker-")
            assert row.held_since is not None
        (row,) = (await look.look()).rows
        assert (row.holder, row.waiting) == ("", Waiting(Whom.WORKER, "an idle worker"))
        engine.script(TESTS + CODE + APPROVED)
        async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
            await engine.in_time(
                lambda: any("status:approved" in labels(engine, p.number) for p in pulls(engine)), worker, reviewer
            )
    written, before = len(writes(engine)), charged(engine)
    async with visited(engine) as visit:
        pull, spec = (await looking(visit).look()).rows
    assert len(writes(engine)) == written
    assert charged(engine) - before == 6, "account, repository, issues, comments, check runs, statuses"
    assert (spec.number, spec.waiting) == (number, Waiting(Whom.ITEM, f"PR #{pull.number}"))
    assert spec.attempts == (1, 3)
    assert (pull.track, pull.stage, pull.issue) == (Track.PULL_REQUEST, Stage.APPROVED, number)
    assert (pull.ci, pull.waiting, pull.usd) == ("green", Waiting(Whom.PERSON, "merge it"), None)
    assert "/merge" in [f"/{verb}" for verb in pull.commands]


@pytest.mark.prompt("it counts requests")
async def test_a_plan_leaves_the_persons_list_as_soon_as_they_have_approved_it(engine: Engine) -> None:
    engine.scenario = demo_script(engine.directory)
    story = engine.lab.issue(REPOSITORY, STORIES[0].title, STORIES[0].body, author=OWNER, labels=("story",)).number
    async with engine.agent(Role.PLANNER) as planner:
        await engine.in_time(lambda: "status:awaiting-approval" in labels(engine, story), planner)
    async with visited(engine) as visit:
        look = looking(visit)
        (row,) = (await look.look()).rows
        assert row.waiting == Waiting(Whom.PERSON, "the plan")
        before = charged(engine)
        engine.lab.comment(REPOSITORY, story, "/approve", author="eve")
        (row,) = (await look.look()).rows
        assert row.waiting == Waiting(Whom.PERSON, "the plan"), "a stranger takes nothing off the list"
        engine.lab.comment(REPOSITORY, story, "/approve", author=OWNER)
        (row,) = (await look.look()).rows
        assert row.waiting == Waiting(Whom.PLANNER, f"an idle planner: {OWNER} has approved it")
        assert charged(engine) - before == 4, "the issues and the comments, which have changed, at each look"


async def reported_of(engine: Engine) -> Figures:
    async with visited(engine) as visit:
        since = visit.adapters.server_time().replace(year=2000)
        return figures(REPOSITORY, await gathered(visit, since), 15)


async def merged(engine: Engine, count: int) -> None:
    """Let agents work until so many pull requests are merged and their issues are closed."""
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.in_time(lambda: sum(p.merged_at is not None for p in pulls(engine)) == count, worker, reviewer)
        await engine.tick(worker, reviewer)


async def mend(engine: Engine) -> None:
    """Correct, as the owner, a change of the first item on the base, and mention it in the commit."""
    text, subject = "def greet(name):\n    return 'Hi'\n", "fix: greet with a word"
    lines = ("commit refs/heads/main", "committer Ada <ada@example.org> now", f"data {len(subject)}", subject)
    change = ("from refs/heads/main^0", "M 100644 inline directory/greeting.py", f"data {len(text)}", text)
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        stdin = "\n".join((*lines, *change)).encode()
        await bare.git.check("fast-import", "--quiet", "--date-format=now", stdin=stdin)


async def in_the_ledger(engine: Engine, number: int) -> None:
    """Write the settlements of paid runs of two backends to the ledger."""
    async with visited(engine, "machine-1") as visit:
        fences = Fences(visit.mirror, Identity("engine", "engine@example.org"))
        ledger = Ledger(fences, visit.mirror, visit.adapters.server_time, BudgetLimits(), "worker")
        for run, usd, details in (
            ("r1", 0.5, RunDetails("developer", "claude", "completed")),
            ("r2", 1.0, RunDetails("developer", "claude", "max_turns")),
            ("r3", 0.5, RunDetails("code-reviewer", "codex", "completed")),
        ):
            assert await ledger.reserve(run, f"#{number}", 5, 60) is None
            await ledger.settle(run, usd, "claude", details)


async def turned_red(engine: Engine) -> None:
    """Write the records of a reviewer that has found the base red after each merge."""
    async with visited(engine, "machine-1") as visit:
        records = Records(Fences(visit.mirror, Identity("engine", "engine@example.org")))
        for pull in engine.lab.at(REPOSITORY).pulls.records.values():
            record = Record(
                pull.number, "c" * 40, Answer.ISSUE, "reviewer-bot", visit.adapters.server_time(), over=True
            )
            assert await records.move(record, None) is not None


@pytest.mark.long
async def test_a_report_tells_an_item_that_needed_help_from_one_that_did_not(engine: Engine) -> None:
    engine.repository_settings |= {"merge": "auto", "max_attempts": 1}
    engine.script(TESTS + CODE + APPROVED)
    alone = engine.ready("Greet people")
    await merged(engine, 1)
    engine.script(OTHER_TESTS + OTHER_WRONG)
    helped = engine.ready("Part from people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: "status:failed" in labels(engine, helped), worker)
        assert (await reported_of(engine)).outcomes[WorkState.HALTED] == 1
    engine.script(OTHER_CODE + APPROVED)
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, helped, "/retry", author=OWNER)
    await merged(engine, 2)
    found = await reported_of(engine)
    assert (found.merged, found.zero_touch) == (2, 1)
    assert found.touches == {Touch.COMMAND: 1, Touch.RESUMPTION: 1}
    assert (found.rework, found.cost.source, found.backend_runs) == ({}, "notes", ())
    assert {(one.track, one.stage) for one in found.spells} >= {
        (Track.SPECIFICATION, Stage.IMPLEMENTING),
        (Track.PULL_REQUEST, Stage.IN_REVIEW),
    }
    await push(engine, "main", {"directory/greeting.py": "def greet(name):\n    return name\n"})
    await in_the_ledger(engine, alone)
    found = await reported_of(engine)
    assert found.rework == {}, "a commit that does not say that it mends something"
    await mend(engine)
    found = await reported_of(engine)
    assert (found.rework, found.too_young) == ({Reason.FIXED: 1}, 2)
    assert (found.cost.source, found.cost.per_merged, found.cost.total) == ("ledger", 1.0, 2.0)
    assert [(c.role, c.backend, c.runs, c.completed) for c in found.backend_runs] == [
        ("code-reviewer", "codex", 1, 1),
        ("developer", "claude", 2, 1),
    ]
    await turned_red(engine)
    assert (await reported_of(engine)).rework == {Reason.TURNED_RED: 2}


def test_a_configuration_that_is_missing_is_told_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"HOME": str(tmp_path)}
    config = tmp_path / "none.yml"
    assert print_board(StatusOptions("a/b", config), environment, RealClock()) == 2
    assert reported("a/b", "30d", config, environment, RealClock()) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert [str(config) in line for line in said.err.splitlines()] == [True, True]
