"""A maintainer's office: planner, worker and reviewer at one small project, and what people do there by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from string import Template
from typing import Any, TypeVar

from branch_scene import push
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import comments, labels, pulls

from lab import stub_project
from lab.github.world.comments import CommentRecord
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.workflow import Role

PEOPLE = ("grace", "alan")
"""People with write access besides the owner; mallory can only read."""

ROUND_SECONDS = 20
"""Seconds that pass between two looks, on GitHub's clock and on the agents' clock."""

T = TypeVar("T")

HALTED = frozenset({"status:failed", "status:ci-failed"})

_LATER = Template("""
- call: implement
  for: greet $name
  attempt: any
  round: 1
  edits: [{path: $name.txt, content: "hello, dear $name\\n"}]

- call: review
  for: greet $name
  round: any
  answer:
    verdict: approved
    summary: It greets.
    findings: []
    criteria: [{id: AC1, met: true, note: test_$name}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  for: greet $name
  round: any
  answer: {criteria: [{id: AC1, met: true, note: test_$name was red before}]}
""")
"""The scripted answers in a round of changes, in addition to those of `stub_project` for the first round."""


@dataclass
class Office:
    """One repository on a working day; `failed` is whatever was given up, however briefly."""

    engine: Engine
    planner: Loop
    worker: Loop
    reviewer: Loop
    failed: dict[int, str]

    def issue(self, title: str, body: str = "", *labels: str, by: str = OWNER) -> int:
        """Write an issue as `by`, and return its number."""
        return self._later(lambda: self.engine.lab.issue(REPOSITORY, title, body, author=by, labels=labels)).number

    def ready(self, title: str, body: str = "", *more: str) -> int:
        """Write a specification as the owner and have it built."""
        return self.issue(title, body, "status:ready", *more)

    def say(self, number: int, text: str, *, by: str = OWNER) -> None:
        self._later(lambda: self.engine.lab.comment(REPOSITORY, number, text, author=by))

    def label(self, number: int, name: str, *, by: str = OWNER) -> None:
        self._later(lambda: self.engine.lab.label(REPOSITORY, number, name, actor=by))

    def unlabel(self, number: int, name: str) -> None:
        self._later(lambda: self.engine.lab.unlabel(REPOSITORY, number, name, actor=OWNER))

    def edit(self, number: int, *, title: str | None = None, body: str | None = None, by: str = OWNER) -> None:
        self._later(lambda: self.engine.lab.at(REPOSITORY).issues.edit(number, by, title=title, body=body))

    def approve(self, number: int, *, by: str = PEOPLE[0]) -> None:
        """Approve the newest commit of a pull request as `by`, on GitHub's own page."""
        self._later(lambda: self.engine.lab.review(REPOSITORY, number, author=by))

    def protect(self, branch: str = "main", **rules: Any) -> None:
        """Protect a branch as the owner."""
        self.engine.lab.configure(REPOSITORY, protections={branch: Protection(**rules)})

    def pull(self, number: int) -> PullRecord:
        """Return the newest pull request of an issue."""
        return [one for one in pulls(self.engine) if one.head_branch == f"auto/issue-{number}"][-1]

    def is_proposed(self, number: int) -> bool:
        return any(one.head_branch == f"auto/issue-{number}" for one in pulls(self.engine))

    def is_approved(self, number: int) -> bool:
        """Return whether the engine has approved the pull request of an issue."""
        return self.is_proposed(number) and "status:approved" in labels(self.engine, self.pull(number).number)

    def is_merged(self, number: int) -> bool:
        return not self.thread(number).open and self.is_proposed(number) and self.pull(number).merged_at is not None

    def thread(self, number: int) -> IssueRecord:
        return self.engine.issue(number)

    def status(self, number: int) -> str:
        """Return the engine's current status comments in a thread; empty if there are none."""
        return "\n".join(one.body for one in comments(self.engine, number) if "engine-status/" in one.body)

    def was_told(self, number: int, sentence: str) -> bool:
        """Return whether the engine has ever posted a sentence in a thread's comments, whatever they say now."""
        known = {str(one.id) for one in comments(self.engine, number)}
        return any(
            sentence.encode() in one.request_body
            for one in self.engine.lab.exchanges
            if one.path.endswith(f"/issues/{number}/comments") or one.path.rpartition("/")[2] in known
        )

    def said(self, number: int) -> list[CommentRecord]:
        return comments(self.engine, number)

    async def look(self, times: int = 1, *agents: Loop) -> None:
        """Have every agent look, or these, then let some time pass."""
        for _ in range(times):
            await self.engine.tick(*(agents or (self.planner, self.worker, self.reviewer)))
            clock = self.engine.clock
            assert isinstance(clock, QuickClock)
            clock.skip(ROUND_SECONDS)
            for one in self.engine.lab.at(REPOSITORY).issues.records.values():
                if HALTED & set(one.labels):
                    self.failed.setdefault(one.number, self.status(one.number))

    async def until(self, done: Callable[[], bool], *agents: Loop, looks: int = 25) -> None:
        """Look until `done`; fail the test after so many looks."""
        for _ in range(looks):
            if done():
                return
            await self.look(1, *agents)
        shown = {one.number: one.labels for one in self.engine.lab.at(REPOSITORY).issues.records.values()}
        assert done(), f"not there after {looks} looks: {shown}"

    async def approved(self, title: str, body: str) -> tuple[int, int]:
        """Make an issue and a pull request approved by the engine, but not yet by two people; return both numbers."""
        self.protect(approvals=2)
        number = self.ready(title, body)
        await self.until(lambda: self.is_approved(number))
        return number, self.pull(number).number

    def _later(self, act: Callable[[], T]) -> T:
        self.engine.lab.clock.advance(2)  # GitHub tells times in whole seconds
        return act()


@asynccontextmanager
async def office(engine: Engine, *names: str, knows: str = "", **settings: Any) -> AsyncIterator[Office]:
    """Yield agents that know how to greet each of `names`, and `knows`; assert at the end that nothing has failed."""
    more = knows + "".join(_LATER.substitute(name=name) for name in names)
    engine.script(stub_project.scenario(*names) + more, ci=stub_project.CI)
    await push(engine, "main", stub_project.FILES)
    configured = {key: value for key, value in stub_project.SETTINGS.items() if key != "poll_interval"}
    engine.repository_settings |= configured | settings
    for login in PEOPLE:
        engine.lab.account(login)
    known = engine.lab.at(REPOSITORY).facts.collaborators
    engine.lab.configure(REPOSITORY, collaborators={**known, **dict.fromkeys(PEOPLE, "write")})
    engine.clock = QuickClock(engine.lab.clock.advance)
    await engine.lab.idle()
    async with (
        engine.agent(Role.PLANNER) as planner,
        engine.agent(Role.WORKER) as worker,
        engine.agent(Role.REVIEWER) as reviewer,
    ):
        here = Office(engine, planner, worker, reviewer, {})
        yield here
    assert here.failed == {}, "nothing ordinary ends in `failed`"
