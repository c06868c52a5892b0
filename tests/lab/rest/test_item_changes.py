"""Several changes in one request of GraphQL, as the lab executes it, and REST where GraphQL says no."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from github_bench import NAME, bench
from label_scene import PERSON

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.server import Lab
from lab.github.world.accounts import GRAPHQL
from lab.github.world.issues import IssueRecord
from shared.errors import NotAllowed, UnknownOutcome
from shared.github.client import GitHub
from shared.github.issues import Issues
from shared.github.item_changes import ItemChange, refusal
from shared.github.label_board import LabelBoard, WantedLabels
from shared.workflow import Stage
from shared.workflow.labels import Flag, Labels

BEFORE = ("bug", "status:implementing", "flag:needs-answer")
AFTER = {"bug", "status:testing"}


@dataclass
class Here:
    """An issue that carries `BEFORE`, as a client has just read it, and what reached the server since."""

    lab: Lab
    github: GitHub
    board: LabelBoard
    issue: IssueRecord
    known: frozenset[str]
    calls: list[str]

    @property
    def labels(self) -> set[str]:
        """The labels that the issue carries now."""
        return set(self.issue_now.labels)

    @property
    def issue_now(self) -> IssueRecord:
        """The issue."""
        return self.lab.at(NAME).issues.require(self.issue.number)

    async def relabel(self) -> frozenset[str]:
        """Move the label from implementing to testing, and remove the flag that asks for an answer."""
        return await self.board.show(
            self.issue.number, Stage.TESTING, PERSON, known=self.known, flags_off=[Flag.NEEDS_ANSWER]
        )


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncIterator[Here]:
    async with bench(tmp_path) as b:
        github = b.client("engine")
        board = LabelBoard(github, NAME, Labels())
        await board.create_all(PERSON)
        issue = b.lab.issue(NAME, "T", "B", author="ada", labels=BEFORE)
        known = (await Issues(github, NAME).issue(issue.number)).labels
        here = Here(b.lab, github, board, issue, known, [])
        b.lab.exchanges.observe(lambda one: here.calls.append(f"{one.method} {one.path}"))
        yield here


async def test_a_stage_and_a_flag_change_in_one_request(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        shown = await here.relabel()
        assert shown == AFTER
        assert here.labels == AFTER
        assert here.calls == ["POST /graphql"], "the labels were learned when they were defined"
        events = here.lab.at(NAME).issues.events[-3:]
        assert [event.event for event in events] == ["labeled", "unlabeled", "unlabeled"], "added first"


async def test_what_a_person_sets_meanwhile_survives(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.at(NAME).issues.add_labels(here.issue.number, ["blocked", "status:ready"], "ada")
        shown = await here.relabel()
        assert shown == {*AFTER, "blocked"}, "a second stage goes, as the reply has shown it"
        assert here.labels == {*AFTER, "blocked"}
        assert here.calls[1:] == [f"DELETE /repos/{NAME}/issues/{here.issue.number}/labels/status:ready"]


@pytest.mark.parametrize("status", [404, 403])
async def test_where_graphql_is_refused_rest_does_it_from_then_on(tmp_path: Path, status: int) -> None:
    async with scene(tmp_path) as here:
        here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=status))
        assert await here.relabel() == AFTER
        assert here.labels == AFTER
        assert [call.split()[0] for call in here.calls] == ["POST", "POST", "DELETE", "DELETE"]
        here.calls.clear()
        here.known = frozenset(here.labels)
        await here.board.show(here.issue.number, Stage.REVIEWING, PERSON, known=here.known)
        assert [call.split()[0] for call in here.calls] == ["POST", "DELETE"]
        assert not any("graphql" in call for call in here.calls)


async def test_while_graphqls_hour_is_used_up_rest_does_it(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.world.quotas[GRAPHQL].limit = 0
        assert await here.relabel() == AFTER
        assert here.labels == AFTER
        assert [call.split()[0] for call in here.calls] == ["POST", "POST", "DELETE", "DELETE"]
        here.calls.clear()
        await here.board.show(here.issue.number, Stage.REVIEWING, PERSON, known=frozenset(here.labels))
        assert not any("graphql" in call for call in here.calls), "not asked again before its hour ends"
        assert "hourly budget" in await refusal(here.github, PERSON), "doctor says so, and goes on"


async def test_a_label_that_was_renamed_is_not_taken_for_the_one_of_its_old_name(tmp_path: Path) -> None:
    """A label keeps its id when a person calls it something else; set by that id, it would be that something."""
    async with scene(tmp_path) as here:
        labels = here.lab.at(NAME).labels
        labels.change("status:testing", "in the lab", None, None)
        shown = await here.relabel()
        assert shown == {*AFTER, "in the lab"}
        assert here.labels == shown
        assert {one.name for one in labels.values()} >= {"in the lab", "status:testing"}, "adding by name defines it"
        here.calls.clear()
        await here.board.show(here.issue.number, Stage.IMPLEMENTING, PERSON, known=frozenset(here.labels))
        await here.board.show(here.issue.number, Stage.TESTING, PERSON, known=frozenset(here.labels))
        assert here.labels == shown, "its new id is known"
        assert here.calls.count("POST /graphql") == 2


async def test_a_label_that_was_defined_anew_is_found_by_rest(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        labels = here.lab.at(NAME).labels
        labels.remove("status:testing")
        labels.create("status:testing", "ededed", None)
        assert await here.relabel() == AFTER
        assert here.labels == AFTER


async def test_half_of_it_is_finished_by_rest(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        labels = here.lab.at(NAME).labels
        labels.remove("flag:needs-answer")
        labels.create("flag:needs-answer", "ededed", None)
        assert await here.relabel() == AFTER, "added by GraphQL, and the rest removed by REST"
        assert here.labels == AFTER


async def test_a_lost_reply_is_no_refusal(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", "/graphql$"))
        with pytest.raises(UnknownOutcome):
            await here.relabel()
        assert here.labels == AFTER
        assert here.calls == ["POST /graphql"], "nothing was sent after it"


async def test_a_start_takes_one_request_and_shows_what_was_there_when_it_began(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        then, now = await here.board.exchange(here.issue.number, "status:testing", "status:implementing", PERSON)
        assert then == {*BEFORE, "status:testing"}
        assert now == {"bug", "flag:needs-answer", "status:testing"} == here.labels
        assert here.calls == ["POST /graphql"]


async def test_a_start_that_was_taken_back_meanwhile_shows_that(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.at(NAME).issues.remove_label(here.issue.number, "status:implementing", "ada")
        then, now = await here.board.exchange(here.issue.number, "status:testing", "status:implementing", PERSON)
        assert "status:implementing" not in then
        assert now == then == here.labels


async def test_without_graphql_a_start_only_adds(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))
        then, now = await here.board.exchange(here.issue.number, "status:testing", "status:implementing", PERSON)
        assert now == then == {*BEFORE, "status:testing"}, "whoever began takes the other one off next"


def other(here: Here) -> IssueRecord:
    """Make a second issue of the same repository."""
    return here.lab.issue(NAME, "U", "- [ ] AC1", author="ada", labels=("status:reviewing", "bug"))


async def test_two_items_change_in_one_request(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        second = other(here)
        read = await Issues(here.github, NAME).issue(second.number)
        here.calls.clear()
        wanted = [
            WantedLabels(here.issue.number, Stage.REVIEWING, here.known),
            WantedLabels(second.number, Stage.TESTING, read.labels),
        ]
        shown = await here.board.show_all(wanted, PERSON)
        assert [set(one) for one in shown] == [
            {"bug", "status:reviewing", "flag:needs-answer"},
            {"bug", "status:testing"},
        ]
        assert here.calls == ["POST /graphql"]
        assert here.labels == shown[0]
        assert set(here.lab.at(NAME).issues.require(second.number).labels) == shown[1]


async def test_of_two_items_the_one_that_is_right_already_is_left_alone(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        wanted = [
            WantedLabels(here.issue.number, Stage.IMPLEMENTING, here.known),
            WantedLabels(other(here).number, Stage.TESTING, frozenset({"status:testing"})),
        ]
        shown = await here.board.show_all(wanted, PERSON)
        assert [set(one) for one in shown] == [set(here.known), {"status:testing"}]
        assert here.calls == []


async def opened(here: Here) -> WantedLabels:
    """Open a pull request; return its wanted labels, one of which the repository does not know yet."""
    pull = await Issues(here.github, NAME).create("Change", "Text", (), PERSON)
    here.calls.clear()
    return WantedLabels(pull.number, Stage.NEW, pull.labels, other_labels=("automated",))


async def test_labels_of_any_name_are_set_beside_a_stage_in_one_request(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.at(NAME).labels.ensure("automated")
        wanted = await opened(here)
        shown = await here.board.show_all([wanted, WantedLabels(here.issue.number, Stage.TESTING, here.known)], PERSON)
        assert [set(one) for one in shown] == [{"automated"}, {"bug", "status:testing", "flag:needs-answer"}]
        assert [call.split()[0] for call in here.calls] == ["GET", "POST"], "its id is looked up once"
        here.calls.clear()
        again = await opened(here)
        back = WantedLabels(here.issue.number, Stage.IMPLEMENTING, frozenset(here.labels))
        await here.board.show_all([again, back], PERSON)
        assert here.calls == ["POST /graphql"]


async def test_a_label_that_is_new_to_the_repository_costs_the_others_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        wanted = await opened(here)
        shown = await here.board.show_all([wanted, WantedLabels(here.issue.number, Stage.TESTING, here.known)], PERSON)
        assert [set(one) for one in shown] == [{"automated"}, {"bug", "status:testing", "flag:needs-answer"}]
        assert set(here.lab.at(NAME).issues.require(wanted.number).labels) == {"automated"}
        assert here.calls[1:] == [f"POST /repos/{NAME}/issues/{wanted.number}/labels", "POST /graphql"]


async def test_an_item_that_graphql_does_not_know_yet_is_rests_this_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.lab.at(NAME).labels.ensure("automated")
        wanted = await opened(here)
        unknown = {"number": wanted.number, "node_id": "I_later"}
        here.github.ids.learn(f"/repos/{NAME}/issues/{wanted.number}", unknown)
        shown = await here.board.show_all([wanted, WantedLabels(here.issue.number, Stage.TESTING, here.known)], PERSON)
        assert [set(one) for one in shown] == [{"automated"}, {"bug", "status:testing", "flag:needs-answer"}]
        assert here.labels == shown[1]
        here.calls.clear()
        await here.board.show(here.issue.number, Stage.IMPLEMENTING, PERSON, known=frozenset(here.labels))
        assert here.calls == ["POST /graphql"], "which is asked again"


@pytest.mark.parametrize("graphql", [True, False])
async def test_a_stage_does_not_take_the_place_of_one_that_somebody_has_taken_off(
    tmp_path: Path, graphql: bool
) -> None:
    async with scene(tmp_path) as here:
        if not graphql:
            here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", r"/graphql$", status=404))
        wanted = WantedLabels(here.issue.number, Stage.TESTING, here.known, instead_of="Status:Implementing")
        here.lab.unlabel(NAME, here.issue.number, "status:implementing", actor="ada")
        here.lab.label(NAME, here.issue.number, "status:failed", actor="ada")
        (shown,) = await here.board.show_all([wanted], PERSON)
        assert shown == {"bug", "status:failed", "flag:needs-answer"}
        assert here.labels == shown, "what a person has set instead stays"


async def test_a_server_whose_graphql_knows_nothing_is_left_alone(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        for stage in (Stage.TESTING, Stage.IMPLEMENTING, Stage.TESTING):
            unknown = {"number": here.issue.number, "node_id": "I_never"}
            here.github.ids.learn(f"/repos/{NAME}/issues/{here.issue.number}", unknown)
            await here.board.show(here.issue.number, stage, PERSON, known=frozenset(here.labels))
        assert here.calls.count("POST /graphql") == 2
        assert here.labels == {"bug", "status:testing", "flag:needs-answer"}


ENDINGS = (("text", True), (None, True), ("text", False))


@pytest.mark.parametrize("graphql", [True, False])
@pytest.mark.parametrize(("body", "close"), ENDINGS)
async def test_an_end_is_text_state_and_labels(tmp_path: Path, graphql: bool, body: str | None, close: bool) -> None:
    async with scene(tmp_path) as here:
        second = other(here)
        await Issues(here.github, NAME).issue(second.number)
        here.calls.clear()
        if not graphql:
            here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))
        endings = [
            ItemChange(here.issue.number, off=("status:implementing", "flag:needs-answer")),
            ItemChange(second.number, body, close, off=("status:reviewing",)),
        ]
        await here.board.carry_out(endings, PERSON)
        now = here.lab.at(NAME).issues.require(second.number)
        assert (now.body, now.open, now.labels) == (body or "- [ ] AC1", not close, ("bug",))
        assert (now.state_reason == "completed") is close
        assert here.labels == {"bug"}
        ways = ["POST", "DELETE", "DELETE", "PATCH", "DELETE"]
        assert [call.split()[0] for call in here.calls] == (["POST"] if graphql else ways)


async def test_what_is_refused_of_one_item_keeps_the_others_from_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        second = other(here)
        await Issues(here.github, NAME).issue(second.number)
        here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))
        here.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "PATCH", f"/issues/{here.issue.number}$", status=403))
        endings = [
            ItemChange(here.issue.number, "text", off=("status:implementing",)),
            ItemChange(second.number, close=True, off=("status:reviewing",)),
        ]
        with pytest.raises(NotAllowed):
            await here.board.carry_out(endings, PERSON)
        assert here.labels == {"bug", "flag:needs-answer"}
        assert here.issue_now.body == "B"
        now = here.lab.at(NAME).issues.require(second.number)
        assert (now.open, now.labels) == (False, ("bug",))


async def test_one_change_alone_is_rests(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        here.known = (await Issues(here.github, NAME).issue(here.issue.number)).labels
        await here.board.carry_out([ItemChange(here.issue.number, off=("bug",))], PERSON)
        assert [call.split()[0] for call in here.calls[1:]] == ["DELETE"]
