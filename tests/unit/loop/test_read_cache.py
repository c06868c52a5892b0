"""The cache of items that a claim has read: each serves one look, and not for long."""

from __future__ import annotations

from shared.loop.read_cache import RECENT_SECONDS, ReadCache


class Boot:
    """A boot clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_a_sighting_is_good_once() -> None:
    sightings: ReadCache[str] = ReadCache(Boot())
    sightings.keep(42, "as the lost claim read it")
    sightings.keep(42, "as the won claim read it")
    assert sightings.take(43) is None
    assert sightings.take(42) == "as the won claim read it"
    assert sightings.take(42) is None


def test_an_old_sighting_is_none() -> None:
    boot = Boot()
    sightings: ReadCache[str] = ReadCache(boot)
    sightings.keep(42, "old")
    boot.seconds += RECENT_SECONDS
    assert sightings.take(42) is None
