"""Checks of a token's permissions that change nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from engine import ENGINE, REPOSITORY, WRITES
from fakes.clock import PassingClock
from github_script import Plan, scripted
from judge import Judge

from lab.github.server import Lab
from shared.github.access import Access, access, needed
from shared.github.branch_rules import (
    DISMISS_STALE,
    LAST_PUSH,
    MergeRules,
    Protection,
    missing_for_approvals,
    protection,
)
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.limits import Pacing
from shared.github.tokens import Kept
from shared.lock.write_permit import OperatorPermit
from shared.workflow import AGENTS, Role

ORDER = OperatorPermit("a test")


@dataclass
class Desk:
    """A lab with one repository and clients with tokens of the engine."""

    lab: Lab
    session: aiohttp.ClientSession

    def github(self, permissions: dict[str, str]) -> GitHub:
        clock = PassingClock()
        pacing = Pacing(clock, share=1.0, write_interval_seconds=0)
        secret = self.lab.token(ENGINE, permissions)
        return GitHub(self.session, token=Kept(lambda: secret), api_url=self.lab.url, clock=clock, pacing=pacing)


@pytest.fixture
async def desk(tmp_path: Path, judge: Judge) -> AsyncIterator[Desk]:
    async with Lab(tmp_path / "github") as lab, aiohttp.ClientSession() as session:
        lab.exchanges.observe(judge)
        await lab.repository(REPOSITORY, {"README.md": "hello\n"}, collaborators={ENGINE: "write"})
        lab.configure(REPOSITORY, private=True)  # in a public one everybody may read
        yield Desk(lab, session)
        assert lab.unlisted == []
    assert judge.complaints == []


@pytest.mark.fault(4)
@pytest.mark.parametrize("permission", sorted(needed(AGENTS)))
async def test_each_permission_that_is_missing_is_named_alone(desk: Desk, permission: str) -> None:
    level = needed(AGENTS)[permission]
    less = {**WRITES, permission: "read" if level == "write" else "none"}
    found = await access(desk.github(less), REPOSITORY, AGENTS, "main", ORDER)
    assert found == Access(missing=(f"{permission}: {level}",))


@pytest.mark.parametrize("role", sorted(AGENTS))
async def test_what_an_agent_needs_is_enough_and_trying_it_changes_nothing(desk: Desk, role: Role) -> None:
    before = await desk.lab.at(REPOSITORY).bare.refs("refs/")
    assert await access(desk.github(needed([role])), REPOSITORY, [role], "main", ORDER) == Access()
    assert await desk.lab.at(REPOSITORY).bare.refs("refs/") == before
    assert not desk.lab.at(REPOSITORY).issues.records


async def test_an_answer_that_says_nothing_is_not_taken_for_a_yes(desk: Desk) -> None:
    found = await access(desk.github(WRITES), REPOSITORY, [Role.WORKER], "no-such-branch", ORDER)
    assert found == Access(unclear=("checks: read", "statuses: read"))


@pytest.mark.parametrize(
    ("header", "scopes"),
    [({}, None), ({"x-oauth-scopes": ""}, set()), ({"X-OAuth-Scopes": "repo, workflow"}, {"repo", "workflow"})],
)
async def test_the_scopes_of_a_classic_token_are_read_from_its_answers(
    header: dict[str, str], scopes: set[str] | None
) -> None:
    async with scripted(Plan(body={"id": 1}, headers=header)) as (github, _):
        assert github.scopes is None, "nothing is known before the first answer"
        await github.get("/user")
        assert github.scopes == scopes


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([Plan(404, {"message": "Branch not found"})], Protection.ABSENT),
        ([Plan(body={"protected": False}), Plan(body=[])], Protection.NONE),
        ([Plan(body={"protected": False}), Plan(body=[{"type": "pull_request"}])], Protection.PULL_REQUESTS),
        ([Plan(body={"protected": True}), Plan(body=[]), Plan(403, {"message": "no"})], Protection.UNKNOWN),
        (
            [Plan(body={"protected": True}), Plan(body=[{"type": "deletion"}]), Plan(403, {"message": "no"})],
            Protection.PUSHABLE,
        ),
        (
            [Plan(body={"protected": True}), Plan(body=[]), Plan(body={"required_pull_request_reviews": {}})],
            Protection.PULL_REQUESTS,
        ),
        ([Plan(body={"protected": True}), Plan(body=[]), Plan(body={"enforce_admins": {}})], Protection.PUSHABLE),
    ],
)
async def test_what_protects_a_branch_as_far_as_can_be_seen(plans: list[Plan], expected: Protection) -> None:
    async with scripted(*plans) as (github, _):
        assert await protection(github, "o/r", "main") is expected


PULLS = {"type": "pull_request", "parameters": {"dismiss_stale_reviews_on_push": True}}
NOT_SEEN = Plan(403, {"message": "no"})


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([Plan(body=[]), NOT_SEEN], None),
        ([Plan(body=[{"type": "deletion"}]), Plan(404, {"message": "Branch not protected"})], None),
        ([Plan(body=[]), Plan(body={"enforce_admins": {}})], None),
        ([Plan(body=[{"type": "pull_request"}]), NOT_SEEN], (DISMISS_STALE, LAST_PUSH)),
        ([Plan(body=[PULLS]), NOT_SEEN], (LAST_PUSH,)),
        ([Plan(body=[PULLS]), Plan(body={"required_pull_request_reviews": {"require_last_push_approval": True}})], ()),
        ([Plan(body=[]), Plan(body={"required_pull_request_reviews": {}})], (DISMISS_STALE, LAST_PUSH)),
    ],
)
async def test_what_a_branch_lacks_for_approvals_to_be_of_what_is_merged(
    plans: list[Plan], expected: tuple[str, ...] | None
) -> None:
    async with scripted(*plans) as (github, _):
        assert await missing_for_approvals(github, "o/r", "main") == expected


REVIEWS = {"required_approving_review_count": 2, "require_code_owner_review": True, "require_last_push_approval": True}
RESOLVED = {
    "type": "pull_request",
    "parameters": {"required_review_thread_resolution": True, "dismiss_stale_reviews_on_push": True},
}
STRICT = {"type": "required_status_checks", "parameters": {"strict_required_status_checks_policy": True}}
CLASSIC = {
    "required_pull_request_reviews": {
        "required_approving_review_count": 3,
        "require_code_owner_reviews": True,
        "dismiss_stale_reviews": True,
    },
    "required_conversation_resolution": {"enabled": True},
    "required_status_checks": {"strict": True},
}


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([Plan(body=[]), NOT_SEEN], MergeRules()),
        ([Plan(404, {"message": "Not Found"}), NOT_SEEN], MergeRules()),
        ([Plan(body=[{"type": "deletion"}, {"type": "pull_request"}]), NOT_SEEN], MergeRules(pull_requests=True)),
        (
            [Plan(body=[{"type": "pull_request", "parameters": REVIEWS}]), NOT_SEEN],
            MergeRules(2, code_owners=True, last_push=True, pull_requests=True),
        ),
        (
            [Plan(body=[RESOLVED, STRICT, {"type": "merge_queue"}]), NOT_SEEN],
            MergeRules(conversations=True, up_to_date=True, queue=True, dismisses=True, pull_requests=True),
        ),
        (
            [Plan(body=[{"type": "pull_request", "parameters": REVIEWS}]), Plan(body=CLASSIC)],
            MergeRules(
                approvals=3,
                code_owners=True,
                last_push=True,
                conversations=True,
                up_to_date=True,
                dismisses=True,
                pull_requests=True,
            ),
        ),
        ([Plan(body=[]), Plan(body={"enforce_admins": {}})], MergeRules()),
    ],
)
async def test_everything_that_rules_and_protection_require_counts(plans: list[Plan], expected: MergeRules) -> None:
    async with scripted(*plans) as (github, _):
        checks = Checks(github, "o/r")
        assert await checks.merge_rules("main") == expected
        assert await checks.merge_rules("main") == expected, "and is not asked for again soon"
