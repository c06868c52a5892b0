"""Features that a server lacks or a token may not see: they mean the same in `doctor` and in the engine."""

from __future__ import annotations

import pytest
from github_script import Plan, scripted

from shared.github.branch_rules import (
    DISMISS_STALE,
    LAST_PUSH,
    Protection,
    missing_for_approvals,
    protection,
    refusing_pushes,
)
from shared.github.checks import Checks

R = "o/r"
BRANCH = {"name": "main", "protected": True, "protection": {"required_status_checks": {"contexts": ["test"]}}}
REFUSALS = [
    Plan(404, {"message": "Not Found"}),
    Plan(403, {"message": "Resource not accessible by integration"}),
    Plan(403, {"message": "Upgrade to GitHub Pro or make this repository public to enable this feature."}),
]


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_server_without_rulesets_asks_for_what_its_protection_asks_for(refusal: Plan) -> None:
    async with scripted(Plan(body=BRANCH), refusal) as (github, _):
        assert await Checks(github, R).required("main") == {"test"}
    classic = Plan(body={"required_pull_request_reviews": {}})
    async with scripted(Plan(body=BRANCH), refusal, classic) as (github, _):
        assert await protection(github, R, "main") is Protection.PULL_REQUESTS
    async with scripted(refusal, classic) as (github, _):
        assert await missing_for_approvals(github, R, "main") == (
            DISMISS_STALE,
            LAST_PUSH,
        )


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_without_either_nothing_is_known_and_nothing_fails(refusal: Plan) -> None:
    async with scripted(Plan(body=BRANCH), refusal, refusal) as (github, _):
        assert await protection(github, R, "main") is Protection.UNKNOWN
    async with scripted(refusal, refusal) as (github, _):
        assert await missing_for_approvals(github, R, "main") is None


async def test_what_rules_may_refuse_of_a_push_is_named_in_one_order() -> None:
    found = [{"type": kind} for kind in ("deletion", "pull_request", "required_signatures", "pull_request")]
    async with scripted(Plan(body=found), REFUSALS[0]) as (github, script):
        assert await refusing_pushes(github, R, "auto/issue-1") == ("signed commits", "pull requests")
        assert await refusing_pushes(github, R, "auto/issue-2") == (), "a server without rulesets"
    assert script.calls[0] == "GET /repos/o/r/rules/branches/auto%2Fissue-1?per_page=100"
