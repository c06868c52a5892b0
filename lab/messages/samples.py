"""The facts that the texts are rendered from: one issue, its pull request, and an agent of each kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.models import Account, Issue, PullRequest
from shared.text import change_summary
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

AT = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
UNTIL = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NAMES = Labels()
HEAD, BASE = "215fb19e" * 5, "0a1b2c3d" * 5
ADA = Account(1, "ada")

ISSUE = Issue(12, "Search users", "", frozenset(), ADA, AT, AT)
PULL = PullRequest(
    number=15,
    title="Search users",
    body=change_summary.written("People can be found by a part of their name. The store keeps no index for it."),
    author=Account(2, "engine-bot"),
    labels=frozenset(),
    head_branch="auto/issue-12",
    head_sha=HEAD,
    base_branch="main",
    merge_sha="9f8e7d6c" * 5,
    head_repository="ada/directory",
    base_repository="ada/directory",
)
WORK = Fence(
    ItemKey(Role.WORKER, 12), 7, "ab" * 16, "worker-1", Stage.IMPLEMENTING, AT, attempt=1, work_head=HEAD, base=BASE
)
OPENED = replace(WORK, stage=Stage.TESTING, pr=15)
FAILED = replace(WORK, stage=Stage.FAILED)
ROUND = replace(OPENED, round=2)
LATER = replace(WORK, wait=Wait("usage-limit", UNTIL))
STORY = Fence(ItemKey(Role.PLANNER, 11), 7, "ab" * 16, "planner-1", Stage.AWAITING_APPROVAL, AT, attempt=1)
REVIEW = Fence(ItemKey(Role.REVIEWER, 15), 7, "ab" * 16, "reviewer-1", Stage.APPROVED, AT, work_head=HEAD, round=0)
