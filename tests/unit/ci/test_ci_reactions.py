"""Failed jobs that are run again: what is recorded and told where GitHub refuses some of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from ci_reader_scene import AT, BOT, HEAD, JOB, Ci
from fakes.lock_port import FakeAgent, run
from fakes.lock_server import Server

from shared.ci.ci_round import CiObservation
from shared.ci.triage import Failure, triage
from shared.errors import Blocked
from shared.github.status import Status
from shared.lock.write_permit import WritePermit
from shared.models import Check, CheckOutcome, Issue
from worker_agent.ci.reactions import CiReactions
from worker_agent.decide import Snapshot

LINT = replace(JOB, name="lint", job_id=8, run_id=2)


@dataclass
class Board(Ci):
    """GitHub, which refuses to run some workflow runs again; `told` is what the thread says."""

    refused: frozenset[int] = frozenset()
    told: list[str] = field(default_factory=list)

    async def rerun(self, run_id: int, permit: WritePermit) -> None:
        self.asked.append(f"rerun {run_id}")
        if run_id in self.refused:
            raise Blocked(f"run {run_id} is too old")

    async def data(self, number: int) -> dict[str, object]:
        raise AssertionError("nothing is read back")

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        self.told.append(f"{status.sentence}\n{status.notes}")


@pytest.mark.parametrize(
    ("refused", "shown", "says"),
    [
        ((), {"test": CheckOutcome.RUNNING, "lint": CheckOutcome.RUNNING}, "rerunning the failed jobs"),
        ((2,), {"test": CheckOutcome.RUNNING, "lint": CheckOutcome.FAILED}, "may not rerun some of it"),
        ((1, 2), {"test": CheckOutcome.FAILED, "lint": CheckOutcome.FAILED}, "may not rerun it"),
    ],
)
async def test_what_github_refuses_to_run_again_is_told_and_not_waited_for(
    refused: tuple[int, ...], shown: dict[str, CheckOutcome], says: str
) -> None:
    agent = FakeAgent(Server(), "worker-a")
    held = agent.win(work_head=HEAD)
    checks: tuple[Check, ...] = (JOB, LINT)
    ci = Board({HEAD: checks}, refused=frozenset(refused))
    reading = CiObservation(checks, diagnosis=triage([Failure(JOB), Failure(LINT)]), rerunnable=True)
    issue = Issue(42, "T", "", frozenset(), BOT, AT, AT)
    run(agent.port, CiReactions(ci, ci).rerun(held, Snapshot(held.fence, issue, ci=reading)))
    assert ci.asked == ["rerun 1", "rerun 2"]
    assert says in ci.told[0]
    assert ("is too old" in ci.told[0]) is bool(refused)
    seen = await ci.reader().read(held.fence)
    assert {check.name: check.outcome for check in seen.checks} == shown
