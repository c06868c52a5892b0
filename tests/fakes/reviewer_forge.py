"""The reviewer's ports over a world in memory; every write is remembered."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.agent import claimed
from fakes.closing import FakeClosing, FakeReplies
from fakes.lock_port import FakeNonces, ServerClock, ServerPort
from fakes.lock_server import BOT
from fakes.reviewer_github import FakeHub, FakeInbox, FakeLabels, FakePulls, FakeRecords, FakeRefs, FakeReviews
from fakes.reviewer_world import KEYS, NEXT, World, judged, second
from fakes.unasked import UnaskedMirror
from reviewer_agent.agent import Reviewer
from reviewer_agent.merge.merge_turns import MergeTurns
from reviewer_agent.merge.update_turns import UpdateTurns
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Forge
from reviewer_agent.review.pending_reviews import PendingReviews
from reviewer_agent.review.review_calls import ReviewCalls
from reviewer_agent.review.review_input import ReviewInputs
from reviewer_agent.snapshot import Merge
from shared.git.failures import NoSuchRef
from shared.llm.port import CoderCall, Ending, Request, RunOutcome
from shared.lock.claimant import Claimant
from shared.lock.lease import Lease
from shared.lock.port import Port
from shared.loop.claims import Claims
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Ended, Skip
from shared.text.prompts import Prompts
from shared.workflow import Role
from shared.workflow.labels import Labels

PROMPTS = Path(__file__).parents[2] / "reviewer_agent" / "prompts"

PUSHED_AND_ASKED: dict[str, Any] = {"head_sha": NEXT, "labels": frozenset({"status:in-review", "status:reviewing"})}
"""A maintainer pushes during the review and asks for another one by the label."""


@dataclass
class FakeSource(UnaskedMirror):
    """A mirror with one base and one change."""

    world: World
    fetched: list[str] = field(default_factory=list)

    async def ensure(self) -> None:
        return

    async def refresh(self, ref: str) -> str | None:
        return self.world.tips.get(ref)

    async def read_together(self, *refs: str) -> None:
        return

    async def sha(self, ref: str) -> str | None:
        return ref if ref in self.fetched and ref not in self.world.gone else None

    async def fetch(self, *refspecs: str) -> None:
        self.world.meet("fetch")
        if self.world.gone & set(refspecs):
            raise NoSuchRef
        self.fetched += refspecs

    async def paths(self, commit: str) -> tuple[str, ...]:
        return ("app.py",)

    async def diff(self, base: str, head: str) -> str:
        assert head in self.fetched
        self.world.meet("diff")
        return self.world.diffs.get((base, head), self.world.diff)

    async def show(self, commit: str, path: str) -> bytes | None:
        return self.world.files.get((commit, path))


@dataclass
class FakeCoder:
    """Gives the world's answers in order; a review that nobody planned fails the test."""

    world: World

    @property
    def name(self) -> str:
        return "fake"

    async def run(self, request: Request) -> RunOutcome:
        if request.call is CoderCall.CHECK_CRITERIA:
            self.world.checks_asked.append(request)
            planned = self.world.checked.pop(0) if self.world.checked else second(request)
        else:
            self.world.requests.append(request)
            planned = self.world.answers.pop(0)
            self.world.server.seconds += 60
            self.world.change(**self.world.during_call)
        if isinstance(planned, RunOutcome):
            return planned
        planned = judged(planned, request)
        return RunOutcome(Ending.COMPLETED, text=json.dumps(planned), answer=planned)


def forge_of(world: World) -> Forge:
    """Every port over one world but git's."""
    hub = FakeHub(world)
    return Forge(
        inbox=FakeInbox(world),
        issues=hub,
        comments=hub,
        people=hub,
        labels=FakeLabels(world),
        pulls=FakePulls(world),
        reviews=FakeReviews(world),
        checks=hub,
        status=hub,
        turns=MergeTurns(FakeRefs(world), FakeSource(world), lambda: world.now),
        updates=UpdateTurns(FakeRefs(world), lambda: world.now, FakePulls(world), Labels(), frozenset()),
        closing=FakeClosing(),
        replies=FakeReplies(),
    )


def reviewer(
    world: World,
    name: str = "reviewer-1",
    *,
    forge: Forge | None = None,
    source: Any = None,
    port: Port | None = None,
    **policy: Any,
) -> Reviewer:
    """A reviewer process with a state directory of its own."""
    second_pass = policy.pop("second_pass", True)
    rules = Policy("o/r", **policy)
    claimant = Claimant(name, frozenset({BOT.id}), KEYS, FakeNonces(name))
    examiner = ReviewCalls(FakeCoder(world), Prompts(PROMPTS), rules)
    drafts = PendingReviews(
        ReviewInputs(source or FakeSource(world), FakeRecords(world).of, rules.diff_bytes),
        examiner,
        second_pass=second_pass,
    )
    claims = Claims(Role.REVIEWER, port or ServerPort(world.server), claimant)
    return Reviewer(forge or forge_of(world), claims, drafts, rules)


async def tick(world: World, /, agent: Reviewer | None = None, **policy: Any) -> list[Ended]:
    """Run one tick of a loop that is then closed, until everything rests; return what has ended."""
    loop = Loop(agent or reviewer(world, **policy), ServerClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
    return loop.ended


def auto(**more: Any) -> dict[str, Any]:
    """The policy of a repository that merges by itself."""
    return {"merge": Merge.AUTO} | more


async def look(agent: Reviewer) -> Lease | Skip:
    """Discover the pull request and try to claim it."""
    (candidate,) = await agent.discover()
    return await claimed(agent, candidate)
