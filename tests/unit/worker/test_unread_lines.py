"""Notes about lines that name an issue and were not understood."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shared.github.status import Status
from shared.lock.write_permit import Notice, WritePermit
from shared.models import Account, Issue
from worker_agent.intake.noted_status import LINE_CHARS, MOST_NOTED, TOLD, NotedStatus, note_text

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def issue(body: str, number: int = 1) -> Issue:
    return Issue(number, "Title", body, frozenset(), Account(1, "ada"), THEN, THEN)


class Board:
    """A board that keeps the notes that were shown last."""

    def __init__(self) -> None:
        self.notes = ""

    async def data(self, number: int) -> Mapping[str, Any]:
        return {"number": number}

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        self.notes = status.notes


def test_a_line_that_was_not_understood_is_quoted_with_what_to_write() -> None:
    said = note_text(issue("Hängt von #12 ab.\nDepends on #3"), 0)
    assert said.startswith("**Nothing waits for the issues that these lines name.**")
    assert "`Depends on #`" in said
    assert said.endswith("\n\n> Hängt von #12 ab.")
    assert note_text(issue("Depends on #3"), 0) == ""


def test_long_texts_are_told_shortly_and_do_nothing() -> None:
    said = note_text(issue("\n".join(f"Nach #{number} @ada {'x' * 500}" for number in range(1, 9))), 0)
    assert "@ada" not in said
    assert said.count("\n> Nach") == TOLD
    assert said.endswith(f"> and {8 - TOLD} more")
    assert max(map(len, said.splitlines())) < LINE_CHARS + 100


async def test_every_word_about_the_issue_ends_with_it_until_the_text_is_another_one() -> None:
    board = Board()
    noted, notice = NotedStatus(board, lambda issue: 0), Notice(1, "test")
    noted.seen(issue("Hängt von #12 ab."))
    await noted.show(1, Status("Working.", notes="- one"), notice)
    assert board.notes.startswith("- one\n\n**Nothing waits")
    await noted.show(2, Status("Working.", notes="- two"), notice)
    assert board.notes == "- two"
    noted.seen(issue("Depends on #12"))
    await noted.show(1, Status("Working."), notice)
    assert (board.notes, await noted.data(1)) == ("", {"number": 1})


async def test_an_issue_of_long_ago_has_its_note_again_when_it_was_read_again() -> None:
    board = Board()
    noted = NotedStatus(board, lambda issue: 0)
    for number in range(MOST_NOTED + 1):
        noted.seen(issue("Hängt von #12 ab.", number))
    notes = []
    for number in (0, 1):
        await noted.show(number, Status("Working."), Notice(number, "test"))
        notes.append(board.notes)
    noted.seen(issue("Hängt von #12 ab.", 0))
    await noted.show(0, Status("Working."), Notice(0, "test"))
    assert (notes[0], board.notes) == ("", notes[1])
    assert "Nothing waits" in board.notes


async def test_images_are_told_of_as_far_as_no_coder_sees_them() -> None:
    one = note_text(issue("![a form](https://example.org/form.png)"), 1)
    assert one == "**The image of this issue was not shown to any coder:** put into words what matters in it."
    two = issue("Hängt von #12 ab.\n\n![a](b)\n<img src='c'>")
    assert note_text(two, 2).startswith("**Nothing waits for the issues")
    assert "\n\n**The 2 images of this issue were not shown" in note_text(two, 2)
    assert "\n\n**1 of the 2 images of this issue was not shown" in note_text(two, 1)
    assert "image" not in note_text(two, 0)
    board, shown = Board(), {1: 1}
    noted = NotedStatus(board, lambda issue: shown[issue.number])
    noted.seen(issue("![a](b)"))
    await noted.show(1, Status("Working."), Notice(1, "test"))
    assert "not shown to any coder" in board.notes
    shown[1] = 0
    await noted.show(1, Status("Working."), Notice(1, "test"))
    assert board.notes == "", "it is told as it is then"
