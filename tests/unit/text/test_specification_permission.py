"""An existing test goes only by the word of the specification: listed, or called by its name."""

from __future__ import annotations

import pytest

from shared.specification import Criterion, Specification, read

FILE = "tests/test_users.py"


@pytest.mark.parametrize(
    ("listed", "name", "allowed"),
    [
        (FILE, "test_search", True),
        (f"./{FILE}", "test_search", True),
        (f"{FILE}::test_search", "test_search", True),
        (f"{FILE}::test_search", "test_search[ada]", True),
        (f"{FILE}::test_search[ada]", "test_search[ada]", True),
        (f"{FILE}::test_search[ada]", "test_search[bob]", False),
        (f"{FILE}::TestSearch", "TestSearch::test_name", True),
        (f"{FILE}::search", "search > by name", True),
        (f"{FILE}::test_search", "test_search_by_name", False),
        ("test_search", "test_search", True),
        ("tests/test_other.py", "test_search", False),
        ("tests/test_other.py::test_search", "test_search", False),
        ("test_users.py::test_search", "test_search", True),
        ("tests", "test_search", False),
    ],
)
def test_what_is_listed_may_go(listed: str, name: str, allowed: bool) -> None:
    assert Specification("Change it.", may_change=(listed,)).allows(FILE, name) is allowed


@pytest.mark.parametrize(
    ("text", "name", "allowed"),
    [
        ("test_search goes.", "test_search", True),
        ("The test `test_search` goes.", "test_search", True),
        ("Without `test_search()`.", "test_search", True),
        ("Remove test_search().", "test_search", True),
        (f"Remove {FILE}::test_search.", "test_search", True),
        ("Remove test_users.py::test_search.", "test_search", True),
        ("TestUsers::test_search goes.", "TestUsers::test_search", True),
        ("TestUsers.test_search goes.", "TestUsers::test_search", True),
        ("test_search goes.", "TestUsers::test_search", True),
        ("TestTeams.test_search goes.", "TestUsers::test_search", False),
        ("TestTeams::test_search goes.", "TestUsers::test_search", False),
        ("tests/test_teams.py::test_search goes.", "test_search", False),
        ("test_search goes.", "test_search[ada]", True),
        ("testSearch goes.", "testSearch", True),
        ("TestSearch goes.", "TestSearch", True),
        ("test_search_by_name goes.", "test_search", False),
        ("my_test_search goes.", "test_search", False),
        ("tests/test_search.py is not touched.", "test_search", False),
        ("test_search.py is not touched.", "test_search", False),
        ("test_search/ is not touched.", "test_search", False),
        ("An empty search returns no user.", "returns no user", False),
        ("An empty search returns no user.", "search > returns no user", False),
        ('The test "returns no user" goes.', "search > returns no user", True),
        ("The test `returns no user` goes.", "returns no user", True),
        ("The test 'search > returns no user' goes.", "search > returns no user", True),
        ("The test “returns no user” goes.", "returns no user", True),
        ("It works.", "works", False),
        ("Search works.", "Search", False),
        ("`works` goes.", "works", True),
        ("It isn't 'nt works' here.", "works", False),
        ("```\nFAILED tests/test_users.py::test_search\n```\nFix it.", "test_search", False),
        ("Fix it.", "test_search", False),
    ],
)
def test_what_is_called_by_its_name_may_go(text: str, name: str, allowed: bool) -> None:
    assert Specification(text).allows(FILE, name) is allowed
    if "```" not in text:
        assert Specification("Do it.", (Criterion("AC1", text),)).allows(FILE, name) is allowed


def test_what_is_out_of_scope_allows_nothing() -> None:
    assert not Specification("Do it.", out_of_scope=("test_search",), files=(FILE,)).allows(FILE, "test_search")


def test_the_words_of_an_issue_are_what_counts() -> None:
    found = read(f"## Goal\nUsers go.\n\n## Tests that may change\n- `{FILE}::test_search` goes with them\n")
    assert found.allows(FILE, "test_search")
    assert not found.allows(FILE, "test_other")
