"""The limit of reruns for one commit's jobs, which the fence remembers beyond a hand-over."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence, write_fence
from shared.workflow import Role, Stage
from worker_agent.ci.ci_reader import RERUN_TRAILER, may_rerun, rerun_forgotten, rerun_noted
from worker_agent.decide import RED_BASE, NextStep

FENCE = Fence(
    ItemKey(Role.WORKER, 42),
    7,
    "a" * 32,
    "worker-1",
    Stage.TESTING,
    datetime(2026, 1, 5, tzinfo=UTC),
    phase=NextStep.CI,
    work_head="b" * 40,
    more=(("Other", "kept"),),
)
RERAN = replace(FENCE, more=rerun_noted(FENCE))


@pytest.mark.parametrize(
    ("fence", "left"),
    [
        (FENCE, True),
        (replace(FENCE, phase="rerun 7"), False),
        (RERAN, False),
        (replace(RERAN, round=1), False),
        (replace(RERAN, work_head="c" * 40), True),
        (replace(RERAN, phase=RED_BASE), True),
        (replace(RERAN, approved_by="/retry by ada in comment 7"), True),
        (replace(RERAN, approved_by="ada"), False),
        (replace(RERAN, more=rerun_forgotten(RERAN)), True),
    ],
    ids=["first", "under way", "was", "a later round", "another commit", "base", "command", "consent", "not sent"],
)
def test_whether_its_jobs_may_be_run_once_more(fence: Fence, left: bool) -> None:
    assert may_rerun(fence) is left


def test_the_fence_carries_it_beside_what_else_it_carries_and_names_one_commit() -> None:
    again = replace(RERAN, work_head="c" * 40)
    noted = replace(again, more=rerun_noted(again))
    assert dict(noted.more) == {"Other": "kept", RERUN_TRAILER: "c" * 40}
    assert read_fence(noted.key, "", write_fence(noted)) == noted
