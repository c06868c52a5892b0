"""GitHub for the reviewer: a world in memory, every write recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from fakes.lock_server import BOT
from fakes.reviewer_world import ISSUE, NAMES, PULL, World
from fakes.unasked import (
    UnaskedChecks,
    UnaskedComments,
    UnaskedFences,
    UnaskedInbox,
    UnaskedIssues,
    UnaskedLabels,
    UnaskedPulls,
    UnaskedReviews,
    UnaskedStatus,
)
from reviewer_agent.review.questions import Recorded
from shared.errors import Gone
from shared.github.branch_rules import MergeRules
from shared.github.errors import HeadMoved
from shared.github.label_board import WantedLabels
from shared.github.status import Status
from shared.lock.hold import Held
from shared.lock.port import RefUpdate
from shared.lock.write_permit import WritePermit
from shared.models import (
    Blocker,
    Check,
    Comment,
    Finding,
    Issue,
    LabelEvent,
    Permission,
    PullRequest,
    QueuePlace,
    Review,
    ReviewComment,
    ReviewState,
)
from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Flag


class FakeInbox(UnaskedInbox):
    """The open items."""

    known: Mapping[int, Issue] = {}
    gone: Mapping[int, Issue] = {}
    orphans: Mapping[int, Issue] = {}

    def __init__(self, world: World) -> None:
        self._world = world

    async def look(self) -> Mapping[int, Issue]:
        """Return the open items, and note those that are no longer open."""
        self.gone = {PULL: self._world.as_issue()} if self.known and not self._world.pull.open else {}
        self.known = {PULL: self._world.as_issue()} if self._world.pull.open else {}
        return self.known

    def dismiss(self, number: int) -> None:
        """Note that nobody has to be told of the item's end."""
        assert number == PULL
        self.known = {}


@dataclass
class FakeHub(UnaskedIssues, UnaskedComments, UnaskedChecks, UnaskedStatus):
    """Issues, comments, people, checks, status and branches in one."""

    world: World

    async def issue(self, number: int) -> Issue:
        if number == PULL:
            self.world.meet("issue")
            return self.world.as_issue()
        if number != ISSUE:
            raise Gone
        return self.world.issue

    async def named(self, number: int, at: datetime) -> Issue:
        return await self.issue(number)

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]:
        self.world.meet("blockers")
        return ()

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        self.world.meet("events")
        return tuple(self.world.events)

    async def close(self, number: int, permit: WritePermit) -> Issue:
        permit.check()
        self.world.act(f"close {number}")
        self.world.issue = replace(self.world.issue, open=False)
        return self.world.issue

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        found = self.world.server.comments().values()
        return tuple(c for c in found if since is None or c.updated_at >= since)

    async def permission(self, login: str) -> Permission:
        return Permission.WRITE if login in self.world.writers else Permission.NONE

    async def of(self, sha: str) -> tuple[Check, ...]:
        outcome = self.world.checks.get(sha)
        return () if outcome is None else (Check("ci", outcome),)

    async def ever(self, tip: str) -> bool:
        return self.world.has_ci

    async def unstarted(self, sha: str) -> tuple[Check, ...]:
        return self.world.unstarted

    async def required(self, branch: str) -> frozenset[str]:
        return self.world.required

    async def merge_rules(self, branch: str) -> MergeRules:
        return self.world.rules

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        permit.check()
        self.world.meet("status")
        if self.world.statuses[-1:] != [status]:
            self.world.statuses.append(status)

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        if self.world.statuses:
            await self.show(number, status, permit)

    async def data(self, number: int) -> Mapping[str, Any]:
        return self.world.statuses[-1].data if self.world.statuses else {}


@dataclass
class FakeLabels(UnaskedLabels):
    """Stage labels and flags of the pull request."""

    world: World

    async def is_defined(self, stage: Stage) -> bool:
        return True

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        permit.check()
        self.world.change(labels=self.world.pull.labels | set(names), by=BOT)
        return self.world.pull.labels

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        labels = await self.add(number, [on], permit)
        return labels, labels

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        permit.check()
        self.world.change(labels=self.world.pull.labels - {name}, by=BOT)

    async def show_all(self, wanted: Sequence[WantedLabels], permit: WritePermit) -> tuple[frozenset[str], ...]:
        return tuple(
            [
                await self.show(
                    one.number, one.stage, permit, known=one.known, flags_on=one.flags_on, flags_off=one.flags_off
                )
                for one in wanted
            ]
        )

    async def show(
        self,
        number: int,
        stage: Stage,
        permit: WritePermit,
        *,
        known: frozenset[str] | None = None,
        flags_on: Collection[Flag] = (),
        flags_off: Collection[Flag] = (),
    ) -> frozenset[str]:
        permit.check()
        assert number == PULL
        before = self.world.pull.labels if known is None else known
        on = {NAMES.of(flag) for flag in flags_on} | (set() if stage in UNLABELLED else {NAMES.of(stage)})
        current = before if on <= before else self.world.pull.labels | on
        off = {name for name in current - on if name.startswith("status:") and stage not in UNLABELLED}
        shown = (self.world.pull.labels | (on - before)) - off
        if current - off != before:
            self.world.act(f"label {' '.join(sorted(shown))}")
            self.world.change(labels=shown, by=BOT)
        return current - off


@dataclass
class FakePulls(UnaskedPulls):
    """The pull request and its merge button."""

    world: World

    async def pull_request(self, number: int) -> PullRequest:
        assert number == PULL
        self.world.meet("pull")
        return self.world.pull

    async def merge(self, number: int, sha: str, method: str, message: str, held: Held) -> str:
        held.check()
        if sha != self.world.pull.head_sha:
            raise HeadMoved(f"The head is no longer {sha}.")
        self.world.act(f"merge {sha} {method} {message}")
        self.world.change(open=False, merged=True, merge_sha="d" * 40)
        return "d" * 40

    async def enqueue(self, node_id: str, head: str, held: Held) -> None:
        held.check()
        self.world.act(f"enqueue {node_id} {head}")
        self.world.queued = True

    async def queue_place(self, node_id: str, held: Held) -> QueuePlace:
        return QueuePlace(self.world.queued, self.world.queue_exit)


@dataclass
class FakeReviews(UnaskedReviews):
    """Reviews and their inline comments."""

    world: World

    async def of(self, number: int) -> tuple[Review, ...]:
        return tuple(self.world.reviews)

    async def at_start(self, number: int) -> tuple[Review, ...]:
        return await self.of(number)

    async def comments(self, number: int) -> tuple[ReviewComment, ...]:
        return tuple(self.world.remarks)

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        held.check()
        self.world.act(f"review {state} {sha} {len(findings)}")
        review = self.world.review(BOT, state, sha=sha, body=body)
        for place in findings:
            id, now = len(self.world.remarks) + 1, self.world.now
            self.world.remarks.append(
                ReviewComment(id, BOT, place.path, place.line, place.body, now, now, review_id=review.id)
            )
        return review

    async def resolve(self, number: int, roots: Collection[int], held: Held) -> int:
        held.check()
        self.world.resolved.append(frozenset(roots))
        if self.world.resolving is not None:
            raise self.world.resolving
        return len(roots)


@dataclass
class FakeRefs(UnaskedFences):
    """The engine's own refs on the git server, and a commit for each value."""

    world: World

    async def read(self, ref: str) -> tuple[str, str] | None:
        return self.world.turns.get(ref)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        self.world.meet("turn")
        found = self.world.turns.get(ref)
        if (found and found[0]) != expected:
            return None
        oid = hashlib.sha1(message.encode()).hexdigest()
        self.world.turns[ref] = oid, message
        return oid


@dataclass
class FakeRecords:
    """The engine's records of its runs."""

    world: World

    async def of(self, pull_request: PullRequest, base: str) -> Recorded:
        assert (pull_request.number, base) == (PULL, self.world.tips[f"refs/heads/{pull_request.base_branch}"])
        return self.world.recorded
