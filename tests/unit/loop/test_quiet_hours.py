"""Quiet hours: spans over midnight, on some days, by the clocks of a zone; what is in work goes on."""

from __future__ import annotations

from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest

from shared.scheduling.admission import Admission, Paused
from shared.scheduling.quiet_hours import QuietHours, quiet

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietHours(time(22), time(6), BERLIN)
FRIDAY = QuietHours(time(18), time(18), BERLIN, frozenset({4}))


@pytest.mark.parametrize(
    ("span", "at", "until"),
    [
        (NIGHT, "2026-11-24 20:59", None),
        (NIGHT, "2026-11-24 21:00", "2026-11-25 05:00"),
        (NIGHT, "2026-11-25 04:59", "2026-11-25 05:00"),
        (NIGHT, "2026-11-25 05:00", None),
        (NIGHT, "2026-07-01 20:30", "2026-07-02 04:00"),  # summer time
        (FRIDAY, "2026-11-27 16:59", None),
        (FRIDAY, "2026-11-27 17:00", "2026-11-28 17:00"),
        (FRIDAY, "2026-11-28 16:59", "2026-11-28 17:00"),
        (FRIDAY, "2026-11-28 17:00", None),
        (QuietHours(time(12), time(13), BERLIN), "2026-11-24 11:30", "2026-11-24 12:00"),
    ],
)
def test_until_when_nothing_is_begun(span: QuietHours, at: str, until: str | None) -> None:
    now = datetime.fromisoformat(at).replace(tzinfo=UTC)
    expected = None if until is None else datetime.fromisoformat(until).replace(tzinfo=UTC)
    assert span.until(now) == expected


def test_of_spans_that_overlap_the_longest_is_told() -> None:
    now = datetime(2026, 11, 27, 22, tzinfo=UTC)
    told = quiet([NIGHT, FRIDAY], now)
    assert told == "quiet hours until 2026-11-28 18:00 CET: nothing new is begun"
    assert quiet([NIGHT], datetime(2026, 11, 27, 12, tzinfo=UTC)) == ""


def test_nothing_is_begun_and_nothing_is_let_go() -> None:
    now, told = ["quiet hours until then"], list[tuple[str, str]]()
    admission = Admission(quiet=lambda: now[0], tell=lambda state, reason: told.append((state, reason)))
    assert not admission.admits()
    assert admission.holding_back == "quiet hours until then"
    assert admission.leaving == ""
    with pytest.raises(Paused, match="quiet hours until then"):
        admission.admits(strict=True)
    now[0] = ""
    assert admission.admits()
    assert told == [("paused", "quiet hours until then"), ("resumed", "")]
