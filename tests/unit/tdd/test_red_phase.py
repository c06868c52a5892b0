"""Criteria that are set aside one after the other: each is paid once, whatever happens to the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Server
from fakes.worker_policy import worker_policy

from shared.errors import Transient
from shared.git.notes import Note
from shared.github.status import Status
from shared.llm.port import CoderCall
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Account, Issue
from shared.retry.run_limit import begin_run
from shared.specification import read
from worker_agent.errors import CycleAborted
from worker_agent.phase_commits import PhaseCommit
from worker_agent.phase_tools import Attempt, Cost
from worker_agent.policy import Policy
from worker_agent.tdd.judging.verdict import ErrorType, RedVerdict
from worker_agent.tdd.phases import skipped_criteria
from worker_agent.tdd.phases.red_phase import RedPhase
from worker_agent.tdd.proof.examination import Red
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.work_context import WorkContext

AT = datetime(2026, 1, 5, tzinfo=UTC)
BASE, TESTS = "b" * 40, "c" * 40
BODY = "## Acceptance criteria\n" + "".join(f"- [ ] AC{n}: Thing {n}.\n" for n in range(1, 13))
ISSUE = Issue(42, "Things", BODY, frozenset(), Account(7, "ada"), AT, AT)
PASSES = RedVerdict(ErrorType.TEST_UNEXPECTED_PASS, ("t.py::t",), passing=("t.py::t",))


@dataclass
class Scene:
    """Session, phase commits, mirror, verification and board in one; the lock and the phase are real.

    `missing` are the criteria whose tests are red; the tests of all others pass at once. After `lives` paid
    runs the process dies.
    """

    missing: frozenset[str] = frozenset()
    lives: int = 99
    asked: list[str] = field(default_factory=list)
    recorded: list[Note] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    policy: Policy = field(default_factory=lambda: worker_policy("o/r", cycles="per-criterion"))

    @property
    def phase_commits(self) -> Scene:
        return self

    async def open(self, held: Held, issue: Issue) -> WorkContext:
        suite: Any = SimpleNamespace(directory="", test_command="pytest")
        space: Any = None
        return WorkContext(held, issue, read(issue.body), space, BASE, (suite,), "")

    async def is_branch_free(self, fence: object, base: str) -> bool:
        return True

    def prompt(self, name: str, work: WorkContext, **variables: object) -> str:
        return name

    async def edit(self, work: WorkContext, call: CoderCall, start: str, turn: Attempt, prompt: str) -> str:
        if self.lives == 0:
            raise Transient
        self.lives -= 1
        await begin_run(work.held)
        self.asked.append(work.topic)
        return work.topic

    def closing_text(self, held: Held, tree: str) -> str:
        return ""

    async def baseline(self, work: WorkContext) -> TestRun:
        return TestRun()

    async def red(self, work: WorkContext, baseline: TestRun, tree: str) -> Red:
        return Red(TestRun(), RedVerdict(red=(f"{tree}.py::t",)) if tree in self.missing else PASSES)

    def take_spent(self, number: int) -> Cost:
        return Cost(None, "")

    async def record(self, work: WorkContext, phased: PhaseCommit, to: FenceChange) -> None:
        self.recorded.append(phased.note)
        await advance(work.held, replace(to, work_head=TESTS))

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        self.told.append(status.notes)

    async def data(self, number: int) -> Mapping[str, Any]:
        raise AssertionError("nothing is read back")

    def phase(self) -> RedPhase:
        here: Any = self
        return RedPhase(here, self, here, retries=0)


def ids(first: int, last: int) -> list[str]:
    return [f"AC{number}" for number in range(first, last + 1)]


def found_dead(agent: FakeAgent) -> None:
    """Look first at an epoch whose holder has died, and let time pass until the next one may take it over."""
    assert agent.claim() is None
    agent.port.server.seconds += agent.claimant.times.look_again


def test_more_criteria_than_a_step_has_runs_are_set_aside_and_the_last_one_is_taken() -> None:
    agent, scene = FakeAgent(Server(), "worker-a"), Scene(frozenset({"AC12"}))
    held = agent.win()
    assert run(agent.port, scene.phase().write_tests(held, ISSUE)) == tuple(ids(1, 11))
    assert scene.asked == ids(1, 12)
    (note,) = scene.recorded
    assert (note.current_test, note.cycle, list(note.set_aside)) == ("AC12", 12, ids(1, 11))
    assert (held.fence.phase, held.fence.paid_runs, skipped_criteria.recorded(held.fence)) == ("green", 0, {})


@pytest.mark.parametrize("order", [{}, {"attempt": 0}], ids=["crash", "a person's order"])
def test_what_was_set_aside_before_is_not_paid_again(order: dict[str, Any]) -> None:
    server = Server()
    first, second = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    with pytest.raises(Transient):
        run(first.port, Scene(lives=3).phase().write_tests(first.win(), ISSUE))
    server.seconds += 4000
    found_dead(second)
    scene, held = Scene(frozenset({"AC5"})), second.win(**order)
    run(second.port, scene.phase().write_tests(held, ISSUE))
    assert scene.asked == ["AC4", "AC5"]
    (note,) = scene.recorded
    assert (note.cycle, list(note.set_aside)) == (5, ids(1, 4))
    assert "AC1: TEST_UNEXPECTED_PASS: Every new test passes" in scene.told[0]


def test_another_text_of_the_issue_is_tried_from_its_first_criterion() -> None:
    server = Server()
    first, second = FakeAgent(server, "worker-a"), FakeAgent(server, "worker-b")
    with pytest.raises(Transient):
        run(first.port, Scene(lives=3).phase().write_tests(first.win(body_sha256="1" * 64), ISSUE))
    server.seconds += 4000
    found_dead(second)
    scene = Scene(frozenset({"AC2"}))
    run(second.port, scene.phase().write_tests(second.win(body_sha256="2" * 64), ISSUE))
    assert scene.asked == ids(1, 2)


def test_when_nothing_is_left_the_next_order_tries_everything_again() -> None:
    agent, scene = FakeAgent(Server(), "worker-a"), Scene()
    held = agent.win()
    for _ in range(2):
        with pytest.raises(CycleAborted, match="TEST_UNEXPECTED_PASS"):
            run(agent.port, scene.phase().write_tests(held, ISSUE))
    assert scene.asked == ids(1, 12) * 2
    assert not scene.recorded
