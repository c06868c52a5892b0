"""Orders to running agents: who is found, who is not, and what the exit code says."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from fakes.clock import HandClock

from config.running_agents import RunningAgent, residents
from config.state import StateDirectory
from runtime.daemon.control import ControlOptions, drain, pause, resume, state_of
from shared.workflow import Role


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state").open()


def test_who_runs_is_known_by_the_locks(state: StateDirectory) -> None:
    with state.claim_identity(Role.PLANNER, "p"), state.claim_identity(Role.WORKER, "w"):
        assert residents(state.path) == (
            RunningAgent("p", "planner", os.getpid()),
            RunningAgent("w", "worker", os.getpid()),
        )
    assert residents(state.path) == (), "who has ended does not run, although its identity is kept"


def test_a_process_that_is_younger_than_the_identity_is_another_one(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER, "w"):
        file = state.path / "agents" / "w.json"
        os.utime(file, (1, time.time() - 10**6))
        assert residents(state.path) == ()
        file.write_text(json.dumps({"kind": "worker", "pid": 2**22 + 1}))
        assert residents(state.path) == ()
        file.write_text("{")
        assert residents(state.path) == ()


@pytest.mark.parametrize(
    ("agents", "code", "said"), [((), 3, "No agent runs from"), (("w-9",), 2, "'w-9' does not run from")]
)
def test_nobody_to_drain(
    state: StateDirectory, agents: tuple[str, ...], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drain(ControlOptions(state_dir=state.path, agents=agents), {}, HandClock(), seconds=1) == code
    assert said in "".join(capsys.readouterr())


def test_pause_and_resume(state: StateDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    options = ControlOptions(state_dir=state.path)
    assert resume(options, {}) == 3
    assert pause(options, {}, "the\nweekend") == 0
    assert (state.path / "PAUSE").read_text() == "the weekend\n"
    assert resume(options, {}) == 0
    assert not (state.path / "PAUSE").exists()
    assert pause(ControlOptions(state_dir=state.path / "none"), {}, "") == 2
    assert not (state.path / "none").exists()
    assert "There is no state directory" in capsys.readouterr().err


def test_which_state_directory_is_meant(tmp_path: Path) -> None:
    file = tmp_path / "repos.yml"
    file.write_text(f"repositories: [{{name: a/b}}]\nstate_dir: {tmp_path}/there\n")
    assert state_of(ControlOptions(config=file), {}) == tmp_path / "there"
    nowhere = {"XDG_CONFIG_HOME": str(tmp_path), "STATE_DIRECTORY": "/var/lib/x:/y"}
    assert state_of(ControlOptions(), nowhere) == Path("/var/lib/x")
