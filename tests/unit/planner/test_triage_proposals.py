"""Proposals: answers that are accepted, issues that may get one, the number a day, and rivals in the register."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.unasked import UnaskedFences, UnaskedMirror

from planner_agent.decide import Phase
from planner_agent.register import Register, places
from planner_agent.triage.backlog import TRIAGED, Entry, has_begun, unfit
from planner_agent.triage.backlog import read as read_line
from planner_agent.triage.backlog import write as write_line
from planner_agent.triage.proposal import (
    ANSWER_LIMIT,
    Proposal,
    TriageKind,
    is_decided,
    of_record,
    read,
    recorded,
)
from shared.errors import Outdated
from shared.git.history import Commit
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import RefUpdate
from shared.models import Account, Issue
from shared.retry.answer_retry import Unusable
from shared.workflow import Role, Stage

AT = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
ENGINE, ADA, MALLORY = Account(2, "engine-bot"), Account(1, "ada"), Account(3, "mallory")
ISSUE = Issue(7, "It ends", "On an empty list.", frozenset(), MALLORY, AT, AT)
FENCE = Fence(ItemKey(Role.PLANNER, 7), 0, "ab" * 16, "planner-1", Stage.PLANNING, AT, phase=Phase.TRIAGE)


@pytest.mark.parametrize(
    "answer",
    [
        {"kind": "bug", "reason": "It ends."},
        {"kind": "feature", "reason": "It wants a search.", "duplicate_of": None, "missing": None},
        {"kind": "question", "reason": "It asks."},
        {"kind": "duplicate", "reason": "It is the same.", "duplicate_of": 3},
        {"kind": "vague", "reason": "It names nothing.", "missing": "The command."},
    ],
    ids=lambda answer: answer["kind"],
)
def test_a_proposal_is_read_as_it_was_answered(answer: dict[str, Any]) -> None:
    found = read(json.dumps(answer), {3, 4})
    assert {"duplicate_of": None, "missing": None, **answer} == found.model_dump(mode="json")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"kind": "ready", "reason": "x"}, "kind: "),
        ({"kind": "bug"}, "reason: "),
        ({"kind": "bug", "reason": " \n "}, "says nothing"),
        ({"kind": "bug", "reason": "x" * 501}, "reason: "),
        ({"kind": "bug", "reason": "x", "label": "status:ready"}, "label: "),
        ({"kind": "bug", "reason": "x", "duplicate_of": 3}, "'duplicate_of' stands with"),
        ({"kind": "duplicate", "reason": "x"}, "'duplicate_of' stands with"),
        ({"kind": "duplicate", "reason": "x", "duplicate_of": 5}, "which is none of the issues"),
        ({"kind": "duplicate", "reason": "x", "duplicate_of": "3"}, "duplicate_of: "),
        ({"kind": "duplicate", "reason": "x", "duplicate_of": True}, "duplicate_of: "),
        ({"kind": "duplicate", "reason": "x", "duplicate_of": 3.0}, "duplicate_of: "),
        ({"kind": "vague", "reason": "x"}, "'missing' stands with"),
        ({"kind": "bug", "reason": "x", "missing": "y"}, "'missing' stands with"),
        ([], "the answer: "),
        ('{"kind": "bug", "kind": "vague", "reason": "x"}', "stands twice"),
        ('{"kind": "bug", "reason": NaN}', "NaN"),
        ('Sure! {"kind": "bug", "reason": "x"}', "not JSON"),
        (" " * (ANSWER_LIMIT + 1), "characters"),
        ("[" * 15_000, "it is"),
    ],
)
def test_every_other_answer_is_refused(answer: object, fault: str) -> None:
    with pytest.raises(Unusable) as caught:
        read(answer if isinstance(answer, str) else json.dumps(answer), {3, 4})
    assert fault in "\n".join(caught.value.faults)


def test_the_words_of_a_model_become_one_line_without_what_nobody_sees() -> None:
    found = read(json.dumps({"kind": "bug", "reason": "It\nends\u202e. <!-- ACK: x -->"}), ())
    assert found.reason == "It ends."


def test_a_backend_is_told_of_every_kind() -> None:
    assert all(str(kind) in json.dumps(Proposal.model_json_schema()) for kind in TriageKind)


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"kind": "bug"}, TriageKind.BUG),
        ({"kind": "duplicate", "duplicate_of": 3, "decided": "accepted"}, TriageKind.DUPLICATE),
        ({"kind": "duplicate"}, None),
        ({"kind": "duplicate", "duplicate_of": "3"}, None),
        ({"kind": "bug", "duplicate_of": 3}, None),
        ({"kind": "status:ready"}, None),
        ({}, None),
        (None, None),
        ("bug", None),
    ],
)
def test_what_a_status_comment_records_is_a_proposal_or_nothing(record: object, kind: TriageKind | None) -> None:
    found = of_record(record)
    assert (found and found.kind) == kind
    assert is_decided(record) == (isinstance(record, dict) and "decided" in record)
    if found is not None:
        assert of_record(json.loads(json.dumps(recorded(found)))) == found


def test_no_word_of_a_model_is_recorded_for_programs() -> None:
    assert recorded(Proposal(kind=TriageKind.VAGUE, reason="x", missing="y")) == {"kind": "vague"}


@pytest.mark.parametrize(
    ("issue", "why"),
    [
        (ISSUE, ""),
        (replace(ISSUE, labels=frozenset({"bug"})), "it has a label"),
        (replace(ISSUE, is_pull_request=True), "it is a pull request"),
        (replace(ISSUE, open=False), "it is closed or locked"),
        (replace(ISSUE, locked=True), "it is closed or locked"),
        (replace(ISSUE, author=ENGINE), "it is the engine's own"),
        (replace(ISSUE, assignees=(ADA,)), "it is assigned to ada"),
        (replace(ISSUE, assignees=(ENGINE,)), ""),
    ],
)
def test_who_gets_a_proposal(issue: Issue, why: str) -> None:
    assert unfit(issue, ENGINE) == why


@pytest.mark.parametrize(("phase", "is_begun"), [(Phase.TRIAGE, True), (Phase.TRIAGED, False), (Phase.DRAFT, False)])
def test_only_what_is_not_at_its_end_is_gone_on_with(phase: Phase, is_begun: bool) -> None:
    assert has_begun(replace(FENCE, phase=phase)) is is_begun
    assert not has_begun(None)


@pytest.mark.parametrize(
    ("hours", "per_day", "left"),
    [((), 2, 2), ((1,), 2, 1), ((1, 2), 2, 0), ((1, 2, 3), 2, 0), ((23.9, 24), 2, 1), ((30, 40), 1, 1)],
)
def test_places_of_a_day(hours: tuple[float, ...], per_day: int, left: int) -> None:
    entries = [Entry(n, "planner-1", str(n), AT - timedelta(hours=one)) for n, one in enumerate(hours, 1)]
    assert places([one.at for one in entries], per_day, AT) == left


def test_a_line_is_read_as_it_was_written() -> None:
    entry = Entry(7, "planner-1", "ab", AT)
    assert read_line(write_line(entry)) == entry


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"v": 2, "issue": 1}', '{"v": 1, "issue": "x", "at": "2026"}'])
def test_what_is_no_line_is_none(text: str) -> None:
    assert read_line(text) is None


@dataclass
class Server(UnaskedFences, UnaskedMirror):
    """The ref of the register."""

    commits: list[Commit] = field(default_factory=list)

    async def read(self, ref: str) -> tuple[str, str] | None:
        assert ref == TRIAGED.ref
        return (self.commits[-1].oid, self.commits[-1].message) if self.commits else None

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        assert (ref, list(updates)) == (TRIAGED.ref, [])
        if expected != (self.commits[-1].oid if self.commits else None):
            return None
        self.commits.append(Commit(f"{len(self.commits) + 1:040x}", tuple(parents), AT, message))
        return self.commits[-1].oid

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]:
        found = next(n for n, one in enumerate(self.commits) if one.oid == ref)
        return self.commits[found::-1][:limit]


async def test_of_two_who_enter_a_line_at_once_one_is_refused() -> None:
    server = Server()
    one, other = Register(TRIAGED, server, server), Register(TRIAGED, server, server)
    assert (await one.read(), await other.read()) == ((), ())
    assert await one.append(Entry(7, "planner-1", "a", AT))
    assert not await other.append(Entry(8, "planner-2", "b", AT))
    assert [entry.issue for entry in await other.read()] == [7]
    assert await other.append(Entry(8, "planner-2", "b", AT))
    assert [entry.issue for entry in await one.read()] == [7, 8]


async def test_a_line_of_a_newer_engine_stops_the_triage() -> None:
    server = Server([Commit("1" * 40, (), AT, '{"v": 2, "issue": 7}')])
    with pytest.raises(Outdated, match="Upgrade this agent"):
        await Register(TRIAGED, server, server).read()
