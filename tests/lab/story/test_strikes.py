"""A proxy in front of GitHub answers one request once as a replica or a limit of GitHub does: the story goes on."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from engine import REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import COSTLESS, REVIEW, calls, costs_nothing

from benchmarks.proxy import recording
from shared.errors import Transient, Unauthorized
from shared.workflow import Role

PULL = 2
TICKS = 60
LIMIT_SECONDS = 61.0
NODE = ["Could not resolve to a node with the global id of 'PR_kwDO'."]
ABUSE = "You have triggered an abuse detection mechanism. Please retry your request again later."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
QUICKLY = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "was submitted too quickly"}
HEAD = {"resource": "PullRequest", "code": "invalid", "field": "head"}


@dataclass
class Strike:
    """The answer to one request that fits; `hit` tells which one it was."""

    method: str
    path: str
    status: int
    message: str = "Not Found"
    errors: list[Any] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    hit: str = ""

    def answer(self, request: web.Request) -> web.Response | None:
        """Return the planned answer for the first request that fits, else None."""
        fits = request.method == self.method and re.search(rf"/repos/[^/]+/[^/]+{self.path}$", request.path)
        if self.hit or not fits:
            return None
        self.hit = f"{request.method} {request.path}"
        said = {"message": self.message, **({"errors": self.errors} if self.errors else {})}
        return web.Response(
            status=self.status, text=json.dumps(said), content_type="application/json", headers=self.headers
        )


VALIDATION = "Validation Failed"
NO_COMMIT = "No commit found for SHA"

STRIKES: dict[str, tuple[Any, ...]] = {
    "no commit for check runs": ("GET", r"/commits/\w+/check-runs", 422, NO_COMMIT),
    "no check runs": ("GET", r"/commits/\w+/check-runs", 404),
    "no commit for the status": ("GET", r"/commits/\w+/status", 422, NO_COMMIT),
    "no pull request": ("GET", rf"/pulls/{PULL}", 404),
    "no issue": ("GET", "/issues/1", 404),
    "no node for labels": ("POST", rf"/issues/{PULL}/labels", 422, VALIDATION, NODE),
    "no pull request for labels": ("POST", rf"/issues/{PULL}/labels", 404),
    "no label to take off": ("DELETE", r"/issues/\d+/labels/.+", 404),
    "head invalid": ("POST", "/pulls", 422, VALIDATION, [HEAD]),
    "no ACK to edit": ("PATCH", r"/issues/comments/\d+", 404),
    "no ACK to read": ("GET", r"/issues/comments/\d+", 404),
    "no thread": ("GET", rf"/issues/{PULL}/comments", 404),
    "no node for a review": ("POST", rf"/pulls/{PULL}/reviews", 422, VALIDATION, NODE),
    "no reviews": ("GET", rf"/pulls/{PULL}/reviews", 404),
    "nothing to merge": ("PUT", rf"/pulls/{PULL}/merge", 404),
    "no rulesets": ("GET", r"/rules/branches/main", 404),
    "a comment too quickly": ("POST", r"/issues/\d+/comments", 422, VALIDATION, [QUICKLY]),
    "a pull request too quickly": ("POST", "/pulls", 422, "was submitted too quickly"),
    "abuse detected in a review": ("POST", rf"/pulls/{PULL}/reviews", 403, ABUSE),
    "a secondary limit on the merge": ("PUT", rf"/pulls/{PULL}/merge", 403, SECONDARY),
    "too many merges": ("PUT", rf"/pulls/{PULL}/merge", 429, "Too many requests", [], {"Retry-After": "60"}),
    "a token that is not known yet": ("GET", r"/issues", 401, "Bad credentials"),
}
"""Kind -> method, path, status, message, errors and headers of the answer."""

QUICK = ("no commit for check runs", "head invalid", "no node for labels", "a comment too quickly")
"""Strikes of every run; the others take longer."""

NEVER_ASKED = ("no thread",)
"""All that was written there is ours and known; only what somebody else writes is read."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in QUICK else pytest.mark.long) for kind in STRIKES]
)
async def test_one_late_or_limited_answer_costs_nothing_but_time(engine: Engine, kind: str) -> None:
    strike, clock = Strike(*STRIKES[kind]), QuickClock(engine.lab.clock.advance)
    await costs_nothing(engine, COSTLESS + REVIEW)
    engine.clock = clock
    engine.repository_settings |= {"merge": "auto"}
    number = engine.ready("Greet people", "- [ ] AC1: greet returns a greeting")
    async with recording(engine.lab.url, instead=strike.answer) as proxy:
        engine.address = proxy.url
        async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
            for _ in range(TICKS):
                if not engine.issue(number).open:
                    break
                for agent in (worker, reviewer):
                    with suppress(Transient, Unauthorized):  # as the loop does that ticks by itself
                        await engine.tick(agent)
                clock.skip(LIMIT_SECONDS / 4)
    assert bool(strike.hit) is (kind not in NEVER_ASKED)
    repository = engine.lab.at(REPOSITORY)
    assert [pull.merge_sha is not None for pull in repository.pulls.records.values()] == [True]
    assert "status:failed" not in engine.issue(number).labels
    assert calls(engine, "implement") == calls(engine, "review") == 1, "nothing was paid for twice"
