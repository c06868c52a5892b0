"""Addresses, renames and server time: what the token may be shown to, and what is followed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.errors import Transient
from shared.github.address import ApiRoot, query, segment
from shared.github.calls import Moves, repository_id
from shared.github.errors import Moved
from shared.retry_times import http_date


@pytest.mark.parametrize(
    ("root", "url", "path"),
    [
        (
            "https://api.github.com",
            "https://api.github.com/repositories/1/issues?page=2",
            "/repositories/1/issues?page=2",
        ),
        ("https://api.github.com/", "/repositories/1", "/repositories/1"),
        ("https://ghe.example/api/v3", "https://ghe.example/api/v3/repositories/1", "/repositories/1"),
    ],
)
def test_a_url_of_this_server_becomes_its_path(root: str, url: str, path: str) -> None:
    assert ApiRoot(root).path(url) == path


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/repositories/1",
        "https://api.github.com.evil.example/x",
        "http://api.github.com/x",
        "https://api.github.com@evil.example/x",
        "//evil.example/x",
    ],
)
def test_any_other_server_is_refused(url: str) -> None:
    with pytest.raises(Transient, match="another server"):
        ApiRoot("https://api.github.com").path(url)


@pytest.mark.parametrize(
    ("root", "location", "allowed"),
    [
        ("https://api.github.com", "https://blob.example/log?sig=1", True),
        ("https://api.github.com", "http://blob.example/log", False),
        ("https://api.github.com", "http://127.0.0.1/log", False),
        ("http://127.0.0.1:8000", "http://127.0.0.1:9000/log", True),
        ("http://127.0.0.1:8000", "http://blob.example/log", False),
        ("http://127.0.0.1:8000", "/log", True),
    ],
)
def test_downloads_are_encrypted_or_local(root: str, location: str, allowed: bool) -> None:
    if allowed:
        assert ApiRoot(root).download(location).endswith(location)
    else:
        with pytest.raises(Transient, match="unsafe"):
            ApiRoot(root).download(location)


def test_a_query_keeps_its_order_and_leaves_out_what_is_not_given() -> None:
    local = datetime(2023, 11, 21, 12, 0, 0, 999, tzinfo=timezone(timedelta(hours=2)))
    assert query({"b": 1, "a": None, "since": local, "c": True}) == "?b=1&since=2023-11-21T10:00:00Z&c=true"
    assert query({"a": None}) == ""
    assert query({"labels": "good first/issue&x"}) == "?labels=good%20first%2Fissue%26x"
    assert segment("a/b ü?") == "a%2Fb%20%C3%BC%3F"


@pytest.mark.parametrize(
    ("path", "id"), [("/repositories/9", 9), ("/repositories/9/issues/1", 9), ("/repositories/9x", None), ("/x", None)]
)
def test_the_id_in_a_path(path: str, id: int | None) -> None:
    assert repository_id(path) == id


@pytest.mark.fault(13)
async def test_only_the_same_repository_is_followed() -> None:
    moves = Moves()

    async def nine(root: str) -> int | None:
        assert root == "/repos/o/r"
        return 9

    for sent, target in (
        ("/repos/o/r/issues/1", "/repositories/10/issues/5"),
        ("/repos/o/r/issues/1", "/repos/o/elsewhere/issues/5"),
        ("/repositories/9/issues/1", "/repositories/9/issues/1"),
    ):
        with pytest.raises(Moved):
            await moves.learn(sent, target, nine)
    assert moves.rewritten("/repos/o/r/issues/1") == "/repos/o/r/issues/1"
    await moves.learn("/repos/o/r/issues/1", "/repositories/9/issues/1", nine)
    assert moves.rewritten("/repos/O/R/issues/1?x=1") == "/repositories/9/issues/1?x=1"
    assert moves.rewritten("/repos/o/r2") == "/repos/o/r2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue, 21 Nov 2023 10:00:00 GMT", datetime(2023, 11, 21, 10, tzinfo=UTC)),
        ("Tue, 21 Nov 2023 12:00:00 +0200", datetime(2023, 11, 21, 10, tzinfo=UTC)),
        ("Tue, 21 Nov 2023 10:00:00", datetime(2023, 11, 21, 10, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_http_dates(text: str, expected: datetime | None) -> None:
    assert http_date(text) == expected
