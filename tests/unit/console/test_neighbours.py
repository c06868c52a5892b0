"""Processes of one account on one machine: each knows how many polls the others want."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from fakes.clock import PassingClock

from runtime.building.neighbours import FRESH_SECONDS, LOOK_SECONDS, OLD_SECONDS, Neighbours


def beside(root: Path, clock: PassingClock, agent: str, polls: float, account: str = "token one") -> Neighbours:
    """Return one process, which has looked once."""
    made = Neighbours(root, account, clock)
    made.join(agent, polls)
    made.polls()
    return made


def test_others_of_the_account_are_counted_from_the_next_look_on(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    first = beside(tmp_path, clock, "planner-a", 200)
    second = beside(tmp_path, clock, "worker-a", 200)
    beside(tmp_path, clock, "worker-b", 7, account="token two")
    assert (first.polls(), second.polls()) == ((), (200,)), "the first one has not looked again yet"
    clock.seconds += LOOK_SECONDS
    assert (first.polls(), second.polls()) == ((200,), (200,))


def test_agents_of_one_process_are_no_neighbours_and_a_reload_counts_anew(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    process = beside(tmp_path, clock, "planner-a", 3)
    process.join("worker-a", 3)
    assert process.polls() == ()
    process.join("worker-a", 5)
    process.polls()
    assert beside(tmp_path, clock, "reviewer-a", 3).polls() == (3, 5)


def test_a_process_that_has_ended_counts_for_five_minutes_and_is_forgotten_after_a_day(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    beside(tmp_path, clock, "worker-a", 200)
    other = beside(tmp_path, clock, "worker-b", 1)
    clock.seconds += FRESH_SECONDS
    assert other.polls() == (200,)
    clock.seconds += LOOK_SECONDS
    assert other.polls() == ()
    clock.seconds += OLD_SECONDS
    other.polls()
    assert [place.name for place in tmp_path.rglob("*.json")] == ["worker-b.json"]


def test_who_leaves_is_counted_no_more(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    process = beside(tmp_path, clock, "planner-a", 3)
    process.join("worker-a", 5)
    other = beside(tmp_path, clock, "reviewer-a", 7)
    process.polls()
    for _ in range(2):
        process.leave("worker-a")
    clock.seconds += LOOK_SECONDS
    assert (process.polls(), other.polls()) == ((7,), (3,))


def test_agents_of_this_process_that_are_counted_elsewhere_are_neighbours(tmp_path: Path) -> None:
    process = beside(tmp_path, PassingClock(1000.0), "planner-a", 3)
    process.join("reviewer-a", 5)  # with another token of the same account
    assert process.polls(["planner-a", "worker-b"]) == (5,)
    assert process.polls(["planner-a", "reviewer-a"]) == ()


def test_a_file_that_is_being_written_counts_nobody_twice(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    first, second = beside(tmp_path, clock, "worker-a", 7), beside(tmp_path, clock, "worker-b", 1)
    (place,) = tmp_path.rglob("worker-a.json")
    clock.seconds += LOOK_SECONDS
    place.with_name(".worker-a.json").write_bytes(place.read_bytes())
    place.with_name(".worker-c.json").write_bytes(place.read_bytes())  # killed right then
    assert (second.polls(), first.polls()) == ((7,), (1,))
    clock.seconds += OLD_SECONDS + LOOK_SECONDS
    first.polls()
    assert not place.with_name(".worker-c.json").exists()


def test_a_clock_that_is_set_back_makes_no_ended_process_live_on(tmp_path: Path) -> None:
    clock = PassingClock(1_000_000.0)
    beside(tmp_path, clock, "worker-a", 7)
    clock.seconds -= 3600.0
    assert beside(tmp_path, clock, "worker-b", 1).polls() == ()


def test_a_file_that_cannot_be_read_counts_for_nothing_and_no_token_is_written(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    process = beside(tmp_path, clock, "worker-a", 1, account="https://api.github.com ghp_secret")
    (place,) = tmp_path.rglob("worker-a.json")
    for number, text in enumerate(("", "[]", "{}", '{"polls": "x", "at": 1000}', '{"polls": -9, "at": 1e3}')):
        (place.parent / f"broken-{number}.json").write_text(text)
    clock.seconds += LOOK_SECONDS
    assert process.polls() == ()
    assert "ghp_secret" not in place.read_text() + str(place)
    assert place.parent.stat().st_mode & 0o077 == 0


def test_a_directory_that_cannot_be_read_just_now_changes_no_count(tmp_path: Path) -> None:
    clock = PassingClock(1000.0)
    beside(tmp_path, clock, "worker-b", 7)
    process = beside(tmp_path, clock, "worker-a", 1)
    clock.seconds += LOOK_SECONDS
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))  # no more files can be opened
    try:
        assert process.polls() == (7,)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_directory_that_cannot_be_written_keeps_nobody_from_polling(tmp_path: Path) -> None:
    (tmp_path / "polls").write_text("a file")
    assert beside(tmp_path, PassingClock(1000.0), "worker-a", 1).polls() == ()
