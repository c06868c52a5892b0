"""Names that callers may use and that a change takes away."""

from __future__ import annotations

import pytest

from reviewer_agent.review.review_input import is_public, removed

MODULE = """\
import os
LIMIT = 3
_hidden = 4

def search(text, _key=None): ...

def _own(): ...

class User:
    name: str = ""
    def rename(self): ...
    def _own(self): ...

if os.name == "nt":
    async def windows(): ...
"""


@pytest.mark.parametrize(
    ("path", "public"),
    [
        ("directory/search.py", True),
        ("directory/__init__.py", True),
        ("src/index.ts", True),
        ("directory/_search.py", False),
        ("directory/_own/search.py", False),
        ("tests/helpers.py", False),
        ("directory/test_search.py", False),
        ("src/search.test.ts", False),
        ("conftest.py", False),
        ("README.md", False),
        (".github/run.py", False),
    ],
)
def test_which_files_others_can_call(path: str, public: bool) -> None:
    assert is_public(path) is public


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("def search(", "def find(", ("search",)),
        ("def search(text", "def search(wanted", ()),
        ("class User", "class Person", ("User", "User.name", "User.rename")),
        ("def rename", "def call", ("User.rename",)),
        ("    name: str", "    label: str", ("User.name",)),
        ("LIMIT = 3", "", ("LIMIT",)),
        ("LIMIT = 3", "from limits import LIMIT", ()),
        ("def _own(): ...\n\n", "", ()),
        ("_hidden = 4", "", ()),
        ("def windows", "def win", ("windows",)),
        ("LIMIT = 3", "LIMIT = (", ()),
    ],
)
def test_what_a_python_module_loses(old: str, new: str, gone: tuple[str, ...]) -> None:
    assert removed("directory/users.py", MODULE, MODULE.replace(old, new)) == gone


def test_a_module_that_is_gone_loses_everything_public() -> None:
    assert removed("a.py", MODULE, "") == ("LIMIT", "User", "User.name", "User.rename", "search", "windows")


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.ts", "export async function search(text: string) {", "search"),
        ("a.js", "export const LIMIT = 3;", "LIMIT"),
        ("a.go", "func (d *Directory) Search(text string) []User {", "Search"),
        ("a.rs", "pub fn search(text: &str) {", "search"),
        ("A.java", "public final class Search {", "Search"),
    ],
)
def test_what_other_languages_export(path: str, line: str, name: str) -> None:
    assert removed(path, f"{line}\n", "") == (name,)
    assert removed(path, f"{line}\n", f"// moved\n{line}\n") == ()


@pytest.mark.parametrize(("path", "line"), [("a.go", "func search() {"), ("a.ts", "function search() {")])
def test_what_nobody_outside_sees_is_no_loss(path: str, line: str) -> None:
    assert removed(path, line, "") == ()


def test_hostile_text_is_no_reason_to_stop() -> None:
    assert removed("a.py", "(" * 100_000, "") == ()
    assert removed("a.py", "x = 1\n" * 200_000, "") == ()
