"""Comments of people without write access: listed once in the status comment, and asked about no more than needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from status_thread import BOT, KEYS, US, FakeThread

from shared.commands.untrusted_comments import NO_WRITE, UntrustedComments
from shared.errors import Transient
from shared.github.status import Status, StatusBoard
from shared.github.status_record import MOST
from shared.models import Account, Comment, Permission
from shared.workflow import Role

AT = datetime(2026, 1, 5, tzinfo=UTC)
ADA, MALLORY = Account(1, "ada"), Account(2, "mallory")


@dataclass
class People:
    """Ada may write."""

    asked: list[str] = field(default_factory=list)
    down: bool = False

    async def permission(self, login: str) -> Permission:
        self.asked.append(login)
        if self.down:
            raise Transient("GitHub does not answer.")
        return Permission.WRITE if login == "ada" else Permission.READ


def comment(id: int, author: Account, body: str = "Hello.") -> Comment:
    return Comment(id, 7, author, body, AT, AT)


async def test_strangers_are_told_from_others_and_nobody_is_asked_about_the_engine() -> None:
    people = People()
    said = [comment(1, BOT), comment(2, ADA), comment(3, MALLORY), comment(4, MALLORY)]
    marked = comment(5, Account(3, "bob"), "<!-- engine-status/1 kind=worker n=7 rev=1 mac=none -->\nDone.")
    assert await UntrustedComments(people, {BOT.id}).ignored([*said, marked]) == [
        {"id": 3, "why": NO_WRITE},
        {"id": 4, "why": NO_WRITE},
    ]
    assert sorted(people.asked) == ["ada", "mallory"]


async def test_while_github_does_not_say_who_is_a_stranger_nothing_fails_and_nobody_is_listed() -> None:
    assert await UntrustedComments(People(down=True), {BOT.id}).ignored([comment(3, MALLORY)]) == ()


def board(thread: FakeThread, people: People) -> StatusBoard:
    strangers = UntrustedComments(people, {BOT.id})
    return StatusBoard(thread, Role.WORKER, {BOT.id}, KEYS, None, strangers.ignored)


async def listed(thread: FakeThread, people: People) -> Any:
    return (await board(thread, people).data(7)).get("ignored", [])


async def test_the_status_comment_lists_what_was_ignored_once_and_keeps_it() -> None:
    thread, people = FakeThread(), People()
    first = thread.add(7, "/approve", MALLORY).id
    await board(thread, people).show(7, Status("Working."), US)
    second = thread.add(7, "Please.", MALLORY).id
    for sentence in ("Still working.", "Still working.", "Done."):
        await board(thread, people).show(7, Status(sentence), US)
    assert [one["id"] for one in await listed(thread, people)] == [first, second]
    assert len(thread.writes) == 3, "the same status is not sent twice"


async def test_a_flood_of_comments_neither_grows_the_list_nor_edits_it_for_ever() -> None:
    thread, people = FakeThread(), People()
    ids = [thread.add(7, "Please.", MALLORY).id for _ in range(MOST + 9)]
    for _ in range(3):
        await board(thread, people).show(7, Status("Working."), US)
    assert [one["id"] for one in await listed(thread, people)] == ids[-MOST:]
    assert len(thread.writes) == 1
