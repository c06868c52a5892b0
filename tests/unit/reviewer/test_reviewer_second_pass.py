"""An approval holds when the role qa finds every criterion shown by the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import HEAD, ISSUE, KEYS, OPENED, World, answer, changes
from fakes.unasked import UnaskedMirror

from reviewer_agent.review.answer import parse_check
from reviewer_agent.review.evidence import Runs
from reviewer_agent.review.questions import Recorded
from shared.errors import RunFailed
from shared.git.history import Commit
from shared.git.notes import CommitKind, Note, write
from shared.llm.port import CoderCall, Ending, RunOutcome
from shared.lock.lease import Lease
from shared.retry.answer_retry import Unusable
from shared.scheduling.agent_contract import Result
from shared.workflow import Stage


def checked(*unmet: str, note: str = "no test of a blank text") -> dict[str, Any]:
    return {"criteria": [{"id": id, "met": id not in unmet, "note": note} for id in ("AC1", "AC2")]}


async def test_a_criterion_that_the_evidence_does_not_show_turns_an_approval_into_a_request() -> None:
    world = World(answers=[answer()], checked=[checked("AC2")])
    (ended,) = await tick(world, **auto())
    assert ended.result is Result.HANDED_OVER
    assert world.done[1] == f"review CHANGES_REQUESTED {HEAD} 0"
    assert world.stage is Stage.CHANGES_REQUESTED
    assert "**AC2** **not met**: no test of a blank text" in world.reviews[0].body
    assert "AC1** **not met" not in world.reviews[0].body


async def test_what_the_second_pass_is_asked() -> None:
    world = World(answers=[answer()], recorded=Recorded("- test_blank: red failed, green passed"))
    await tick(world)
    (request,) = world.checks_asked
    assert (request.call, request.role, request.round, request.tree) == (CoderCall.CHECK_CRITERIA, "qa", 0, None)
    assert (request.billed_to, request.item) == (f"#{ISSUE}", f"#{OPENED.number}")
    for shown in (
        "AC2: A blank text finds nobody.",
        "test_blank: red failed",
        "| New test | red |",
        "+def search_users",
    ):
        assert shown in request.prompt
    assert world.stage is Stage.APPROVED
    assert "checked again" in world.reviews[0].body


@pytest.mark.parametrize(
    ("given", "policy"),
    [(changes(), {}), (answer(), {"second_pass": False}), (answer(), {"diff_bytes": 10})],
    ids=["changes requested", "switched off", "not seen as a whole"],
)
async def test_what_is_not_approved_or_not_to_be_checked_costs_one_call(given: Any, policy: dict[str, Any]) -> None:
    world = World(answers=[given])
    await tick(world, **policy)
    assert (len(world.requests), len(world.checks_asked)) == (1, 0)


async def test_a_second_pass_that_fails_is_repeated_alone_while_the_lease_lasts() -> None:
    world = World(answers=[answer()], checked=[RunOutcome(Ending.OVERLOADED), checked()])
    agent = reviewer(world)
    lease = await look(agent)
    assert isinstance(lease, Lease)
    async with agent.hold(lease) as held:
        with pytest.raises(RunFailed):
            await agent.step(held)
        assert world.reviews == []
        await agent.step(held)
        assert held.fence.stage in {Stage.IN_REVIEW, Stage.APPROVED}
    assert (len(world.requests), len(world.checks_asked), len(world.reviews)) == (1, 2, 1)


async def test_an_answer_that_leaves_a_criterion_out_is_corrected_once_and_then_a_persons() -> None:
    short = {"criteria": [{"id": "AC1", "met": True, "note": ""}]}
    world = World(answers=[answer()], checked=[short, short])
    (ended,) = await tick(world)
    assert ended.result is Result.FAILED
    assert "AC2 not checked" in world.checks_asked[1].prompt
    assert world.reviews == []


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (None, "not a JSON object"),
        ({"criteria": [], "verdict": "approved"}, "verdict"),
        (checked() | {"criteria": checked()["criteria"] * 2}, "checked twice"),
        ({"criteria": [*checked()["criteria"], {"id": "AC9", "met": True, "note": ""}]}, "there is no AC9"),
        (checked("AC1", note=" "), "nobody says what is missing"),
    ],
)
def test_what_no_check_is(raw: Mapping[str, Any] | None, fault: str) -> None:
    with pytest.raises(Unusable) as caught:
        parse_check(raw, ("AC1", "AC2"))
    assert fault in "\n".join(caught.value.faults)


class Repository(UnaskedMirror):
    """Notes and history of one branch."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self.notes = notes
        self.fetched: list[str] = []

    async def refresh(self, ref: str) -> str | None:
        self.fetched.append(ref)
        return "n" * 40 if self.notes else None

    async def log(self, ref: str, limit: int, *, without: str = "") -> list[Commit]:
        assert (ref, without) == (HEAD, "base")
        return [Commit(oid, (), datetime(2026, 1, 1, tzinfo=UTC), "") for oid in (HEAD, "5" * 40)]

    async def all(self, ref: str) -> Mapping[str, str]:
        return self.notes


def noted(**facts: Any) -> str:
    red = {"test_blank": "failed"}
    green = {"test_blank": "passed"}
    note = Note(ISSUE, 1, CommitKind.GREEN, "ci", "base", new_tests=("test_blank",), red=red, green=green, **facts)
    return write(note, KEYS)


async def test_the_engines_own_records_are_shown_and_nobody_elses() -> None:
    forged = noted().replace('"failed"', '"error"')
    repository = Repository({"5" * 40: noted(test_result="3 passed"), HEAD: forged, "9" * 40: noted()})
    found = await Runs(repository, repository, KEYS).of(OPENED, "base")
    assert found.runs.splitlines() == [
        "Commit 555555555555, phase green, cycle 1: 3 passed",
        "- test_blank: red failed, green passed",
    ]
    assert repository.fetched == [f"refs/notes/workflow/issue-{ISSUE}"]


async def test_a_persons_branch_has_no_records() -> None:
    from dataclasses import replace

    repository = Repository({HEAD: noted()})
    assert await Runs(repository, repository, KEYS).of(replace(OPENED, head_branch="patch-1"), "base") == Recorded()
    assert await Runs(Repository({}), repository, KEYS).of(OPENED, "base") == Recorded()
    assert repository.fetched == []
