"""Progress of `verify`: a person who waits is told of each run of the tests; a program that reads it is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes.clock import HandClock
from settings_scene import REPOSITORY, settings

from console.verify.command import bench_of, run_recorder
from shared.telemetry.events import EventKind
from worker_agent.tdd.runners.observed_runs import ObservedBench


def test_each_run_is_told_with_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    clock = HandClock()
    recorder = run_recorder("ada/directory", clock)
    recorder.tell(EventKind.TEST_RUN, place="evidence", passed=4)
    recorder.tell(EventKind.TEST_RUN, purpose="damage", number=2, of=8, outcome="failed", failed=1)
    said = capsys.readouterr()
    assert said.out == "", "the result alone"
    assert said.err.splitlines() == [
        "  0:00    the tests: 4 passed",
        "  0:00    damaged code 2 of at most 8: the tests notice it",
    ]


@pytest.mark.parametrize("told", [True, False])
async def test_runs_are_told_where_somebody_watches(tmp_path: Path, told: bool) -> None:
    bench = await bench_of(settings(), REPOSITORY, {}, tmp_path, reports=told)
    assert isinstance(bench, ObservedBench) is told
