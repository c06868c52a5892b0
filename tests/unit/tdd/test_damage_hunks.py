"""Pieces of a change are taken back one at a time; a piece that takes names away is loud."""

from __future__ import annotations

import pytest

from worker_agent.tdd.damage.code import damages
from worker_agent.tdd.damage.model import Damage, DamageKind

BASE = "import os\n\n\ndef f(a):\n    b = a\n    return b\n\n\ndef g(a):\n    return f(a)\n"


def hunks(path: str, base: str, head: str) -> list[Damage]:
    found = damages({path: base.encode()}, {path: head.encode()})
    return [damage for damage in found if damage.kind is DamageKind.HUNK]


def test_each_block_is_taken_back_by_itself() -> None:
    head = BASE.replace("b = a", "b = a + 1").replace("return f(a)", "return f(a) or None")
    one, two = hunks("a.py", BASE, head)
    assert one.content.decode() == head.replace("b = a + 1", "b = a")
    assert two.content.decode() == head.replace("return f(a) or None", "return f(a)")
    assert (one.function, one.line, one.quiet, one.what) == ("f", 5, True, "line 5 as before the change")
    assert (two.function, two.line, two.quiet) == ("g", 10, True)


def test_a_removed_line_comes_back() -> None:
    head = BASE.replace("    b = a\n    return b\n", "    return a\n").replace("import os\n\n\n", "")
    found = hunks("a.py", BASE, head)
    assert [damage.what for damage in found] == ["what was removed at line 1 came back", "line 2 as before the change"]
    assert [damage.direct for damage in found] == [False, True]


@pytest.mark.parametrize(
    "head",
    [
        BASE + "\n\ndef new(a):\n    return a\n",
        BASE.replace("import os", "import os\nimport sys"),
        BASE.replace("import os", "import os\n\nLIMIT = 3"),
        BASE.replace("def f(a):", "def f(a, more=None):"),
        BASE.replace("    b = a\n", "    b = a\n    f.seen = a\n"),
        BASE + "\n\nclass New:\n    pass\n",
    ],
)
def test_taking_a_name_away_is_loud(head: str) -> None:
    assert [damage.quiet for damage in hunks("a.py", BASE, head)] == [False]


def test_a_name_that_is_still_used_elsewhere_is_loud() -> None:
    head = BASE.replace("    b = a\n    return b", "    c = a\n    more(a)\n\n    b = a\n    return b and c")
    assert [damage.quiet for damage in hunks("a.py", BASE, head)] == [False, True]


def test_bringing_back_the_use_of_a_removed_name_is_loud() -> None:
    head = BASE.replace("def f(a)", "def renamed(a)").replace("return f(a)", "return renamed(a)")
    assert [damage.quiet for damage in hunks("a.py", BASE, head)] == [False, False]


def test_documentation_and_types_are_no_hunks() -> None:
    head = BASE.replace("def f(a):", "def f(a: int) -> int:\n    '''Doc.'''").replace("import os", "# note\nimport os")
    assert hunks("a.py", BASE, head) == []


def test_what_does_not_parse_is_left_out() -> None:
    base = "def f(a):\n    return a\n"
    head = "def f(a):\n    if a:\n        return a\n\n    return 2\n"
    assert all(
        damage.content.decode() != "def f(a):\n    if a:\n    return a\n" for damage in hunks("a.py", base, head)
    )


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("a.css", "a { color: red }\n", "a { color: blue }\n"),
        ("a.html", "<a>\n</a>\n", "<a>\nnew\n</a>\n"),
        ("schema.sql", "select 1;\n", "select 2;\n"),
        ("data.json", '{"a": 1}\n', '{"a": 2}\n'),
        ("run.sh", "echo a\n", "echo b\n"),
    ],
)
def test_files_of_other_languages_are_taken_back(path: str, base: str, head: str) -> None:
    found = damages({path: base.encode()}, {path: head.encode()})
    assert [(damage.kind, damage.quiet) for damage in found] == [(DamageKind.HUNK, True)]
    assert found[0].content.decode() == base


def test_a_new_file_of_another_language_loses_paragraphs() -> None:
    found = damages({}, {"a.css": b"a { b: c }\n\nd { e: f }\n"})
    assert [damage.content for damage in found] == [b"\nd { e: f }\n", b"a { b: c }\n\n"]
    assert damages({}, {"a.css": b"\n"}) == ()


def test_bytes_that_are_no_text_are_kept() -> None:
    found = damages({"a.bin": b"\xff\x00\nold\n"}, {"a.bin": b"\xff\x00\nnew\n"})
    assert [damage.content for damage in found] == [b"\xff\x00\nold\n"]
