"""The state directory: who may use it, and identities that outlive their process."""

from __future__ import annotations

import re
import shutil
import stat
import sys
from pathlib import Path

import pytest
from state_directory_scene import NONCE, OTHER
from structlog.testing import capture_logs

from config.state import StateDirectory
from shared.errors import Misconfigured
from shared.process import run
from shared.workflow import Role


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state").open()


def test_it_is_created_for_this_account_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "state"
    StateDirectory(path).open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert (path / "VERSION").read_text() == "1\n"
    assert StateDirectory(path).open().path == path


def test_one_that_is_open_to_others_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "state"
    path.mkdir(mode=0o755)
    with capture_logs() as events:
        StateDirectory(path).open()
    assert [event["event"] for event in events] == ["state_directory_open_to_others"]


@pytest.mark.fault(30)
@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2\n", r"of a newer version of the engine \(layout 2, this one knows 1\): upgrade the engine"),
        ("next", "VERSION does not hold a version"),
        ("9" * 5000, "VERSION does not hold a version"),
    ],
)
def test_a_directory_of_a_newer_version_is_refused(state: StateDirectory, version: str, message: str) -> None:
    (state.path / "VERSION").write_text(version)
    with pytest.raises(Misconfigured, match=message):
        state.open()


@pytest.mark.fault(48)
def test_a_directory_of_an_older_version_is_taken_over_and_that_is_said(state: StateDirectory) -> None:
    (state.path / "VERSION").write_text("0\n")
    with capture_logs() as events:
        state.open()
    assert [(event["event"], event["was"], event["now"]) for event in events] == [("state_directory_upgraded", 0, 1)]
    assert (state.path / "VERSION").read_text() == "1\n"


@pytest.mark.fault(30)
def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match=r"cannot be used: .*/file/state is not a directory: give another"):
        StateDirectory(tmp_path / "file" / "state").open()


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """Return a read-only directory whose parents are closed to other accounts, which come by a relative path."""
    tmp_path.chmod(0o755)
    (tmp_path / "state").mkdir(mode=0o555)
    return tmp_path


@pytest.mark.fault(30)
async def test_a_read_only_directory_is_named(read_only: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from config.state import StateDirectory\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "try: StateDirectory(Path(sys.argv[1])).open()\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    finished = await run((sys.executable, "-c", script, "state"), cwd=read_only, env={"PYTHONPATH": str(Path.cwd())})
    assert re.match(
        r"Misconfigured The state directory cannot be used: state/VERSION: Permission denied", finished.text
    )


@pytest.mark.fault(30)
def test_a_deleted_directory_starts_anew(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as first:
        first.remember(NONCE)
    shutil.rmtree(state.path)
    with state.open().claim_identity(Role.WORKER) as second:
        assert second.id != first.id
        assert second.nonces == frozenset()


@pytest.mark.fault(30)
def test_a_directory_deleted_under_a_running_agent_is_made_again(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as identity:
        shutil.rmtree(state.path)
        identity.remember(NONCE)
        with state.claim_identity(Role.WORKER) as other:
            assert other.id != identity.id
    with state.claim_identity(Role.WORKER, identity.id) as again:
        assert again.nonces == {NONCE}


@pytest.mark.fault(30)
def test_an_agent_whose_id_was_taken_after_its_lock_was_deleted_stops(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER, "mine") as identity:
        (state.path / "agents" / "mine.lock").unlink()
        with state.claim_identity(Role.WORKER, "mine") as usurper:
            with pytest.raises(Misconfigured, match="another process has taken this id"):
                identity.remember(NONCE)
            assert usurper.nonces == frozenset()


def test_an_identity_that_was_given_back_cannot_be_written(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as identity:
        pass
    with pytest.raises(RuntimeError, match="given back"):
        identity.remember(NONCE)


def test_a_write_that_fails_keeps_what_was_there(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER, "mine") as identity:
        identity.remember(NONCE)
        file = state.path / "agents" / "mine.json"
        file.unlink()
        file.mkdir()  # stands for a disk that refuses the last step
        with pytest.raises(Misconfigured, match=r"mine\.json: Is a directory"):
            identity.remember(OTHER)
        assert identity.nonces == {NONCE}
        assert sorted(one.name for one in (state.path / "agents").iterdir()) == ["mine.json", "mine.lock"]


@pytest.mark.parametrize("name", ["agents", "agents/mine.lock", "agents/mine.json"])
def test_what_stands_in_the_way_is_named(state: StateDirectory, name: str) -> None:
    obstacle = state.path / name
    obstacle.parent.mkdir(exist_ok=True)
    if name == "agents":
        obstacle.write_text("")
    else:
        obstacle.mkdir()
    with pytest.raises(Misconfigured, match=f"The state directory cannot be used: .*{name}"):
        state.claim_identity(Role.WORKER, "mine").__enter__()


def test_a_lock_file_that_leads_elsewhere_is_not_followed(state: StateDirectory, tmp_path: Path) -> None:
    (state.path / "agents").mkdir()
    (state.path / "agents" / "mine.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured, match=r"mine\.lock"):
        state.claim_identity(Role.WORKER, "mine").__enter__()
    assert not (tmp_path / "elsewhere").exists()


def test_files_are_for_this_account_alone(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as identity:
        identity.remember(NONCE)
        modes = {stat.S_IMODE(file.stat().st_mode) for file in (state.path / "agents").iterdir()}
    assert modes == {0o600}
