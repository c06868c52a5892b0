"""The container's health check: it fires when nothing runs, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.health import main, unhealthy
from config.state import StateDirectory
from shared.workflow import Role


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state").open()


def process(tmp_path: Path, state: str) -> Path:
    """Write a status file as in /proc/1, and return its directory."""
    (tmp_path / "status").write_text(f"Name:\tworker-agent\nState:\t{state} (whatever)\nPid:\t1\n")
    return tmp_path


def test_healthy_while_an_agent_holds_its_identity(state: StateDirectory, tmp_path: Path) -> None:
    with state.claim_identity(Role.WORKER):
        assert unhealthy(state.path, process(tmp_path, "S")) == ""
    assert unhealthy(state.path, process(tmp_path, "S")) == f"No agent runs from {state.path}."


@pytest.mark.parametrize("letter", ["T", "t", "Z", "X"])
def test_a_stopped_process_is_not_healthy_although_its_lock_is_held(
    state: StateDirectory, tmp_path: Path, letter: str
) -> None:
    with state.claim_identity(Role.WORKER):
        assert unhealthy(state.path, process(tmp_path, letter)) == "The first process is stopped or dead."


def test_looking_does_not_take_the_identity(state: StateDirectory, tmp_path: Path) -> None:
    with state.claim_identity(Role.WORKER, "mine"):
        pass
    unhealthy(state.path, process(tmp_path, "S"))
    with state.claim_identity(Role.WORKER, "mine") as identity:
        assert identity.id == "mine"


def test_nothing_started_yet(tmp_path: Path) -> None:
    assert unhealthy(tmp_path / "none", process(tmp_path, "S")).startswith("No agent runs")
    assert unhealthy(tmp_path, tmp_path / "none").endswith("cannot be read: No such file or directory.")


def test_exit_code_of_a_container_in_which_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "No agent runs" in capsys.readouterr().out
    assert main([]) == 2
