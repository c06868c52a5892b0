"""Waits that somebody else names: GitHub's, a vendor's, a program's. Whatever they say, nobody waits for good."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from fakes.clock import HandClock
from structlog.testing import capture_logs

from shared.github.errors import Limited
from shared.github.limits import RateLimits
from shared.github.server_time import ServerTime
from shared.llm.claude_events import Transcript, verdict
from shared.llm.codex_output import Transcript as CodexTranscript
from shared.llm.codex_output import verdict as codex_verdict
from shared.llm.port import Ending
from shared.retry.failures import Category, History, Pause, after
from shared.retry_times import LONGEST, bounded, http_date, later, resets_at, since_1970

NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)
WEEK = LONGEST.total_seconds()
ABSURD = ("-1", "-1e30", "nan", "NaN", "inf", "1e30", "1e999", "9" * 30, "9" * 400, "9" * 5000, "0x10", "", " ", "soon")
DATES = (
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Sat, 01 Jan 0001 00:00:00 +1400",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Fri, 31 Dec 9999 23:59:59 -1400",
    "Fri, 31 Dec 99999 23:59:59 GMT",
    "Fri, 99 Foo 2026 99:99:99 GMT",
    "2026-13-45T99:99:99Z",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
)


def limits(served: str = format_datetime(NOW, usegmt=True)) -> RateLimits:
    """Return the limits as known after one answer of GitHub."""
    server = ServerTime(HandClock(NOW.timestamp()))
    server.note({"date": served})
    return RateLimits(server)


def in_force(known: RateLimits) -> datetime | None:
    """Return the time until which nothing is sent; None if requests may go out."""
    try:
        known.admit(urgent=True)
    except Limited as limited:
        return limited.until
    return None


@pytest.mark.parametrize("value", [*ABSURD, *DATES], ids=lambda value: value[:30])
@pytest.mark.parametrize("status", [429, 403])
def test_whatever_retry_after_says_github_is_asked_again_within_a_week(status: int, value: str) -> None:
    known = limits()
    refused = known.refusal(status, {"retry-after": value}, "slow down")
    assert refused is not None
    assert NOW < refused.until <= NOW + LONGEST
    assert in_force(known) == refused.until


@pytest.mark.parametrize("value", [*ABSURD, "0", "1", str(2**31), str(10**11), str(67768036191676800), str(10**18)])
@pytest.mark.parametrize("remaining", ["0", "-5"])
def test_whatever_a_reset_says_github_is_asked_again_within_a_week(remaining: str, value: str) -> None:
    known = limits()
    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": remaining, "x-ratelimit-reset": value}
    known.note(headers)
    until = in_force(known)
    assert until is None or NOW < until <= NOW + LONGEST
    refused = known.refusal(403, headers, "API rate limit exceeded")
    assert refused is not None
    assert NOW < refused.until <= NOW + LONGEST + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("value", "seconds"), [("90", 90), (format_datetime(NOW + timedelta(hours=2), usegmt=True), 7200)]
)
def test_an_honest_wait_of_github_is_kept(value: str, seconds: int) -> None:
    refused = limits().refusal(429, {"retry-after": value}, "slow down")
    assert refused is not None
    assert refused.until == NOW + timedelta(seconds=seconds)
    known = limits()
    reset = str(int(NOW.timestamp()) + seconds)
    known.note({"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset})
    assert in_force(known) == NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize("served", ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT"])
def test_no_date_of_an_answer_makes_a_limit_an_error(served: str) -> None:
    server = ServerTime(HandClock(NOW.timestamp()))
    with capture_logs():
        for date in (format_datetime(NOW, usegmt=True), served):
            server.note({"date": date})
    for value in ("60", "9" * 30, "Thu, 01 Jan 1970 00:00:00 GMT"):
        refused = RateLimits(server).refusal(429, {"retry-after": value}, "slow down")
        assert refused is not None
        assert server.now() < refused.until <= server.now() + LONGEST


def test_before_any_date_is_known_a_budget_is_not() -> None:
    known = RateLimits(ServerTime(HandClock(NOW.timestamp())))
    known.note({"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1e30"})
    known.note({"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"})
    assert known.primary is None


@pytest.mark.parametrize("value", [*ABSURD, *DATES, "9" * 400 + "h", "9" * 400 + "d1s"], ids=lambda value: value[:30])
@pytest.mark.parametrize("name", ["retry-after", "anthropic-ratelimit-requests-reset", "x-ratelimit-reset-tokens"])
@pytest.mark.parametrize("served", ["", *DATES], ids=lambda value: value[:20])
def test_whatever_a_vendor_names_it_is_a_time_after_its_answer_or_none(name: str, value: str, served: str) -> None:
    found = resets_at(429, {name: value, "date": served}, NOW)
    if found is not None:
        pause = after(Category.LIMIT, History(), now=NOW, reset=found)
        assert isinstance(pause, Pause)
        assert NOW < pause.until <= NOW + LONGEST


@pytest.mark.parametrize("at", [-1, 0, 10**8, 10**11, 10**18, 67768036191676800, 10**30, -(10**30), True])
def test_whatever_claude_code_says_of_a_reset_the_run_is_told_as_a_limit_or_a_failure(at: int) -> None:
    told = Transcript()
    told.take({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": at}})
    told.take({"type": "result", "subtype": "success", "is_error": True, "result": f"usage limit reached|{at}"})
    found = verdict(told, structured=False)
    assert found is not None
    assert found.ending is Ending.USAGE_LIMIT
    pause = after(Category.LIMIT, History(), now=NOW, reset=found.retry_at)
    assert isinstance(pause, Pause)
    assert NOW < pause.until <= NOW + LONGEST


@pytest.mark.parametrize(
    "words", ["999999999 hours", "999999999h999999999m999999999s", "9" * 30 + "s", "0.0s", "-5s", "NaNs"]
)
def test_whatever_codex_says_of_a_wait_it_is_no_error(words: str) -> None:
    said = CodexTranscript(failure=f"Rate limit reached. Please try again in {words}.")
    found = codex_verdict(said, "", structured=False, now=NOW)
    assert found is not None
    assert found.ending is Ending.OVERLOADED
    assert found.retry_at is None or NOW <= found.retry_at <= NOW + LONGEST


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, 0),
        (90.5, 90.5),
        (WEEK, WEEK),
        (WEEK + 1, WEEK),
        (1e30, WEEK),
        (math.inf, WEEK),
        (-1, None),
        (-1e30, None),
        (-math.inf, None),
        (math.nan, None),
    ],
)
def test_so_many_seconds_from_now(seconds: float, expected: float | None) -> None:
    assert later(NOW, seconds) == (None if expected is None else NOW + timedelta(seconds=expected))


def test_no_arithmetic_leaves_the_calendar() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    first = datetime.min.replace(tzinfo=UTC)
    assert later(last, 5) == bounded(last, last) == last
    assert bounded(last, NOW) == NOW + LONGEST
    assert bounded(first, NOW) == first
    assert [since_1970(value) for value in (math.nan, math.inf, -math.inf, 1e30, -1e30, 10**400)] == [None] * 6
    assert since_1970(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert http_date("Tue, 24 Nov 2026 12:00:00 GMT") == NOW
