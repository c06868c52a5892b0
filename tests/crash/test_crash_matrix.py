"""Every call of a whole life, struck in every way; afterwards everything is as if nothing had been.

Each act of the life (plan, work, review, close, and an issue about a pending test) runs once without a fault. Then for
each of its calls to the server (REST and git) it runs again from where it began; the agent, a real process, is killed
before or after the call, loses its answer, or stands still for 40 minutes while another one takes over. Another agent,
or the same one restarted, must lead the act to the same picture: threads, comments, reviews, pull requests, fences,
branches, notes, history, register. A killed agent reaches nothing more: neither does what it had started. A kill before
a read leaves the server as a kill after the write before it, so reads are struck only with `CRASH=every`.

GitHub's replicas lag in each case: half of what may be late is, drawn from the case's name (`Case.seed`). The life
without a fault knows no lag, so neither may its end show any. `CRASH_LAG=0` has none, `CRASH_LAG=1` all there is;
`CRASH_SEED=7` draws others.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from crash_acts import ACTS, Act
from crash_case import Case, Heir, Told, suffer, whole_life
from crash_gate import Blow, Point

BLOWS = (
    (Blow.KILLED_BEFORE, Heir.OTHER),
    (Blow.KILLED_BEFORE, Heir.SAME),
    (Blow.KILLED_AFTER, Heir.OTHER),
    (Blow.KILLED_AFTER, Heir.SAME),
    (Blow.LOST_REPLY, Heir.SAME),
    (Blow.PAUSED, Heir.OTHER),
)

CALLS = (
    ("plan", "plan"),
    ("work", "write_tests"),
    ("work", "implement"),
    ("review", "review"),
    ("review", "check_criteria"),
)
"""Act and paid call."""

LATE = float(os.environ.get("CRASH_LAG", "0.5"))
"""The share of what replicas may answer late that is."""

SEED = int(os.environ.get("CRASH_SEED", "0"))
"""Draws which answers are late."""

Factory = Callable[[], Path]
Count = Callable[[str, object], None]


@pytest.fixture
def factory(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    """Return a function that makes the directory of the life without faults."""
    return lambda: tmp_path_factory.mktemp("told")


@pytest.mark.fault(9)
@pytest.mark.fault(37)
@pytest.mark.fault(38)
@pytest.mark.parametrize(("blow", "heir"), BLOWS, ids=lambda one: str(one).replace(" ", "-"))
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
async def test_every_call_struck(
    act: Act, blow: Blow, heir: Heir, factory: Factory, tmp_path: Path, record_property: Count
) -> None:
    life = (await whole_life(factory))[act.name]
    points = life.points(reads=os.environ.get("CRASH") == "every")
    assert len(points) >= act.least, "an act makes more writes than that"
    cases = [Case(act, blow, heir, point, draw=SEED) for point in points]
    wrong = await _run(cases, life, tmp_path, record_property)
    assert not wrong, "\n".join(wrong)


@pytest.mark.fault(37)
@pytest.mark.parametrize("heir", Heir, ids=lambda one: str(one).replace(" ", "-"))
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("act", "call"), CALLS)
async def test_killed_inside_a_paid_call(
    act: str, call: str, when: str, heir: Heir, factory: Factory, tmp_path: Path, record_property: Count
) -> None:
    life = (await whole_life(factory))[act]
    case = Case(life.act, Blow.KILLED_BEFORE, heir, call=(call, when), draw=SEED)
    wrong = await _run([case], life, tmp_path, record_property)
    assert not wrong, "\n".join(wrong)


async def test_a_comment_posted_twice_is_noticed(factory: Factory, tmp_path: Path) -> None:
    """The checks are proved: a client that blindly repeats its POST makes a second plan."""
    life = (await whole_life(factory))["plan"]
    posts = [one.point for one in life.asked if one.method == "POST" and one.path.endswith("/issues/1/comments")]
    with pytest.raises(AssertionError, match="engine-plan"):
        await suffer(Case(life.act, Blow.TWICE, Heir.SAME, posts[1]), life, tmp_path / "life", patience=3.0)


async def _run(cases: list[Case], life: Told, place: Path, count: Count) -> list[str]:
    """Run the cases and return the failures, one line each; delete the directories of the others."""
    wrong: list[str] = []
    missed = 0
    for number, case in enumerate(cases):
        where = place / f"life-{number}"
        try:
            missed += not await suffer(case, life, where, late=LATE)
        except AssertionError as error:
            wrong.append(f"{_named(case, life)}: {error} [{where}]")
        else:
            shutil.rmtree(where, ignore_errors=True)  # a git of the killed agent may still be writing there
    count("cases", len(cases))
    count("whose call did not come again", missed)
    count("wrong", len(wrong))
    assert missed <= len(cases) // 4, f"{missed} of {len(cases)} calls did not come again: the cases prove too little"
    return wrong


def _named(case: Case, life: Told) -> str:
    if case.point is None:
        return f"{case.act.name}, killed {case.call[1]} the edits of {case.call[0]}, {case.heir}"
    return f"{case.act.name}, {case.blow} at {_what(case.point, life)}, {case.heir}"


def _what(point: Point, life: Told) -> str:
    asked = next(one for one in life.asked if one.point == point)
    return f"write {point.write}, read {point.read}: {asked.method} {asked.path[:120]}"
