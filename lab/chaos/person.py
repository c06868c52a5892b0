"""The person of a trial: pushes to the engine's branches, and gives the commands that the engine then asks for."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lab.chaos.setup import OWNER, REPOSITORY, TrialHost
from shared.clock import Clock

PUSH_EVERY_SECONDS = 15.0
READ_EVERY_SECONDS = 2.0

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
