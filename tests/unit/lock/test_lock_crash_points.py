"""Every point at which a holder can be killed, cut off or stopped: somebody finishes, and nothing happens twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fakes.lock_port import KEY, FakeAgent, Run
from fakes.lock_server import Fault
from lock_life import PHASES, Office, drain

from shared.lock.port import AdvanceFence, EditComment, Operation, PostComment

WRITES = (PostComment, EditComment, AdvanceFence)
PAUSE_SECONDS = 2400.0

Strike = Callable[[Office, FakeAgent, FakeAgent, Run[None]], None]


def steps_of_a_life() -> int:
    """Return the number of calls and pauses in an undisturbed life."""
    office, steps = Office(), 0
    life = office.begin(office.agent("worker-a"))
    while not life.finished:
        life.step()
        steps += 1
    office.expect_in_order(repeats=0)
    return steps


STEPS = steps_of_a_life()
WON = 6
"""Calls that it takes to hold the lease: fence, thread, compare-and-swap, another, the comment, its record."""


def killed_before(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Kill the process before the server hears of the request."""
    life.crash()


def killed_after(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Kill the process after the server has carried the request out, and before the reply."""
    if isinstance(life.waits_for, Operation):
        alice.port.answer(life.waits_for)
    life.crash()


def reply_lost(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Lose the reply: the process lives and does not know the outcome."""
    _hit(alice, life, Fault.REPLY_LOST)


def request_lost(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Lose the request: the process does not know the outcome, and nothing came of it."""
    _hit(alice, life, Fault.LOST)


def request_late(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Delay the request: it is carried out when all is over."""
    _hit(alice, life, Fault.LATE)


def paused(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Suspend the machine; another agent finishes meanwhile."""
    office.server.seconds += PAUSE_SECONDS
    office.finish(bob)
    drain(life)


def paused_without_a_clock(office: Office, alice: FakeAgent, bob: FakeAgent, life: Run[None]) -> None:
    """Stop a virtual machine: even its boot clock does not show it."""
    before = office.server.seconds
    paused_until = office.server.seconds + PAUSE_SECONDS
    office.server.seconds = paused_until
    office.finish(bob)
    alice.port.boot_offset -= office.server.seconds - before
    drain(life)


def _hit(agent: FakeAgent, life: Run[None], fault: Fault) -> None:
    wish = life.waits_for
    if isinstance(wish, Operation):
        agent.port.plan(type(wish), fault if isinstance(wish, WRITES) else Fault.FAILED)
    drain(life)


@pytest.mark.fault(37)
@pytest.mark.parametrize("finisher", ["another", "itself"])
@pytest.mark.parametrize("strike", [killed_before, killed_after, reply_lost, request_lost, request_late, paused])
def test_wherever_it_happens_the_issue_is_finished_once(strike: Strike, finisher: str) -> None:
    for step in range(STEPS):
        office = Office()
        alice, bob = office.agent("worker-a"), office.agent("worker-b")
        life = office.begin(alice)
        for _ in range(step):
            life.step()
        strike(office, alice, bob, life)
        office.finish(bob if finisher == "another" else alice.restart())
        office.server.deliver()
        office.expect_in_order()
        office.server.check_all_met()


@pytest.mark.fault(38)
def test_a_machine_whose_clock_stood_still_changes_nothing_any_more() -> None:
    """The machine may pay for one phase more before it learns of the loss; the server accepts nothing from it."""
    for step in range(STEPS):
        office = Office()
        alice, bob = office.agent("worker-a"), office.agent("worker-b")
        life = office.begin(alice)
        for _ in range(step):
            life.step()
        paused_without_a_clock(office, alice, bob, life)
        if step < STEPS - 2:
            fence = office.server.fence(KEY)
            assert fence is not None
            assert (fence.agent, life.error is None) == ("worker-b", step < WON), step
        office.expect_in_order()


def test_two_that_take_turns_at_any_two_moments_do_everything_once() -> None:
    """A is stopped anywhere for 40 minutes, B takes over and is interrupted anywhere by A's return."""
    for first in range(STEPS):
        for second in range(STEPS):
            office = Office()
            lives = [office.begin(office.agent(name)) for name in ("worker-a", "worker-b")]
            _step(lives[0], first)
            office.server.seconds += PAUSE_SECONDS
            _step(lives[1], second)
            for life in lives:
                drain(life)
            office.finish(office.agent("worker-c"))
            office.expect_in_order()


def _step(life: Run[None], steps: int) -> None:
    for _ in range(steps):
        if not life.finished:
            life.step()


def test_a_life_is_as_long_as_it_was() -> None:
    """A changed number of calls has to be a decision: each call costs requests on every issue."""
    per_phase, to_release = 4, 2
    assert WON + per_phase * len(PHASES) + to_release == STEPS
