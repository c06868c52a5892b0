"""Replicas that lag behind half of the short stories, drawn from a story's name: nobody may notice.

`LAB_LAG=all` lets them lag behind every story, `LAB_LAG=none` behind none.
"""

from __future__ import annotations

import os
import zlib

import pytest
from engine import Engine
from fakes.clock import QuickClock


def begin(engine: Engine, story: pytest.Item) -> None:
    """Let the replicas lag, or not: the same in each run of a story."""
    seed, wanted = zlib.crc32(story.nodeid.encode()), os.environ.get("LAB_LAG", "half")
    drawn = seed % 2 == 0 and story.get_closest_marker("long") is None
    if wanted == "all" or (wanted == "half" and drawn and story.nodeid.startswith("tests/lab/")):
        engine.lab.lag.begin(seed)
        engine.clock = QuickClock()
