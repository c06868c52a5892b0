"""Events while agents work: from the port of the lock, the agent, the coder, and the health beside them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import anyio
import pytest
from fakes.agent import DONE, HANG, FakeAgent
from fakes.clock import HandClock
from structlog.contextvars import get_contextvars
from structlog.testing import capture_logs
from telemetry_bench import AT, Kept, scribe_into

from runtime.telemetry.observed_agent import ObservedAgent
from runtime.telemetry.observed_port import MOST_FENCES, ObservedPort
from shared.errors import Blocked, EngineError, Transient, UnknownOutcome
from shared.llm.circuit_breaker import Breaker, CircuitBreaker
from shared.llm.port import CoderCall, Ending, Request, RunOutcome, Usage
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.lock.port import AdvanceFence, Operation, ReadFence, Reply
from shared.loop.polling_loop import Loop
from shared.models import Account, Comment
from shared.telemetry.event_recorder import working_on
from shared.telemetry.events import EventKind
from shared.telemetry.fold import Tallies
from shared.telemetry.health_state import SILENT_SECONDS, STUCK_SECONDS, HealthState
from shared.workflow import Role, Stage

REQUEST = Request(CoderCall.IMPLEMENT, "#7", "Add search", "developer", "prompt")


class Coder:
    """Ends as it is told."""

    name = "claude"

    def __init__(self, end: RunOutcome | BaseException) -> None:
        self.end = end

    async def run(self, request: Request) -> RunOutcome:
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end


def observed(end: RunOutcome | BaseException, kept: Kept) -> CircuitBreaker:
    """Return a backend whose calls end so, and are told to `kept`."""
    tell = partial(scribe_into(kept, HandClock()).tell, EventKind.LLM_CALL)
    return CircuitBreaker(Coder(end), Breaker(), HandClock(), anyio.CapacityLimiter(1), tell)


async def test_a_call_is_told_with_what_it_cost(held: Held) -> None:
    kept = Kept()
    usage = Usage(10, 20, 30, 40, "opus", 0.5, "cli")
    with working_on(held):
        await observed(RunOutcome(Ending.COMPLETED, "hunter2", usage=usage, resumed=30), kept).run(REQUEST)
    (told,) = kept.events
    assert (told.kind, told.issue, told.run) == (EventKind.LLM_CALL, held.fence.key.number, held.fence.epoch_name)
    wanted: dict[str, object] = {
        "role": "developer",
        "backend": "claude",
        "model": "opus",
        "ending": "completed",
        "cost_usd": 0.5,
    }
    wanted |= {"input_tokens": 10, "cache_write_tokens": 40, "call": "implement", "resumed_tokens": 30}
    assert wanted.items() <= told.data.items()
    assert "hunter2" not in str(told.document()), "answers are no events"


@pytest.mark.parametrize(("error", "ending"), [(EngineError("no"), "not made"), (KeyboardInterrupt(), "cut off")])
async def test_a_call_without_an_outcome_is_told_and_its_error_goes_on(error: BaseException, ending: str) -> None:
    kept = Kept()
    with pytest.raises(type(error)):
        await observed(error, kept).run(REQUEST)
    assert kept.events[0].data["ending"] == ending
    assert not {"cost_usd", "resumed_tokens"} & kept.events[0].data.keys()


def test_secrets_and_what_no_database_takes_stay_out() -> None:
    kept = Kept()
    scribe_into(kept, HandClock()).tell(
        EventKind.COMMAND, number=3, sentence="a\0b hunter2 \ud800", nested=[{"x": "hunter2"}]
    )
    assert kept.events[0].data == {
        "sentence": "a\\x00b *** \\ud800",
        "nested": [{"x": "***"}],
        "number": 3,
    }
    assert kept.events[0].issue == 3


def test_log_lines_of_a_run_name_it_and_later_ones_do_not(held: Held) -> None:
    with working_on(held):
        assert get_contextvars()["run"] == held.fence.epoch_name
    assert "run" not in get_contextvars()


def test_telling_never_raises() -> None:
    class Broken(Kept):
        def record(self, event: object) -> None:
            raise RuntimeError("broken")

    with capture_logs() as logs:
        scribe_into(Broken(), HandClock()).tell(EventKind.COMMAND)
    assert [entry["event"] for entry in logs] == ["event_not_told"]


class Script:
    """A port that answers fences as it is told."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    async def request(self, operation: Operation[object]) -> Reply[object]:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, AT)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody sleeps")

    def now(self) -> float:
        return 0.0

    def boot(self) -> float:
        return 0.0


FENCE = Fence(ItemKey(Role.WORKER, 7), 50, "0" * 32, "worker-a", Stage.IMPLEMENTING, AT, phase="red", oid="1" * 40)


async def moved(*answers: object) -> list[str]:
    """Return the events of a fence that is read, advanced to green and read again."""
    kept = Kept()
    port = ObservedPort(Script(FENCE, *answers), scribe_into(kept, HandClock()))  # type: ignore[arg-type]
    await port.request(ReadFence(FENCE.key))
    try:
        await port.request(AdvanceFence(replace(FENCE, phase="green"), FENCE.oid))
    except UnknownOutcome:
        await port.request(ReadFence(FENCE.key))
    return [f"{one.kind} {one.data.get('event', one.phase)}" for one in kept.events]


async def test_a_move_is_told_when_it_happened() -> None:
    assert await moved("2" * 40) == ["phase green"]


async def test_a_refused_move_is_told_as_that() -> None:
    assert await moved(None) == ["lock refused"]


async def test_a_move_whose_reply_was_lost_is_told_once_it_is_seen() -> None:
    assert await moved(UnknownOutcome(), replace(FENCE, phase="green", oid="2" * 40)) == ["phase green"]
    taken = replace(FENCE, ack_id=51, nonce="1" * 32)
    assert await moved(UnknownOutcome(), taken) == [], "another agent was faster: ours did not happen"


@pytest.mark.parametrize(("released", "told"), [("0" * 32, ["released"]), ("1" * 32, []), ("", [])])
async def test_letting_go_is_told_of_the_item_and_a_stamp_is_not(released: str, told: list[str]) -> None:
    kept = Kept()
    port = ObservedPort(Script(None, "2" * 40, "3" * 40), scribe_into(kept, HandClock()))  # type: ignore[arg-type]
    await port.request(ReadFence(FENCE.key))
    await port.request(AdvanceFence(FENCE, None))
    assert [str(one.kind) for one in kept.events] == ["lock", "claim", "phase"]
    await port.request(AdvanceFence(replace(FENCE, released=released), "2" * 40))
    assert [one.data["event"] for one in kept.events[3:]] == told
    assert {one.issue for one in kept.events} == {7}


async def test_a_fence_of_long_ago_is_forgotten_and_known_again_when_it_is_read() -> None:
    kept = Kept()
    others = [replace(FENCE, key=ItemKey(Role.WORKER, 100 + number)) for number in range(MOST_FENCES)]
    script = Script(FENCE, *others, FENCE, "2" * 40)
    port = ObservedPort(script, scribe_into(kept, HandClock()))  # type: ignore[arg-type]
    for one in (FENCE, *others, FENCE):
        await port.request(ReadFence(one.key))
    await port.request(AdvanceFence(replace(FENCE, phase="green"), FENCE.oid))
    assert [str(one.kind) for one in kept.events] == ["phase"], "it is no new epoch"


def comment() -> Comment:
    return Comment(50, 7, Account(1, "bot"), "", AT, AT)


async def ended(agent: FakeAgent) -> tuple[list[str], Tallies]:
    kept, clock, tallies = Kept(), HandClock(), Tallies()
    observed = ObservedAgent(agent, scribe_into(kept, clock, tallies), HealthState(clock))
    async with Loop(observed, clock).open() as loop:
        await loop.tick()
        await loop.quiet()
    return [f"{one.kind} {one.data.get('status', one.data.get('category'))}" for one in kept.events], tallies


@pytest.mark.parametrize(
    ("step", "told"),
    [
        pytest.param(DONE, ["ended handed over"], id="done"),
        pytest.param(Blocked("no"), ["escalation needs-a-person", "ended failed"], id="a person has to act"),
        pytest.param(RuntimeError("bug"), ["escalation needs-a-person", "ended failed"], id="a bug"),
        pytest.param(Transient("later"), ["ended stopped"], id="still waiting at the end of the process"),
    ],
)
async def test_how_a_run_ended_is_told(step: object, told: list[str]) -> None:
    said, tallies = await ended(FakeAgent([7], {7: [step]}))  # type: ignore[list-item]
    assert said == told
    assert sum(tallies.counters["workflow_completed"].values()) == 1


async def test_a_person_who_stops_it_is_told() -> None:
    kept, clock = Kept(), HandClock()
    agent = FakeAgent([7], {7: [HANG]})
    async with Loop(ObservedAgent(agent, scribe_into(kept, clock), HealthState(clock)), clock).open() as loop:
        await loop.tick()
        agent.orders[7] = "closed"
        await loop.tick()
        await loop.quiet()
    assert [(one.data["status"], one.data["sentence"]) for one in kept.events] == [("withdrawn", "closed")]


async def test_an_agent_is_ready_while_it_ticks_and_github_answers() -> None:
    clock = HandClock()
    health = HealthState(clock)
    observed = ObservedAgent(FakeAgent([], discovery=[Transient("down")]), scribe_into(Kept(), clock), health)
    assert health.unready() == "It is still starting."
    health.join(observed.repository, lambda: 30.0)
    with pytest.raises(Transient):
        await observed.discover()
    assert "has not answered" in health.unready()
    await observed.discover()
    assert health.unready() == ""
    clock.seconds += SILENT_SECONDS + 91
    assert "has not answered" in health.unready()
    assert health.stuck() == "", "GitHub's silence is not ours"
    clock.seconds += STUCK_SECONDS
    assert "has not ticked" in health.stuck()


def test_a_loop_that_has_not_ticked_yet_is_given_its_interval() -> None:
    clock = HandClock()
    health = HealthState(clock)
    health.join("o/r", lambda: 600.0)
    clock.seconds += STUCK_SECONDS + 1800
    assert health.stuck() == ""
    clock.seconds += 1
    assert "has not ticked" in health.stuck()


def test_a_loop_that_waits_for_a_far_poll_is_not_stuck_when_polls_become_frequent() -> None:
    clock, seconds = HandClock(), [2000.0]
    health = HealthState(clock)
    health.join("o/r", lambda: seconds[-1])
    health.ticked("o/r")
    health.answered("o/r")
    clock.seconds += 1500.0
    seconds.append(30.0)
    assert health.unready() == "", "its next poll is shortened, but has not come yet"
    health.ticked("o/r")
    clock.seconds += STUCK_SECONDS + 91
    assert "has not ticked" in health.stuck()
