"""Several label changes in one request of GraphQL, as the lab executes it, and REST where GraphQL says no."""

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
from lab.github.world.issues import IssueRecord
from shared.errors import UnknownOutcome
from shared.github.client import GitHub
from shared.github.issues import Issues
from shared.github.labels import LabelBoard
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
        """What the issue carries now."""
        return set(self.issue_now.labels)

    @property
    def issue_now(self) -> IssueRecord:
        """The issue."""
        return self.lab.at(NAME).issues.require(self.issue.number)

    async def relabel(self) -> frozenset[str]:
        """From implementing to testing; no answer is needed any more."""
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
