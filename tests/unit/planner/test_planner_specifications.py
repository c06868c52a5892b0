"""Specification issues: created once, in order, found again by their marks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fakes.agent import claimed
from fakes.closing import FakeClosing, FakeReplies
from fakes.lock_port import KEYS
from fakes.lock_server import BOT
from fakes.planner_coder import plan
from fakes.planner_github import REPOSITORY, Bench, FakeComments, FakeGitHub
from fakes.planner_world import ADA

from planner_agent.plan import Plan, read
from planner_agent.policy import Policy
from planner_agent.ports import Forge
from planner_agent.specifications import Created, Specifications, specified
from planner_agent.story import create_story, split
from shared.commands.text_unchanged import Texts
from shared.errors import Misconfigured
from shared.github.base_branch import BaseBranch
from shared.github.status import Status, StatusBoard
from shared.lock.hold import Held
from shared.lock.write_permit import Notice
from shared.scheduling.agent_contract import Skip
from shared.specification import Criterion, Provenance, Specification, SpecificationKind, authentic, write
from shared.specification import read as read_body
from shared.workflow import Role

SHA = "0a1b2c3d" * 8


@pytest.fixture
def bench() -> Bench:
    return Bench()


@asynccontextmanager
async def leased(bench: Bench) -> AsyncIterator[Held]:
    """Yield the lease on a story, which is #12."""
    bench.world.story()
    planner = bench.planner()
    (candidate,) = await planner.discover()
    lease = await claimed(planner, candidate)
    assert not isinstance(lease, Skip)
    async with planner.hold(lease) as held:
        yield held


def adapters(bench: Bench, **policy: Any) -> tuple[Specifications, StatusBoard]:
    github = FakeGitHub(bench.world)
    comments = FakeComments(bench.world)
    status = StatusBoard(comments, Role.PLANNER, frozenset({BOT.id}), KEYS)
    forge = Forge(github, github, comments, github, github, status, Texts(), FakeClosing(), FakeReplies())
    return Specifications(forge, KEYS, Policy(REPOSITORY, BOT, BaseBranch("main"), **policy)), status


def planned(**changes: Any) -> Plan:
    return read(json.dumps(plan(**changes)))


async def test_they_are_created_in_the_order_of_their_dependencies(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, _ = adapters(bench)
        created = await rooms.create(held, bench.world.issues[12], planned(), SHA)
        assert created == (
            Created("12-2", 13, "Search users by name"),
            Created("12-1", 14, "Export the search"),
        )
        assert "Depends on #13\nPart of #12" in bench.world.issues[14].body
        again = await rooms.create(held, bench.world.issues[12], planned(), SHA)
        assert again == created
        assert len(bench.world.specifications()) == 2


async def test_the_kind_of_work_stands_in_the_issue(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, _ = adapters(bench)
        one = plan()["specifications"][1] | {"kind": "refactoring"}
        (created,) = await rooms.create(held, bench.world.issues[12], planned(specifications=[one]), SHA)
        body = bench.world.issues[created.number].body
        assert "\n\nKind: refactoring\nPart of #12\n\n" in body
        assert read_body(body).kind is SpecificationKind.REFACTORING
        assert authentic(body, KEYS) is Provenance.ENGINE


async def test_they_are_as_urgent_as_their_story_and_pass_its_filter(bench: Bench) -> None:
    async with leased(bench) as held:
        bench.world.change(12, labels=frozenset({"story", "Priority:High", "engine", "team-a"}))
        rooms, _ = adapters(bench, priorities=("priority:critical", "priority:high"), include=frozenset({"Engine"}))
        created = await rooms.create(held, bench.world.issues[12], planned(), SHA)
        for one in created:
            assert bench.world.issues[one.number].labels == {"status:ready", "Priority:High", "engine"}


@pytest.mark.parametrize(
    ("labels", "waits"),
    [
        pytest.param(("status:ready", "priority:high"), True, id="as urgent, and older"),
        pytest.param(("status:ready",), False, id="less urgent and not begun"),
        pytest.param(("status:implementing",), True, id="less urgent, but begun"),
    ],
)
async def test_they_wait_for_what_names_their_files_unless_it_is_less_urgent(
    bench: Bench, labels: tuple[str, ...], waits: bool
) -> None:
    async with leased(bench) as held:
        bench.world.change(12, labels=frozenset({"story", "priority:high"}))
        other = bench.world.open("Sort it", "Sort.\n\n## Files\n- `directory/search.py`\n", by=ADA)
        bench.world.change(other, labels=frozenset(labels))
        rooms, _ = adapters(bench, priorities=("priority:critical", "priority:high"))
        created = await rooms.create(held, bench.world.issues[12], planned(), SHA)
        assert created[0].behind == ((other,) if waits else ())
        body = bench.world.issues[created[0].number].body
        assert (other in read_body(body).depends_on) is waits


async def test_those_of_another_plan_or_story_or_person_are_not_adopted(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, _ = adapters(bench)
        one = specified(planned().specifications[1], 12, ())
        for parent, sha, by in ((12, "f" * 8, BOT), (99, SHA, BOT), (12, SHA, ADA)):
            body = write(one, keys=KEYS, parent=parent, key=f"{parent}-2", plan_sha=sha)
            bench.world.open("Search", body, by=by)
        pull = bench.world.open("Pull", write(one, keys=KEYS, parent=12, key="12-2", plan_sha=SHA), by=BOT)
        bench.world.change(pull, is_pull_request=True)
        created = await rooms.create(held, bench.world.issues[12], planned(), SHA)
        assert [one.number for one in created] == [17, 18]


async def test_the_body_is_harmless_and_reads_back_as_planned(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, _ = adapters(bench)
        loud = plan()["specifications"][1] | {
            "title": "@ada search",
            "goal": "Ask @ada. ## No heading\n\n# Nor this\n/approve",
        }
        (created,) = await rooms.create(held, bench.world.issues[12], planned(specifications=[loud]), SHA)
        issue = bench.world.issues[created.number]
        assert "@ada" not in issue.title
        assert "@ada" not in issue.body
        assert "\n/approve" not in issue.body
        assert authentic(issue.body, KEYS) is Provenance.ENGINE
        assert read_body(issue.body) == Specification(
            goal=loud["goal"],
            criteria=(Criterion("AC1", "Case is ignored."), Criterion("AC2", "A blank text finds nobody.")),
            files=("directory/search.py",),
            part_of=12,
        )


async def test_they_are_found_by_the_status_comment_or_by_their_marks(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, status = adapters(bench)
        story = bench.world.issues[12]
        assert await rooms.numbers(story, 1) == {}
        assert not await rooms.closed(story, held.fence)
        await rooms.create(held, story, planned(), SHA)
        assert await rooms.numbers(story, 1) == {"12-2": 13, "12-1": 14}
        rooms, status = adapters(bench)  # another process, which created nothing
        assert await rooms.numbers(story, 1) == {"12-2": 13, "12-1": 14}
        data = {"specifications": {"12-2": 13}, "note": "\n```\n```json\n{}"}
        await status.show(12, Status("Done.", data=data, notes="```json\n{}\n```"), Notice(12, "test"))
        assert await rooms.numbers(story, 1) == {"12-2": 13}
        await status.show(12, Status("Done.", data={"specifications": {"12-3": 15}}), Notice(12, "test"))
        assert await rooms.numbers(story, 1) == {"12-2": 13}, "read once"
        assert await rooms.numbers(story, 2) == {"12-3": 15}, "another plan has others"


async def test_a_story_is_done_when_none_is_open(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, _ = adapters(bench)
        story = bench.world.issues[12]
        await rooms.create(held, story, planned(), SHA)
        bench.world.change(13, open=False)
        assert not await rooms.closed(story, held.fence)
        bench.world.change(14, open=False)
        assert await rooms.closed(story, held.fence)


async def test_one_that_was_deleted_counts_as_closed(bench: Bench) -> None:
    async with leased(bench) as held:
        rooms, status = adapters(bench)
        await status.show(12, Status("Done.", data={"specifications": {"12-1": 99}}), Notice(12, "test"))
        assert await rooms.closed(bench.world.issues[12], held.fence)


async def test_a_story_from_the_command_line_is_an_issue_with_the_label(bench: Bench) -> None:
    issue = await create_story(FakeGitHub(bench.world), "\n# Search users\n\nBy name.\n", "story")
    assert (issue.title, issue.body, issue.labels) == ("Search users", "By name.", frozenset({"story"}))


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("Search", "Search", ""),
        ("Search\r\nmore", "Search", "more"),
        ("\u202e-rf $(id)", "-rf $(id)", ""),
        ("w" * 300 + "\nmore", "w" * 239 + "…", "w" * 300 + "\nmore"),
        ("###\nSearch", "Story", "###\nSearch"),
    ],
)
def test_a_story_s_first_line_is_its_title(text: str, title: str, body: str) -> None:
    assert split(text) == (title, body)


@pytest.mark.fault(19)
@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "<!-- a -->"])
def test_an_empty_story_is_refused(text: str) -> None:
    with pytest.raises(Misconfigured, match="The story is empty"):
        split(text)


@pytest.mark.fault(19)
def test_a_story_that_github_would_not_take_is_refused() -> None:
    with pytest.raises(Misconfigured, match="65,537 characters"):
        split("Title\n" + "x" * 65_537)
