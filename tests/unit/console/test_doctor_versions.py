"""The doctor beside a newer engine: it names what this version cannot read, and nothing else."""

from __future__ import annotations

import json

import pytest
from fakes.lock_port import KEY
from fakes.lock_server import EPOCH

from console.doctor.finding import Status
from console.doctor.probes import versions_finding
from planner_agent.pending import register
from reviewer_agent.merge.merge_turns import REF as MERGES
from reviewer_agent.merge.merge_turns import MergeTurn
from reviewer_agent.merge.update_turns import PREFIX, UpdateTurn
from shared.budget import ledger_lines
from shared.budget.ledger import REF as LEDGER
from shared.budget.ledger_lines import Settlement
from shared.ci.verdict import CiVerdict
from shared.lock.fence import Fence, write_fence
from shared.workflow import Stage

pytestmark = pytest.mark.fault(48)

UPDATES = f"{PREFIX}0123456789ab"
OURS = {
    KEY.ref: write_fence(Fence(KEY, 7, "n", "worker-a", Stage.TESTING, EPOCH)),
    LEDGER: ledger_lines.write(Settlement("r1", 1.0, "claude", EPOCH)),
    register.REF: register.write(register.PendingTest("t", "planner-1", "r", EPOCH)),
    MERGES: MergeTurn(57, "main", "b" * 40, CiVerdict.GREEN, EPOCH).write("n"),
    UPDATES: UpdateTurn(57, "main", EPOCH).write("n"),
    "refs/ack/doctor/1/fence": "a probe that was cut off",
}
NEWER = {
    KEY.ref: OURS[KEY.ref].replace("Engine-Fence: 2", "Engine-Fence: 3"),
    LEDGER: json.dumps({"v": 2, "runs": []}),
    register.REF: json.dumps({"v": 2, "tests": []}),
    MERGES: OURS[MERGES].replace("Engine-Merge: 1", "Engine-Merge: 2"),
    UPDATES: OURS[UPDATES].replace("Engine-Update: 1", "Engine-Update: 2"),
}


def test_what_this_version_has_written_can_be_read() -> None:
    assert versions_finding(OURS, "o/r").status is Status.PASS
    same = json.dumps({**json.loads(OURS[LEDGER]), "v": 2})
    assert versions_finding({LEDGER: same}, "o/r").status is Status.PASS, "it says the same"


@pytest.mark.parametrize("ref", NEWER)
def test_what_only_a_newer_engine_can_read_is_named(ref: str) -> None:
    found = versions_finding({**OURS, ref: NEWER[ref]}, "o/r")
    assert (found.status, f"cannot read {ref}:" in found.sentence) == (Status.FAIL, True)
    assert found.next_step.startswith("Upgrade this agent")


def test_of_many_some_are_named() -> None:
    found = versions_finding(NEWER, "o/r")
    assert "refs/ack/ledger, refs/ack/merges, refs/ack/pending and 2 more:" in found.sentence
