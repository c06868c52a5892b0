"""Quiet hours as people write them in YAML, where an unquoted 22:00 is a number."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import pytest

from config.loading import read
from shared.errors import Misconfigured

ENVIRONMENT = {"HOME": "/home/ada"}


def written(directory: Path, span: str) -> Path:
    path = directory / "repos.yml"
    path.write_text(f"repositories: [{{name: ada/directory}}]\nquiet_hours: [{{{span}}}]\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("span", "start", "end"),
    [
        ('start: "22:00", end: "06:30"', time(22), time(6, 30)),
        ("start: 22:00, end: 6:30", time(22), time(6, 30)),
        ("start: 00:00, end: 07:05", time(0), time(7, 5)),
    ],
)
def test_times_with_and_without_quotes(tmp_path: Path, span: str, start: time, end: time) -> None:
    (found,) = read(written(tmp_path, span), environment=ENVIRONMENT).quiet_hours
    assert (found.span().start, found.span().end) == (start, end)
    assert found.span().days == frozenset(range(7))


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ('start: "25:00", end: "06:00"', "is no time of the day; write it as in 22:00"),
        ('start: 22, end: "6"', "is no time of the day; write it as in 22:00"),
        ('start: "22:00", end: "06:00", timezone: Mars/Olympus', "is no time zone that this machine knows"),
        ('start: "22:00", end: "06:00", days: [someday]', "days"),
        ('start: "22:00"', "end"),
    ],
)
def test_what_is_no_span_is_told_with_its_place(tmp_path: Path, span: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=r"quiet_hours\[0\]") as refused:
        read(written(tmp_path, span), environment=ENVIRONMENT)
    assert said in str(refused.value)


def test_days_and_zone(tmp_path: Path) -> None:
    span = 'start: "18:00", end: "08:00", days: [fri, sat], timezone: Europe/Berlin'
    (found,) = read(written(tmp_path, span), environment=ENVIRONMENT).quiet_hours
    assert (found.span().days, found.span().zone.key) == (frozenset({4, 5}), "Europe/Berlin")
