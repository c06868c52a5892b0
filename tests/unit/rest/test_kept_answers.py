"""Answers over a restart: each caller's own, bounded, and no more than a cache."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.github.kept_answers import KEPT_SECONDS, MAX_BYTES, KeptAnswer, KeptAnswers

URL = "https://api.github.com/repos/o/r"
ANSWER = KeptAnswer('W/"1"', b'{"id": 7}', None, 5.0)


@dataclass
class Clock:
    """A wall clock that stands still."""

    wall: float = 1_800_000_000.0

    def now(self) -> float:
        return self.wall

    def boot(self) -> float:
        raise AssertionError("not asked")

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")


def opened(directory: Path, who: str = "me", clock: Clock | None = None) -> KeptAnswers:
    return KeptAnswers(directory / "answers" / "answers.db", who, clock or Clock())


def test_the_next_process_knows_what_was_answered_last(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.keep(URL, ANSWER)
    first.keep(URL, KeptAnswer('W/"2"', b"[]", f"{URL}?page=2", 5.0))
    first.close()
    assert opened(tmp_path).find(URL) == KeptAnswer('W/"2"', b"[]", f"{URL}?page=2", 5.0)
    assert opened(tmp_path).find(f"{URL}/labels") is None


def test_nobody_is_given_what_another_was_told(tmp_path: Path) -> None:
    opened(tmp_path).keep(URL, ANSWER)
    assert opened(tmp_path, "you").find(URL) is None


def test_what_tells_the_caller_is_not_written_down(tmp_path: Path) -> None:
    token = "ghp_" + "Ab1" * 12
    kept = opened(tmp_path, token)
    kept.keep(URL, ANSWER)
    files = list((tmp_path / "answers").iterdir())
    assert files
    for file in files:
        assert token[:20].encode() not in file.read_bytes(), file.name
    kept.close()


def test_other_accounts_of_the_machine_cannot_read_it(tmp_path: Path) -> None:
    opened(tmp_path).keep(URL, ANSWER)
    file = tmp_path / "answers" / "answers.db"
    assert (file.stat().st_mode & 0o077, file.parent.stat().st_mode & 0o077) == (0, 0)


def test_nothing_is_made_before_there_is_something_to_keep(tmp_path: Path) -> None:
    kept = opened(tmp_path)
    kept.keep(URL, KeptAnswer("", b"{}", None, 5.0))
    kept.keep(URL, KeptAnswer('"1"', b"x" * (MAX_BYTES + 1), None, 5.0))
    assert list(tmp_path.iterdir()) == []


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    one.keep(URL, ANSWER)
    other.keep(f"{URL}/labels", ANSWER)
    assert one.find(f"{URL}/labels") == other.find(URL) == ANSWER


def test_what_is_busy_is_no_answer_and_is_used_again_later(tmp_path: Path) -> None:
    kept = opened(tmp_path)
    kept.keep(URL, ANSWER)
    other = sqlite3.connect(tmp_path / "answers" / "answers.db")
    other.execute("BEGIN IMMEDIATE")
    kept.keep(URL, KeptAnswer('"3"', b"", None, 5.0))
    other.rollback()
    other.close()
    assert kept.find(URL) == ANSWER


@pytest.mark.parametrize("damage", ["text", "body"])
def test_a_broken_file_costs_full_readings_and_is_replaced_at_the_next_start(tmp_path: Path, damage: str) -> None:
    kept = opened(tmp_path)
    kept.keep(URL, ANSWER)
    kept.close()
    file = tmp_path / "answers" / "answers.db"
    if damage == "text":
        file.write_bytes(b"no database at all, but text of a person" * 100)
    else:
        with sqlite3.connect(file) as broken:
            broken.execute("UPDATE readings SET body = ?", (b"no such form",))
        broken.close()
    kept = opened(tmp_path)
    assert kept.find(URL) is None
    kept.keep(URL, ANSWER)
    assert kept.find(URL) is None, "not used any more by this process"
    later = opened(tmp_path)
    later.keep(URL, ANSWER)
    assert later.find(URL) == ANSWER


def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("a file", encoding="utf-8")
    kept = opened(tmp_path)
    kept.keep(URL, ANSWER)
    assert kept.find(URL) is None


def test_what_nobody_asked_for_in_a_month_goes(tmp_path: Path) -> None:
    clock = Clock()
    kept = opened(tmp_path, clock=clock)
    kept.keep(URL, ANSWER)
    kept.keep(f"{URL}/labels", ANSWER)
    kept.close()
    clock.wall += KEPT_SECONDS - 1
    again = opened(tmp_path, clock=clock)
    assert again.find(URL) == ANSWER
    again.close()
    clock.wall += 2
    last = opened(tmp_path, clock=clock)
    assert last.find(f"{URL}/labels") is None
    assert last.find(URL) == ANSWER, "it was asked for since"


def test_there_are_never_too_many(tmp_path: Path) -> None:
    clock = Clock()
    kept = opened(tmp_path, clock=clock)
    for number in range(5):
        clock.wall += 1
        kept.keep(f"{URL}/{number}", ANSWER)
    kept.close()
    again = KeptAnswers(tmp_path / "answers" / "answers.db", "me", clock, most=3)
    assert [number for number in range(5) if again.find(f"{URL}/{number}")] == [2, 3, 4]


def test_a_process_that_never_restarts_keeps_few_more(tmp_path: Path) -> None:
    clock = Clock()
    kept = KeptAnswers(tmp_path / "answers" / "answers.db", "me", clock, most=3)
    for number in range(10):
        clock.wall += 1
        kept.keep(f"{URL}/{number}", ANSWER)
    assert [number for number in range(10) if kept.find(f"{URL}/{number}")] == [6, 7, 8, 9], "pruned at the ninth"


def test_a_file_that_is_busy_in_any_way_is_used_again(tmp_path: Path) -> None:
    kept = opened(tmp_path)
    kept.keep(URL, ANSWER)

    def overtaken(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM readings").fetchall()
        opened(tmp_path, "you").keep(URL, ANSWER)
        connection.execute("DELETE FROM readings")  # SQLITE_BUSY_SNAPSHOT

    assert kept._in_transaction(overtaken) is None
    assert kept.find(URL) == ANSWER
