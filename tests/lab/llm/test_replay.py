"""Recordings of a run: they are played again in the same way, without the coder that was recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from engine import REPOSITORY, Engine, demo_script
from worker_scene import BODY, CODE, TESTS, labels, once

from console.demo.replay import ReplayOptions, replayed
from shared.llm import recording
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

CANARY = "ghp_" + "c4n4ry" * 6


@pytest.fixture
def recorded(engine: Engine) -> Path:
    """Have the engine record its runs, and return the directory."""
    place = engine.directory / "recording"
    engine.more_settings["llm"] = {"record": place}
    return place


def files(place: Path, pattern: str) -> list[Path]:
    return sorted(place.glob(pattern))


async def replay(place: Path, **options: Any) -> int:
    environment: Mapping[str, str] = {}
    return await anyio.to_thread.run_sync(replayed, ReplayOptions(place, **options), environment)


async def test_a_whole_run_with_red_ci_and_a_review_is_played_again(
    engine: Engine, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings["merge"] = "auto"
    number = engine.ready("Search users by name", BODY)
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: not engine.issue(number).open, worker, reviewer)
    calls = [(one["call"], one["attempt"], one["round"]) for one in recording.exchanges(recorded)]
    assert ("implement", 2, 0) in calls
    assert ("review", 1, 1) in calls
    assert await replay(recorded) == 0
    said = capsys.readouterr().out
    assert "Every recorded answer was asked for again." in said
    assert "is merged" in said


async def test_a_run_that_failed_ends_as_it_did(
    engine: Engine, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.script("- call: write_tests\n  fails: max_turns\n")
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:spec-review-needed"}
    assert await replay(recorded) == 0
    assert "flag:spec-review-needed, status:failed" in capsys.readouterr().out


async def test_a_recording_that_does_not_fit_the_engine_any_more_says_so(
    engine: Engine, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.script(TESTS + CODE)
    await once(engine, engine.ready("Greet people"))
    (last,) = files(recorded, "*-implement.json")
    exchange = json.loads(last.read_text())
    last.write_text(json.dumps(exchange | {"attempt": 7}))
    assert await replay(recorded) == 1
    assert "never asked for" in capsys.readouterr().out


async def test_no_secret_stands_in_a_recording_and_others_cannot_read_it(engine: Engine, recorded: Path) -> None:
    engine.script(TESTS + CODE.rstrip() + f"\n  text: I found {CANARY} somewhere.\n")
    loop = await once(engine, engine.ready("Greet people", f"The token is {CANARY}."))
    assert loop.ended[0].result is Result.HANDED_OVER
    found = files(recorded, "*.json")
    assert len(found) == 2
    assert not [file for file in found if CANARY in file.read_text() or file.stat().st_mode & 0o077]
    assert files(recorded, ".*") == []
    assert {one["repository"] for one in recording.exchanges(recorded)} == {REPOSITORY}


async def test_what_is_no_recording_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await replay(tmp_path) == 2
    assert "holds no recording" in capsys.readouterr().err
    (tmp_path / "000001-plan.json").write_text('{"v": 99}')
    assert await replay(tmp_path) == 2
    assert "no recording of this version" in capsys.readouterr().err
