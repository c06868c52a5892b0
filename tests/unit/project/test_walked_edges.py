"""Every edge of the state machine is walked by a test through the lab, and no test walks one that is not there.

A test names its edges with `@pytest.mark.edges`; the fixture `engine` fails it when the embedded GitHub has not seen
them in the end. So the names here are what was seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from shared.workflow import TRANSITIONS, Event, Stage, Track

LAB = Path(__file__).parents[2] / "lab"


def named() -> Iterator[str]:
    """Yield every edge that a test of the lab says it walks."""
    for path in sorted(LAB.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "edges":
                yield from (str(one.value) for one in node.args if isinstance(one, ast.Constant))


def test_the_edges_that_are_walked_are_those_of_the_table() -> None:
    table = {f"{track}: {stage}, {event}" for track, stage, event in TRANSITIONS}
    walked = set(named())
    assert sorted(walked - table) == [], "these are not in shared/workflow"
    assert sorted(table - walked) == [], "no test through the lab walks these: mark the one that does"


def test_an_edge_is_named_by_track_stage_and_event() -> None:
    assert f"{Track.STORY}: {Stage.PLANNING}, {Event.PLAN_POSTED}" == "story: planning, plan posted"
