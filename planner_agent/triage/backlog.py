"""The issues that may get a proposal, the register of those that were triaged, and how many places are left today.

The register's lines are `{"v": 1, "issue", "agent", "run", "at"}`, each there before the call is paid for.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from planner_agent import register
from planner_agent.decide import Phase
from planner_agent.register import Form, Register, places
from shared.clock import Clock
from shared.github.ports import Issues
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.models import Account, Issue
from shared.scheduling.order import assigned

LOOK_SECONDS = 600.0
"""Seconds between two lists of all open issues, while a proposal may be made today."""

TRIES = 3
"""Attempts to write a line of the register when other planners write at the same time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An issue that a planner is about to triage, or has; `at` is server time, `run` unlike any other."""

    issue: int
    agent: str
    run: str
    at: datetime


def write(entry: Entry) -> str:
    """Return the entry as one line."""
    return register.write(entry.agent, entry.run, entry.at, issue=entry.issue)


def read(text: str) -> Entry | None:
    """Return the entry that a line spells; None for anything else."""
    return register.read(text, lambda line, agent, run, at: Entry(int(line["issue"]), agent, run, at))


TRIAGED = Form("refs/ack/triage", write, read, "triaged issues", "triages nothing")


def unfit(issue: Issue, account: Account) -> str:
    """Return why an issue gets no proposal, as a part of a sentence; empty if it may get one."""
    if issue.is_pull_request:
        return "it is a pull request"
    if not issue.open or issue.locked:
        return "it is closed or locked"
    if issue.labels:
        return "it has a label"
    if issue.author == account:
        return "it is the engine's own"
    return assigned(issue, lambda one: one == account)


def has_begun(fence: Fence | None) -> bool:
    """Return whether a planner has begun with a proposal, and has not come to its end."""
    return fence is not None and fence.phase == Phase.TRIAGE


class Backlog:
    """The open issues without a label, and the places of the day."""

    def __init__(self, issues: Issues, register: Register[Entry], account: Account, per_day: int, clock: Clock) -> None:
        self._issues, self._register, self._account, self._per_day = issues, register, account, per_day
        self._clock = clock
        self._listed: tuple[Issue, ...] = ()
        self._next = float("-inf")

    async def entries(self) -> Mapping[int, Entry]:
        """Return what was triaged, by the number of the issue. Raises `Transient`, `Outdated`."""
        return {one.issue: one for one in await self._register.read()}

    async def places(self, now: datetime) -> int:
        """Return how many issues may still be triaged. Raises `Transient`, `Outdated`."""
        return places((one.at for one in await self._register.read()), self._per_day, now)

    async def fitting(self) -> tuple[Issue, ...]:
        """Return the issues that seem to need a proposal, oldest first; lists only hint."""
        return tuple(one for one in await self.listed() if not unfit(one, self._account))

    async def listed(self) -> tuple[Issue, ...]:
        """Return all open issues, as they were listed at most `LOOK_SECONDS` ago."""
        if self._clock.boot() >= self._next:
            self._listed = await self._issues.open()
            self._next = self._clock.boot() + LOOK_SECONDS
        return self._listed

    async def take(self, held: Held, nonce: Callable[[], str] = lambda: secrets.token_hex(16)) -> bool:
        """Return whether the held issue has one of the places of the day: from before, or one that it gets now."""
        number = held.fence.key.number
        for _ in range(TRIES):
            now = held.server_now()
            if number in await self.entries():
                return True
            if not await self.places(now):
                return False
            if await self._register.append(Entry(number, held.fence.agent, nonce(), now)):
                return True
        return False
