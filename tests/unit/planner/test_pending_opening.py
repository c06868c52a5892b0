"""The order of pending tests that get an issue, and never a second one: several planners, lost replies, crashes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fakes.pending_world import AT, World, file

from planner_agent.pending.opening import LOST, SEND_SECONDS, Globs, pending_tests
from planner_agent.pending.register import PENDING_TESTS, PendingTest, latest, read, write
from planner_agent.register import Register
from shared.errors import Transient, UnknownOutcome
from shared.lock.write_permit import WritePermit
from shared.models import Issue


async def test_one_after_the_other_each_with_what_it_is_about() -> None:
    world = World()
    planner = world.planner()
    assert await planner.look(world.listed) == 1
    assert world.issues[1].title == "[TDD] Implement tests/test_x.py::test_a | attempt 1/3"
    assert world.issues[1].labels == {"status:ready"}
    assert "`tests/test_x.py`, line 2, at aaaaaaaaaaaa" in world.issues[1].body
    world.asked.clear()
    assert await planner.look(world.listed) is None
    assert world.asked == [], "while it is worked on, the list says all"
    world.change(1, open=False)
    assert await planner.look(world.listed) == 2
    assert world.tests == ["a", "b"]


async def test_agents_that_are_restricted_to_a_label_find_the_issue() -> None:
    world = World()
    await world.planner(labels=("engine",)).look(world.listed)
    assert world.issues[1].labels == {"status:ready", "engine"}


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"open": False}, ["a", "b"]),
        ({"labels": frozenset({"status:failed", "flag:manual-intervention"})}, ["a", "b"]),
        ({"labels": frozenset({"status:ci-failed"})}, ["a", "b"]),
        ({"labels": frozenset()}, ["a", "b"]),
        ({"labels": frozenset({"status:reviewing"})}, ["a"]),
        ({"labels": frozenset({"status:awaiting-approval"})}, ["a"]),
        ({"labels": frozenset({"status:implementing", "flag:paused"})}, ["a"]),
    ],
)
async def test_the_next_one_starts_when_the_last_is_over_or_a_persons(changes: dict[str, Any], more: list[str]) -> None:
    world = World()
    await world.planner().look(world.listed)
    world.change(1, **changes)
    await world.planner("planner-2").look(world.listed)
    assert world.tests == more


async def test_as_many_as_are_allowed_are_open_at_once() -> None:
    world = World()
    planner = world.planner(open_at_once=2)
    for _ in range(4):
        await planner.look(world.listed)
    assert world.tests == ["a", "b"]


async def test_a_list_that_lags_opens_nothing() -> None:
    world = World()
    await world.planner().look({})
    assert await world.planner("planner-2").look({}) is None
    assert world.tests == ["a"]
    del world.issues[1]
    assert await world.planner("planner-2").look({}) == 1, "a deleted issue is in nobody's way"


async def test_of_two_planners_at_once_one_writes_the_issue() -> None:
    world = World()
    rival = PendingTest("tests/test_x.py::test_a", "planner-2", "r1", AT)
    world.rival = [write(rival)]
    assert await world.planner().look(world.listed) is None
    assert world.tests == []
    assert await world.planner().look(world.listed) is None, "what another is about to create is in the way"
    assert world.tests == []


@pytest.mark.parametrize("where", ["before the line", "after the line", "before the issue", "after the issue"])
async def test_after_a_lost_reply_or_a_crash_there_is_one_issue_in_the_end(where: str) -> None:
    world = World()
    world.trouble[where] = UnknownOutcome("lost")
    planner = world.planner()
    for wait in (0, 30, 30):
        world.now += timedelta(seconds=wait)
        try:
            await planner.look(world.listed)
        except UnknownOutcome:
            assert "issue" in where
    world.now += LOST
    await planner.look(world.listed)
    await world.planner("planner-2").look(world.listed)
    assert world.tests == ["a"]
    assert latest(await Register(PENDING_TESTS, world, world).read())["tests/test_x.py::test_a"].issue == 1


async def test_an_issue_that_was_entered_too_long_ago_is_not_sent_any_more() -> None:
    class Slow(World):
        async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
            self.now += timedelta(seconds=SEND_SECONDS)
            return await super().create(title, body, labels, permit)

    world = Slow()
    with pytest.raises(Transient):
        await world.planner().look(world.listed)
    assert world.issues == {}
    assert LOST.total_seconds() / 2 > SEND_SECONDS


async def test_without_the_register_the_issues_themselves_are_known() -> None:
    world = World()
    await world.planner().look(world.listed)
    world.change(1, open=False)
    world.lines.clear()
    world.head = None
    await world.planner("planner-2").look(world.listed)
    assert world.tests == ["a", "b"]
    body = world.issues[2].body.replace("test_b", "test_c")
    world.change(2, open=False)
    world.issues[3] = replace(world.issues[2], number=3, body=body)
    await world.planner("planner-3").look(world.listed)
    assert world.tests == ["a", "b", "c"], "a line that nobody signed names no test"


async def test_a_test_that_is_gone_is_not_created_late() -> None:
    world = World()
    await Register(PENDING_TESTS, world, world).append(PendingTest("tests/test_x.py::test_gone", "planner-9", "r", AT))
    assert await world.planner().look(world.listed) is None
    world.now += LOST
    assert await world.planner().look(world.listed) == 1
    assert world.tests == ["a"]


async def test_nothing_is_asked_for_a_while_after_nothing_was_found() -> None:
    world = World(files={"tests/test_x.py": b"def test_a(): pass\n"})
    planner = world.planner()
    await planner.look({})
    world.asked.clear()
    await planner.look({})
    assert world.asked == []
    world.now += timedelta(seconds=61)
    await planner.look({})
    assert world.asked == ["register"], "the same commit is not looked through again"
    world.main, world.files = "b" * 40, {"tests/test_x.py": file("z")}
    world.now += timedelta(seconds=61)
    assert await planner.look({}) == 1


OWN = ["a/tests/test_a.py::test_a", "a/tests/test_a.py::test_b"]


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("globs", ["e2e/test_z.py::test_z", "tests/b/test_c.py::test_c", *OWN]),
        ("path", [*OWN, "e2e/test_z.py::test_z", "tests/b/test_c.py::test_c"]),
    ],
)
async def test_the_configured_order(order: str, found: list[str]) -> None:
    files = {
        "tests/b/test_c.py": file("c"),
        "e2e/test_z.py": file("z"),
        "a/tests/test_huge.py": b"huge",
        "a/tests/test_a.py": file("a", "b"),
        "docs/test_no.py": file("no"),
    }
    globs = ["e2e/*.py", "tests/**/test_*.py", "**/tests/test_?*.py"]
    tests = await pending_tests(World(files), "a" * 40, globs, order)
    assert [one.test for one in tests] == found


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("tests/*.py", "tests/a.py", True),
        ("tests/*.py", "tests/b/a.py", False),
        ("tests/**/*.py", "tests/a.py", True),
        ("tests/**/*.py", "tests/b/c/a.py", True),
        ("**/*.test.ts", "a.test.ts", True),
        ("./tests/**", "tests/b/a.py", True),
        ("tests/?.py", "tests/ab.py", False),
        ("tests/[a].py", "tests/a.py", False),
        ("a.py", "xa.py", False),
    ],
)
def test_globs(pattern: str, path: str, fits: bool) -> None:
    assert (Globs([pattern]).rank(path) == 0) is fits


async def test_the_register_reads_only_its_own_lines_and_however_many() -> None:
    world = World()
    one = Register(PENDING_TESTS, world, world)
    world._put("something else")
    world._put('{"v": 1, "test": "t", "agent": "a", "run": "r", "at": "2026-01-05T00:00:00"}')
    await one.read()
    for number in range(1, 8):
        assert await one.append(PendingTest(f"t{number}", "planner-1", f"r{number}", AT, number))
    again = Register(PENDING_TESTS, world, world)
    assert [entry.issue for entry in latest(await again.read()).values()] == [1, 2, 3, 4, 5, 6, 7]
    assert await one.append(PendingTest("t1", "planner-1", "late", AT))
    assert latest(await again.read())["t1"].issue == 1, "what has its issue keeps it"
    assert read(write(PendingTest("t", "a", "r", AT, 4))) == PendingTest("t", "a", "r", AT, 4)
    assert [read(text) for text in ("", "[]", "{}", '{"v": 2}', "1")] == [None] * 5
