"""Identities of agents: each outlives its process, belongs to one at a time, and knows its locks."""

from __future__ import annotations

import json
import re
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


@pytest.mark.parametrize("kind", [Role.PLANNER, Role.WORKER, Role.REVIEWER])
def test_a_new_id_is_the_kind_and_eight_hex_digits(state: StateDirectory, kind: Role) -> None:
    with state.claim_identity(kind) as identity:
        assert re.fullmatch(rf"{kind}-[0-9a-f]{{8}}", identity.id)
        assert identity.nonces == frozenset()


def test_a_restarted_agent_is_who_it_was_and_knows_its_locks(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as first:
        first.remember(NONCE)
        first.remember(OTHER)
        first.forget(OTHER)
        first.forget("never seen")
    with state.claim_identity(Role.WORKER) as again:
        assert (again.id, again.nonces) == (first.id, frozenset({NONCE}))
        assert again.id == json.loads((state.path / "agents" / f"{again.id}.json").read_text())["id"]


def test_an_agent_of_another_kind_is_somebody_else(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as worker:
        pass
    with state.claim_identity(Role.REVIEWER) as reviewer:
        assert reviewer.id != worker.id


def test_an_identity_with_locks_is_taken_up_before_one_without(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER, "worker-a"), state.claim_identity(Role.WORKER, "worker-b") as holder:
        holder.remember(NONCE)
    with state.claim_identity(Role.WORKER) as first, state.claim_identity(Role.WORKER) as second:
        assert (first.id, second.id) == ("worker-b", "worker-a")


@pytest.mark.fault(2)
@pytest.mark.fault(30)
def test_two_agents_at_a_time_are_two_identities(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER) as first:
        with state.claim_identity(Role.WORKER) as second:
            assert first.id != second.id
        with pytest.raises(Misconfigured, match=f"already runs as '{first.id}' .* choose another --agent-id"):
            state.claim_identity(Role.WORKER, first.id).__enter__()
    with state.claim_identity(Role.WORKER, first.id) as again:
        assert again.id == first.id


@pytest.mark.fault(30)
async def test_a_killed_process_leaves_its_identity_to_the_next(state: StateDirectory) -> None:
    script = (
        "import os, sys; from pathlib import Path; from config.state import StateDirectory\n"
        "from shared.workflow import Role\n"
        "with StateDirectory(Path(sys.argv[1])).open().claim_identity(Role.WORKER, 'worker-x') as identity:\n"
        f"    identity.remember('{NONCE}')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    finished = await run((sys.executable, "-c", script, str(state.path)), cwd=Path.cwd(), env={"PYTHONPATH": "."})
    assert finished.code == -9
    with state.claim_identity(Role.WORKER) as identity:
        assert (identity.id, identity.nonces) == ("worker-x", frozenset({NONCE}))


@pytest.mark.parametrize("wanted", ["", "Worker", "a b", "../x", "a" * 65, "-rf", "a\n", "wörker"])
def test_an_id_that_no_ack_could_carry_is_refused(state: StateDirectory, wanted: str) -> None:
    with pytest.raises(Misconfigured, match="is no agent id"):
        state.claim_identity(Role.WORKER, wanted).__enter__()


def test_an_id_is_of_one_kind(state: StateDirectory) -> None:
    with state.claim_identity(Role.WORKER, "mine"):
        pass
    with pytest.raises(Misconfigured, match="'mine' is the id of a worker"):
        state.claim_identity(Role.REVIEWER, "mine").__enter__()
    with state.claim_identity(Role.WORKER, "mine") as still_usable:
        assert still_usable.id == "mine"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"kind": "cook", "nonces": []}', '{"kind": "worker"}', "\xff"])
def test_a_damaged_identity_has_only_lost_its_nonces(state: StateDirectory, damage: str) -> None:
    with state.claim_identity(Role.WORKER, "mine") as identity:
        identity.remember(NONCE)
    (state.path / "agents" / "mine.json").write_bytes(damage.encode("latin-1"))
    with capture_logs() as events, state.claim_identity(Role.WORKER, "mine") as again:
        assert again.nonces == frozenset()
    assert [event["event"] for event in events] == ["identity_unreadable"]
