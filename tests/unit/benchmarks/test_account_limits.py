"""Accounts against their limits: the requests of agents that were told to wait, and the busiest minute."""

from __future__ import annotations

import pytest

from benchmarks.fleet import begun_and_ended_within, busiest, limits, too_early
from benchmarks.request_counts import Exchange, wait_asked

COMMENT = "/repos/a/b/issues/1/comments"
ISSUES = "/repos/a/b/issues"
REFUSED = Exchange("POST", COMMENT, 403, "one", 99.9, 100.0, 60.0)


@pytest.mark.parametrize(
    ("later", "early"),
    [
        (Exchange("GET", ISSUES, 200, "one", 130.0, 130.1), 1),
        (Exchange("POST", COMMENT, 201, "one", 130.0, 130.1), 1),
        (Exchange("GET", ISSUES, 200, "two", 130.0, 130.1), 0),  # another account's
        (Exchange("GET", ISSUES, 200, "one", 130.0, 130.1, agent="worker-2"), 0),  # another process
        (Exchange("GET", ISSUES, 200, "one", 100.2, 100.3), 0),  # left before the refusal was read
        (Exchange("GET", ISSUES, 200, "one", 160.0, 161.0), 0),
        (Exchange("POST", "/a/b.git/git-upload-pack", 200, "one", 130.0, 130.1), 0),  # git has limits of its own
        (Exchange("GET", "/rate_limit", 200, "one", 130.0, 130.1), 0),
    ],
)
def test_who_goes_on_when_told_to_wait_is_counted(later: Exchange, early: int) -> None:
    assert too_early([REFUSED, later]) == early
    assert too_early([later]) == 0


def test_a_read_that_the_hour_refuses_is_a_reason_to_wait_and_a_missing_right_is_none() -> None:
    used_up = Exchange("GET", ISSUES, 403, "one", 99.9, 100.0, 1200.0)
    no_right = Exchange("GET", ISSUES, 403, "one", 99.9, 100.0)
    last_one = Exchange("GET", ISSUES, 200, "one", 99.9, 100.0, 1200.0)
    later = Exchange("GET", ISSUES, 200, "one", 900.0, 900.1)
    assert [too_early([one, later]) for one in (used_up, no_right, last_one)] == [1, 0, 0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "60"}, 60.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90", "Date": "Thu, 01 Jan 1970 00:01:00 GMT"}, 30.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30", "Date": "Thu, 01 Jan 1970 00:01:00 GMT"}, 0.0),
        ({"X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "90", "Date": "Thu, 01 Jan 1970 00:01:00 GMT"}, 0.0),
        ({}, 0.0),
    ],
)
def test_an_answer_tells_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    assert wait_asked(headers) == seconds


def test_the_busiest_minute_may_begin_at_any_second() -> None:
    assert busiest([10.0, 0.0, 65.0, 69.9, 70.0]) == 3
    assert busiest([10.0, 0.0, 65.0, 69.9, 70.0], 3600.0) == 5
    assert busiest([]) == 0


def test_what_the_server_may_have_counted_later_is_not_put_into_an_earlier_minute() -> None:
    spans = [(0.0, 1.0), (58.0, 59.9), (59.9, 60.5)]
    exchanges = [Exchange("POST", COMMENT, 201, "one", asked, answered) for asked, answered in spans]
    assert begun_and_ended_within(exchanges, 60.0) == 2
    assert begun_and_ended_within(exchanges, 60.6) == 3
    assert begun_and_ended_within([], 60.0) == 0


def test_each_account_stands_to_its_own_limits() -> None:
    made = [Exchange("POST", COMMENT, 201, token, at, at) for token, at in (("one", 0.0), ("one", 30.0), ("two", 31.0))]
    hour = Exchange("GET", ISSUES, 403, "two", 200.0, 200.0, 1200.0)
    stranger = Exchange("GET", ISSUES, 200, "three", 201.0, 201.0)
    owners = {"one": "engine-a", "two": "engine-b"}
    labels = Exchange("POST", "/graphql", 200, "one", 31.0, 31.0)
    rows = limits([*made, REFUSED, hour, stranger, labels], owners, issues=5, creations_per_minute=15)
    found = {row.what: row.measured for row in rows}
    assert found["most creations of one account in a minute"] == 2
    assert found["creations refused"] == 1
    assert found["other requests refused"] == 1
    assert found["charged requests of the busiest account in an hour"] == 3
    assert found["operations of GraphQL of the busiest account in an hour"] == 1
    assert found["charged requests per issue"] == 1.0
    assert found["creations per issue"] == 0.6


def test_a_write_is_five_points_and_what_is_not_charged_is_one() -> None:
    asked = [("GET", ISSUES, 304), ("POST", COMMENT, 201), ("GET", "/rate_limit", 200), ("POST", "/graphql", 200)]
    git = Exchange("POST", "/a/b.git/git-upload-pack", 200, "one", 3.0, 3.0)
    seen = [Exchange(method, path, status, "one", 1.0, 1.0) for method, path, status in asked]
    rows = {row.what: row for row in limits([*seen, git], {"one": "engine-a"}, issues=1, creations_per_minute=15)}
    points = rows["points of the busiest account in a minute"]
    assert (points.measured, points.verdict) == (6, "held")


def test_where_nobody_made_anything_no_limit_was_reached() -> None:
    rows = {row.what: row.measured for row in limits([], {}, issues=1, creations_per_minute=15)}
    assert rows["most creations of one account in a minute"] == 0
    assert rows["requests of a process that was told to wait"] == 0
