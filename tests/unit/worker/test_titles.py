"""The counter of tries in a title: what is shown, what is left alone, and what an approval is bound to."""

from __future__ import annotations

import pytest

from shared.specification import body_sha256, plain_title
from worker_agent.titles import TITLE_LIMIT, counted

LONG = "x" * (TITLE_LIMIT - 5)


@pytest.mark.parametrize(
    ("title", "attempt", "shown"),
    [
        ("Add search", "2/5", "Add search | attempt 2/5"),
        ("Add search | attempt 1/5", "2/5", "Add search | attempt 2/5"),
        ("Add search | attempt 2/5", "", "Add search"),
        ("Add search", "", "Add search"),
        (LONG, "1/3", LONG),
        ("Thanks @ada", "1/3", "Thanks @ada"),
        ("Rotate ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", "1/3", "Rotate ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"),
    ],
    ids=["first", "next", "end", "none", "too long", "would be changed", "would be hidden"],
)
def test_the_counter_follows_the_attempt_and_never_costs_a_word_of_the_title(
    title: str, attempt: str, shown: str
) -> None:
    assert counted(title, attempt) == shown


def test_the_counter_is_no_edit_of_what_was_approved() -> None:
    approved = body_sha256("Add search", "Please.")
    assert body_sha256("Add search | attempt 2/5", "Please.") == approved
    assert body_sha256("Add a search | attempt 2/5", "Please.") != approved
    assert body_sha256("Add search | attempt two", "Please.") != approved


@pytest.mark.parametrize("title", ["Retry | attempt 2/5 of it", "attempt 2/5", "A | attempt 2", "A | attempt 2/5x"])
def test_only_a_counter_at_the_end_is_one(title: str) -> None:
    assert plain_title(title) == title
