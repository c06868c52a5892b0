"""Answers made from the coder's own lines, and their text for people."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.git.notes import RemarkAnswer
from shared.github.status import Status
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from worker_agent.feedback import answers, status_text
from worker_agent.feedback.items import Item, Remark

AT = datetime(2026, 1, 5, 10, 32, tzinfo=UTC)
ADA = Account(7, "ada")
KEYS = Keyring(99)
SHA = "c" * 40
FENCE = Fence(ItemKey(Role.WORKER, 42), 7, "a" * 32, "worker-1", Stage.TESTING, AT, pr=57, round=2)


def item(id: int, text: str = "Why?", root: int = 0) -> Item:
    return Item((Remark(f"t{id}", "5-abc", ADA, AT, text),), root)


def test_each_answer_is_found_by_its_number_however_it_is_decorated() -> None:
    said = (
        "I did 3 things.\n1. Looked at it.\n\n**1**: done: Renamed it.\n- 2: not done: It is public.\n"
        "3) Not changed – asked elsewhere\n4. **done**: Described\n5: 7: done: nobody asked\n8: done: no such item"
    )
    found = [
        (one.of, one.done, one.said) for one in answers.answers([item(n) for n in range(1, 7)], said, changed=True)
    ]
    assert found == [
        (("t1@5-abc",), True, "Renamed it."),
        (("t2@5-abc",), False, "It is public."),
        (("t3@5-abc",), False, "asked elsewhere"),
        (("t4@5-abc",), True, "Described"),
        (("t5@5-abc",), True, "7: done: nobody asked"),
        (("t6@5-abc",), True, ""),
    ]


@pytest.mark.parametrize(
    ("count", "said", "explained"),
    [
        (1, "1: not done: It is so already.", True),
        (2, "1: not done: No.\n2: not done: No.", True),
        (2, "1: not done: No.", False),
        (1, "1: done: Did it.", False),
        (1, "1: not done:", False),
        (1, "It is wrong.", False),
        (0, "", False),
    ],
)
def test_a_change_of_nothing_needs_a_reason_for_everything(count: int, said: str, explained: bool) -> None:
    assert answers.explains([item(n) for n in range(1, count + 1)], said) is explained


def test_nothing_counts_as_done_without_a_change_and_a_single_item_needs_no_number() -> None:
    (claimed,) = answers.answers([item(1)], "1: done: Did it.", changed=False)
    assert not claimed.done
    (alone,) = answers.answers([item(1)], "It says it all\nnow.", changed=True)
    assert (alone.done, alone.said) == (True, "It says it all now.")
    assert [one.said for one in answers.answers([item(1), item(2)], "It says it all now.", changed=True)] == ["", ""]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (RemarkAnswer(("c1@5-a",), 1, "", True, "Renamed, @grace. Closes #5"), "Fixed in ccccccc: Renamed, "),
        (RemarkAnswer(("c1@5-a",), 1, "", True, ""), "Changed in ccccccc."),
        (RemarkAnswer(("c1@5-a",), 1, "", False, "It is public."), "Not changed: It is public."),
        (RemarkAnswer(("c1@5-a",), 1, "", False, ""), "Not changed."),
    ],
)
def test_a_reply_names_what_it_answers_and_the_commit(answer: RemarkAnswer, sentence: str) -> None:
    mark, text = answers.reply(57, answer, SHA, KEYS).split("\n", 1)
    assert mark == "<!-- engine-answer/1 of=c1@5-a mac=none -->"
    assert text.startswith(sentence)
    assert "@grace" not in text
    assert "Closes #5" not in text


def test_the_conversation_is_answered_in_one_comment_that_quotes_each_text() -> None:
    given = answers.answers(
        [item(1, "Rename\nit, <!-- ACK --> please. " + "x" * 300), item(2, "/approve")],
        "1: done: Renamed.\n2: not done: No.",
        changed=True,
    )
    body = answers.conversation(57, given, SHA, KEYS)
    mark, text = body.split("\n", 1)
    assert mark == "<!-- engine-answer/1 of=t1@5-abc,t2@5-abc mac=none -->"
    first, done, second, left = text.split("\n\n")
    assert first.startswith("> ada: Rename it, please. xxx")
    assert len(first) < 200
    assert (done, left) == ("Fixed in ccccccc: Renamed.", "Not changed: No.")
    assert second.startswith("> ada: ")


def engines(id: int) -> Item:
    """Return the text of the engine's own review."""
    return Item((Remark(f"r{id}", "5-abc", ADA, AT, "**Changes requested**", by_engine=True),))


def test_what_has_nothing_to_say_is_covered_by_what_has() -> None:
    items = [engines(1), item(2, root=9), item(3)]
    given = answers.answers(items, "1: done: all of it.\n2: done: Renamed.", changed=True)
    (spoken,) = answers.spoken(given)
    assert (spoken.root, spoken.said) == (9, "Renamed.")
    assert spoken.of == ("t2@5-abc", "r1@5-abc", "t3@5-abc")


def test_a_review_without_threads_is_answered_without_a_quote() -> None:
    given = answers.spoken(answers.answers([engines(1)], "1: done: Described it.", changed=True))
    body = answers.conversation(57, given, SHA, KEYS)
    assert body.split("\n", 1)[1] == "Fixed in ccccccc: Described it."


def test_where_nobody_says_anything_one_answer_names_the_commit() -> None:
    given = answers.answers([item(1), item(2, root=9)], "", changed=True)
    (spoken,) = answers.spoken(given)
    assert (spoken.root, spoken.of) == (9, ("t2@5-abc", "t1@5-abc"))
    assert answers.reply(57, spoken, SHA, KEYS).endswith("\nChanged in ccccccc.")
    assert answers.spoken(()) == ()


@pytest.mark.parametrize(
    ("late", "again", "sentence", "why"),
    [
        (0, False, "Round 2 on #57: 2 remarks answered, 1 with a change. Waiting for CI.", "ci"),
        (1, True, "1 with a change. 1 remark came meanwhile: the next round begins.", "feedback"),
        (3, False, "3 remarks came meanwhile: ask for another round, or decide. Waiting for CI.", "ci"),
    ],
)
def test_the_status_says_what_was_answered_and_what_follows(late: int, again: bool, sentence: str, why: str) -> None:
    given = (RemarkAnswer(("t1@5-a",), 0, "", True, ""), RemarkAnswer(("t2@5-a",), 0, "", False, ""))
    status = status_text.answered(FENCE, given, late, again=again)
    assert status.sentence.endswith(sentence)
    assert ("Review round", "2") in status.rows
    assert status.data["waiting"] == {"why": why}


def test_what_nobody_heeds_is_counted_by_reason() -> None:
    status = Status("CI is green.", (("Stage", "reviewing"),), {"stage": "reviewing"})
    assert status_text.with_ignored(status, ()) == status
    ignored = [(f"t{n}", "no write access") for n in range(30)] + [("c5", "feedback.bots does not name it")]
    shown = status_text.with_ignored(status, ignored)
    assert shown.rows[1] == ("Ignored remarks", "1 (feedback.bots does not name it), 30 (no write access)")
    assert shown.data["ignored"][-1] == {"id": "c5", "why": "feedback.bots does not name it"}
    assert len(shown.data["ignored"]) == status_text.LISTED
