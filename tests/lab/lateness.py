"""Replicas that lag behind half of all stories, drawn from a story's name: nobody may notice.

`LAB_LAG=all` lets them lag behind every story, `LAB_LAG=none` behind none; the seed is always that of the name, so a
story that fails is told again as it was. A story whose subject is a count of requests, or one late answer of its own,
says `@pytest.mark.prompt("why")`, and is always told without.
"""

from __future__ import annotations

import os
import zlib

import pytest
from engine import Engine
from fakes.clock import QuickClock

MODES = ("half", "all", "none")


def seed(story: str, wanted: str = "half", *, prompt: bool = False) -> int | None:
    """Return the seed of a story's late answers, the same in each run, from its name; None if nothing is late."""
    if wanted not in MODES:
        raise ValueError(f"LAB_LAG is one of {', '.join(MODES)}")
    drawn = zlib.crc32(story.encode())
    return drawn if not prompt and (wanted == "all" or (wanted == "half" and drawn % 2 == 0)) else None


def reason(mark: pytest.Mark | None) -> str:
    """Return the reason of a story without late answers; empty if it has no mark. Raise ValueError without a reason."""
    if mark is None:
        return ""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str) or not mark.args[0]:
        raise ValueError("pytest.mark.prompt has to say why nothing may be late")
    return mark.args[0]


def begin(engine: Engine, story: pytest.Item) -> None:
    """Let the replicas lag, or not, from before the story begins."""
    prompt = bool(reason(story.get_closest_marker("prompt")))
    found = seed(story.nodeid, os.environ.get("LAB_LAG", "half"), prompt=prompt)
    if found is not None and story.nodeid.startswith("tests/lab/"):
        engine.lab.lag.begin(found)
        engine.clock = QuickClock(engine.lab.clock.advance)
