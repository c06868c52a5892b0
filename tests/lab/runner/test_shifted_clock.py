"""A run whose clock is ahead: what depends on the time shows, what does not is left alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from project_pytest import PYTEST_ALONE

from worker_agent.tdd.runners import shifted_clock
from worker_agent.tdd.runners.node_runner import NodeRunner
from worker_agent.tdd.runners.pytest_runner import PytestRunner
from worker_agent.tdd.runners.runner import Runner
from worker_agent.tdd.runners.test_bench import TestBench, Tests

YEAR = 365 * 86_400

PYTHON = """\
import datetime, time
from datetime import date, datetime as moment

LIMIT = {limit}


def test_time():
    assert time.time() < LIMIT


def test_moment():
    assert moment.now().timestamp() < LIMIT and isinstance(moment.now(), datetime.datetime)


def test_day():
    assert date.today().toordinal() < date.fromtimestamp(LIMIT).toordinal()


def test_aware():
    assert moment.now(datetime.timezone.utc) < moment.fromtimestamp(LIMIT, datetime.timezone.utc)


def test_arithmetic():
    assert moment(2020, 1, 2) - moment(2020, 1, 1) == datetime.timedelta(days=1)
    assert isinstance(moment(2020, 1, 2), datetime.date) and type(moment.now() - moment.now()) is datetime.timedelta
"""

NODE = """\
const test = require('node:test'); const assert = require('node:assert');
test('now', () => assert.ok(Date.now() < {limit} * 1000));
test('made', () => assert.ok(new Date().getTime() < {limit} * 1000));
test('fixed', () => assert.equal(new Date(0).toISOString(), '1970-01-01T00:00:00.000Z'));
"""


async def run(place: Path, runner: Runner, command: str, shift: int | None) -> dict[str, bool]:
    """Run the tests; return whether each has passed."""
    scratch = place.parent / "o'brien's scratch"  # nobody says how a person's directories are called
    scratch.mkdir(exist_ok=True)
    bench = TestBench({"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}, 60.0)
    found = await bench.run(Tests(runner, command, clock_shift=shift), place, scratch)
    assert found.finished, found.output_tail
    return {test.rpartition("::")[2]: test in found.passed for test in found.results}


@pytest.fixture(params=["with libfaketime", "without"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without":
        monkeypatch.setattr(shifted_clock, "LIBRARIES", ())
    elif shifted_clock.library() is None:
        pytest.skip("there is no libfaketime")


@pytest.mark.usefixtures("library")
async def test_what_depends_on_the_clock_in_python_shows(tmp_path: Path) -> None:
    place = _project(tmp_path, "test_clock.py", PYTHON)
    usual = await run(place, PytestRunner(), PYTEST_ALONE, None)
    assert all(usual.values()), usual
    later = await run(place, PytestRunner(), PYTEST_ALONE, YEAR)
    assert later == {name: name == "test_arithmetic" for name in usual}
    assert await run(place, PytestRunner(), PYTEST_ALONE, 0) == usual, "setting the clock alone changes nothing"


@pytest.mark.usefixtures("library")
async def test_what_depends_on_the_clock_in_node_shows(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    place = _project(tmp_path, "clock.test.js", NODE)
    usual = await run(place, NodeRunner(), "node --test", None)
    assert usual == {"now": True, "made": True, "fixed": True}
    assert await run(place, NodeRunner(), "node --test", YEAR) == {"now": False, "made": False, "fixed": True}


def _project(directory: Path, name: str, text: str) -> Path:
    """Make a project with one test file whose tests pass for half a year."""
    import time

    place = directory / "project"
    place.mkdir()
    (place / name).write_text(text.replace("{limit}", str(int(time.time()) + YEAR // 2)))
    return place
