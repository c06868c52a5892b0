"""Choice of workspaces to remove: idle for a day, or the longest idle above the ceiling; never one in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.git.disk import BUSY_SECONDS, IDLE_SECONDS, FoundWorkspace, expendable

HOUR = 3600.0


def workspace(name: str, hours: float, size: int = 10) -> FoundWorkspace:
    return FoundWorkspace(Path(name), hours * HOUR, size)


@pytest.mark.parametrize(
    ("found", "going"),
    [
        ([], []),
        ([workspace("new", 0), workspace("day", 24), workspace("almost", 23.9)], ["day"]),
        ([workspace("a", 30), workspace("b", 40)], ["b", "a"]),
        # 40 bytes where 25 are allowed: the longest idle go until the rest fits
        ([workspace("a", 3), workspace("b", 5), workspace("c", 4), workspace("d", 6)], ["d", "b"]),
        ([workspace("big", 3, 100), workspace("old", 25)], ["old", "big"]),
        # what was just used stays even when everything together is too much
        ([workspace("a", 0.1, 100), workspace("b", BUSY_SECONDS / HOUR - 0.1, 100)], []),
    ],
)
def test_the_longest_idle_go_first_and_only_as_many_as_needed(found: list[FoundWorkspace], going: list[str]) -> None:
    assert expendable(found, (), ceiling=25) == tuple(map(Path, going))


def test_what_is_held_stays_however_long_it_waits() -> None:
    found = [workspace("held", 100, 1000), workspace("free", IDLE_SECONDS / HOUR)]
    assert expendable(found, {Path("held")}, ceiling=0) == (Path("free"),)
