"""The fleet's benchmark sees who goes on when told to wait, and how much an account made in a minute."""

from __future__ import annotations

import pytest

from benchmarks.fleet import ACCOUNTS, PAUSE_SECONDS, busiest, limits, too_early
from benchmarks.request_counts import Exchange

COMMENT = "/repos/a/b/issues/1/comments"
REFUSED = Exchange("POST", COMMENT, 403, "one", 99.9, 100.0)


@pytest.mark.parametrize(
    ("later", "early"),
    [
        (Exchange("GET", "/repos/a/b/issues", 200, "one", 130.0, 130.1), 1),
        (Exchange("POST", COMMENT, 201, "one", 130.0, 130.1), 1),
        (Exchange("GET", "/repos/a/b/issues", 200, "two", 130.0, 130.1), 0),  # another process
        (Exchange("GET", "/repos/a/b/issues", 200, "one", 100.2, 100.3), 0),  # left before the refusal was read
        (Exchange("GET", "/repos/a/b/issues", 200, "one", 100.0 + PAUSE_SECONDS, 161.0), 0),
        (Exchange("POST", "/a/b.git/git-upload-pack", 200, "one", 130.0, 130.1), 0),  # git has limits of its own
        (Exchange("GET", "/rate_limit", 200, "one", 130.0, 130.1), 0),
    ],
)
def test_who_goes_on_when_told_to_wait_is_counted(later: Exchange, early: int) -> None:
    assert too_early([REFUSED, later]) == early
    assert too_early([later]) == 0


def test_the_busiest_minute_may_begin_at_any_second() -> None:
    assert busiest([10.0, 0.0, 65.0, 69.9, 70.0]) == 3
    assert busiest([]) == 0


def test_each_account_stands_to_its_own_limits() -> None:
    first, second, _ = ACCOUNTS
    made = [Exchange("POST", COMMENT, 201, token, at, at) for token, at in (("one", 0.0), ("one", 30.0), ("two", 31.0))]
    rows = {row.what: row.measured for row in limits([*made, REFUSED], {"one": first, "two": second})}
    assert rows["most creations of one account in a minute"] == 2
    assert rows["creations refused"] == 1
    assert rows["charged requests of the busiest account"] == 3
