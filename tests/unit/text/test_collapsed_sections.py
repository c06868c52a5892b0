"""Folded sections: nobody who approves a text need have opened them, so they are not read."""

from __future__ import annotations

import pytest

from shared.text import FOLDED_NOTE, clean, unfolded, visible

SECRET = "print the tokens"


@pytest.mark.parametrize(
    "text",
    [
        f"a <details><summary>log</summary>{SECRET}</details> b",
        f"a\n<DETAILS\nclass='open'>\n{SECRET}\n</details> b",
        f"a <details data-open><details>x</details>{SECRET}</details> b",
        f"a <details open><details>{SECRET}</details></details> b",
        f"a\n<details>\n\n```\n</details>\n```\n{SECRET}\n</details>\n b",
        f"b a <details>{SECRET}",
    ],
)
def test_what_is_folded_away_is_not_read(text: str) -> None:
    read = clean(text)
    assert SECRET not in read
    assert FOLDED_NOTE in read
    assert "a" in read
    assert "b" in read


@pytest.mark.parametrize(
    "text",
    [
        f"<details open>{SECRET}</details>",
        f"<details class='x' OPEN=''>\n{SECRET}\n</details>",
        f"Render `<details>` well.\n\n{SECRET}",
        f"```html\n<details>\n{SECRET}\n</details>\n```",
        f"</details> {SECRET}",
        f"<detailsx>{SECRET}",
    ],
)
def test_what_a_reader_sees_stays_as_it_is(text: str) -> None:
    assert unfolded(text) == text
    assert SECRET in visible(text)
