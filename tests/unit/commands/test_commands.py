"""Commands in comments: what counts as said by a person, and what is only quoted, shown or mentioned."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.commands.command import Command, Verb, commands, unknown
from shared.models import Account, Comment

AT = datetime(2026, 1, 5, tzinfo=UTC)
ADA, BOT = Account(1, "ada"), Account(99, "engine-bot")


def comment(id: int, body: str, author: Account = ADA) -> Comment:
    return Comment(id, 7, author, body, AT, AT)


def said(body: str) -> tuple[Verb, str] | None:
    found = commands([comment(1, body)])
    return (found[0].verb, found[0].text) if found else None


@pytest.mark.parametrize("verb", Verb)
def test_every_verb_is_read(verb: Verb) -> None:
    assert said(f"/{verb}") == (verb, "")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("/reject it is too much", "it is too much"),
        ("  /reject  spaces  ", "spaces"),
        ("\n\n/reject\nfirst line\n\nsecond line", "first line\n\nsecond line"),
        ("/reject a\r\nb\r\n", "a\nb"),
        ("> earlier words\n\n/reject no", "no"),
        ("```\nlog\n```\n/reject because of this", "because of this"),
    ],
)
def test_what_follows_the_verb_is_its_text(body: str, text: str) -> None:
    assert said(body) == (Verb.REJECT, text)


@pytest.mark.fault(18)
@pytest.mark.parametrize(
    "body",
    [
        "",
        "approve",
        "I would /approve this",
        "Please:\n/approve",
        "/approved",
        "/approve-all",
        "/Approve",
        "//approve",
        "/launch",
        "> /approve",
        " > /approve",
        ">/approve",
        "    /approve",
        "\t/approve",
        "```\n/approve\n```",
        "```\n/approve",
        "~~~text\n/approve\n~~~",
        "````\n```\n/approve\n````",
        "```\n```python\n/approve\n```",
        "```\n~~~\n/approve\n```",
        "<!-- hidden -->\n/approve",
        "`/approve`",
    ],
)
def test_what_is_quoted_shown_or_mentioned_is_no_command(body: str) -> None:
    assert said(body) is None


def test_commands_come_in_the_order_of_the_comments_by_whatever_account() -> None:
    thread = [
        comment(1, "/approve"),
        comment(2, "/reject old"),
        comment(3, "thanks"),
        comment(4, "/merge", BOT),
        comment(5, "/edit shorter"),
        comment(6, "/retry"),
    ]
    assert commands(thread) == (
        Command(1, ADA, Verb.APPROVE, ""),
        Command(2, ADA, Verb.REJECT, "old"),
        Command(4, BOT, Verb.MERGE, ""),
        Command(5, ADA, Verb.EDIT, "shorter"),
        Command(6, ADA, Verb.RETRY, ""),
    )


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("/launch now", "launch"),
        ("/Merge", "Merge"),
        ("/RETRY\r\n\r\nThanks, all of you.", "RETRY"),
        ("/stop.", "stop."),
        ("/stop!\nIt is enough.", "stop!"),
        ("/stop", None),
        ("/stop it\nnow", None),
        ("/Approve-all of this\nand that", None),
        ("/Retry/again\nhere", None),
        ("> /Merge\n\nNo.", None),
        ("Please\n/Merge", None),
        ("/usr/bin is a place\nlike another", None),
    ],
)
def test_what_was_probably_meant_as_a_command_is_answered(body: str, word: str | None) -> None:
    assert [one.word for one in unknown([comment(1, body)])] == ([] if word is None else [word])
