"""Troubles of a trial from outside: GitHub's faults, and a person.

The person pushes to the engine's branches, and gives the commands that the engine then asks for.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lab.chaos.setup import OWNER, REPOSITORY, TrialHost
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.clock import Clock

PUSH_EVERY_SECONDS = 15.0
READ_EVERY_SECONDS = 2.0

FAULT_EVERY_SECONDS = 3.0

_WRITES = ("POST", "PATCH", "PUT", "DELETE")


_NOT_REVIEWED = re.compile(
    r"The commit (?P<commit>\w{12}) was pushed after \w{12} was handed to review\. "
    r"(?:Set|Take) `(?P<label>[^`]+)`"
)
"""Sentence of a pull request's status comment about an unreviewed commit, with the label that orders its review."""


@dataclass
class Person:
    """The owner; `counts` are for the report."""

    host: TrialHost
    clock: Clock
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    pushed: dict[str, str] = field(default_factory=dict)
    """File -> branch of the commits."""
    answered: set[str] = field(default_factory=set)
    """Commits whose review was asked for."""

    async def push(self) -> None:
        """Push a commit to a branch that has a pull request, now and then, until cancelled."""
        while True:
            await self.clock.sleep(PUSH_EVERY_SECONDS * self.chance.uniform(0.5, 1.5))
            pulls = self.host.repository.pulls.records.values()
            branches = [one.head_branch for one in pulls if one.merged_at is None]
            fresh = sorted(set(branches) - set(self.pushed.values()))
            if fresh:
                await self._push(self.chance.choice(fresh))

    async def answer(self) -> None:
        """Ask for the review of a pushed commit where the engine says so, once for each commit, until cancelled.

        A push alone is not reviewed.
        """
        while True:
            await self.clock.sleep(READ_EVERY_SECONDS)
            for number, found in tuple(self._find_requests()):
                self.answered.add(found["commit"])
                thread = self.host.repository.issues.require(number)
                if found["label"] in thread.labels:  # only setting it anew is an order
                    self.host.lab.unlabel(REPOSITORY, number, found["label"], actor=OWNER)
                self.host.lab.label(REPOSITORY, number, found["label"], actor=OWNER)
                self.counts["reviews that a person asked for"] += 1

    def _find_requests(self) -> Iterator[tuple[int, re.Match[str]]]:
        """Yield pull requests with the sentence that asks for a command."""
        opened = {one.number for one in self.host.repository.pulls.records.values() if one.merged_at is None}
        for comment in self.host.repository.comments.records.values():
            found = _NOT_REVIEWED.search(comment.body) if comment.number in opened else None
            if found is not None and found["commit"] not in self.answered:
                yield comment.number, found

    async def _push(self, branch: str) -> None:
        bare, path = self.host.repository.bare, f"person_{len(self.pushed) + 1}.txt"
        async with bare.changing(OWNER):
            if await bare.sha(f"refs/heads/{branch}") is None:
                return  # merged and deleted in this moment
            head = f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> now\ndata 6\nChange\n"
            stream = f"{head}from refs/heads/{branch}^0\nM 100644 inline {path}\ndata 4\nada\n\n"
            await bare.git.check("fast-import", "--quiet", "--date-format=now", stdin=stream.encode())
        self.pushed[path] = branch
        self.counts["commits of a person"] += 1


@dataclass
class FaultSchedule:
    """Plans one fault of GitHub after another for all agents; `counts` are for the report."""

    host: TrialHost
    clock: Clock
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)

    async def blow(self) -> None:
        """Plan faults until cancelled; then drop those that have not happened yet."""
        faults = self.host.lab.faults
        kinds: tuple[Callable[[], Fault], ...] = (
            self._storm,
            self._lost_exchange,
            self._lost_push,
            self._limit,
            self._delay,
        )
        try:
            while True:
                await self.clock.sleep(FAULT_EVERY_SECONDS * self.chance.uniform(0.5, 1.5))
                fault = faults.plan(self.chance.choice(kinds)())
                self.counts[str(fault.kind)] += 1
        finally:
            self.counts["that hit nothing"] = sum(fault.seen < fault.nth for fault in faults.planned)
            faults.clear()

    def _storm(self) -> Fault:
        kind = self.chance.choice((FaultKind.ERROR_BEFORE, FaultKind.ERROR_AFTER))
        return Fault(kind, lasting=self.chance.uniform(1, 4), status=self.chance.choice((500, 502, 503)))

    def _lost_exchange(self) -> Fault:
        kind = self.chance.choice((FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST, FaultKind.RESET))
        return Fault(kind, self.chance.choice(_WRITES), "^/repos/", times=self.chance.randint(1, 3))

    def _lost_push(self) -> Fault:
        return Fault(self.chance.choice((FaultKind.LOST_REPLY, FaultKind.LOST_REQUEST)), "POST", "/git-receive-pack$")

    def _limit(self) -> Fault:
        kind = self.chance.choice((FaultKind.PRIMARY_LIMIT, FaultKind.SECONDARY_LIMIT))
        return Fault(kind, path="^/repos/", seconds=6, status=self.chance.choice((403, 429)), retry_after=3)

    def _delay(self) -> Fault:
        return Fault(FaultKind.DELAY, path="^/repos/", seconds=self.chance.uniform(0.2, 2), times=5)
