"""A busy day: ten stories, ten issues, mixed priority, late approvals, a base that moves, one file for several."""

from __future__ import annotations

from string import Template

import pytest
from branch_scene import push
from engine import OWNER, REPOSITORY, REVIEWER, Engine
from worker_scene import comments, labels, pulls

from lab import stub_project
from lab.github.server import CHECK_NAME
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.specification import read
from shared.workflow import Role

pytestmark = pytest.mark.long

PERSON = "grace"
LATE = 3
"""Looks after the engine's approval until a pull request gets that of a person."""

LIST = Template("""
- call: plan
  for: list $name
  answer:
    summary: A name on the list.
    complexity: low
    estimate_hours: 1
    steps:
      - {id: s1, title: Write a test, files: [tests/test_$name.sh], depends_on: []}
      - {id: s2, title: Write the name, files: [list.txt], depends_on: [s1]}
      - {id: s3, title: Look at it, files: [list.txt], depends_on: [s2]}
    ambiguities: []
    options:
      - {title: A file, tradeoff: Simple., chosen: true}
      - {title: A program, tradeoff: More to maintain., chosen: false}
    specifications:
      - key: $name
        title: List $name kindly
        goal: Whoever comes is listed.
        criteria: ["list.txt names $name."]
        files: [list.txt, tests/test_$name.sh]
        may_change: []
        out_of_scope: [Anything else.]
        depends_on: []

- call: write_tests
  for: list $name
  text: One test.
  edits:
    - {path: tests/test_$name.sh, content: "grep -q $name list.txt\\n"}

- call: implement
  for: list $name
  text: Done.
  edits:
    - {path: list.txt, replace: {old: "end\\n", new: "$name\\nend\\n"}}

- call: review
  for: list $name
  answer:
    verdict: approved
    summary: It lists.
    findings: []
    criteria: [{id: AC1, met: true, note: test_$name}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  for: list $name
  answer: {criteria: [{id: AC1, met: true, note: test_$name was red before}]}
""")
"""The coder's script for a story whose one specification adds a line to the file that others change too."""

RANKS = ("priority:critical", "priority:high", "priority:medium", "priority:low")
LOW, MEDIUM, HIGH, CRITICAL, NONE = RANKS[3], RANKS[2], RANKS[1], RANKS[0], ""

BY_HAND = {"ant": LOW, "bee": NONE, "cat": CRITICAL, "dog": HIGH, "eel": CRITICAL, "owl": MEDIUM, "pig": LOW}
TOLD = {"fox": LOW, "gnu": CRITICAL, "kid": HIGH, "ram": NONE, "sow": MEDIUM, "koi": HIGH, "auk": NONE, "yak": CRITICAL}
LISTED_BY_HAND = {"hen": HIGH, "ibis": CRITICAL, "jay": LOW}
LISTED = {"lynx": MEDIUM, "mole": CRITICAL}
"""Name -> priority of what is greeted, or put onto the one list: in issues by hand, and by stories."""

LISTING = """
$name is on the list.

## Acceptance criteria
- [ ] list.txt names $name.

## Files
- `list.txt`
"""


def rank(engine: Engine, number: int) -> int:
    return min((RANKS.index(label) for label in labels(engine, number) if label in RANKS), default=len(RANKS))


class Day:
    """The events beside the agents, a few at each look: approvals that are late, and news on the base."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.looks = engine, 0
        self.seen: dict[tuple[int, str], int] = {}
        self.failed: set[int] = set()
        self.claimed: list[int] = []
        self.out_of_turn: list[str] = []

    async def worker_looks(self, worker: Loop) -> None:
        """Have a worker look once; note whether it claimed the most urgent of the issues that it may claim."""
        before = self.claimable()
        await self.engine.tick(worker)
        new = [number for number in first_claims(self.engine) if number not in self.claimed]
        self.claimed += new
        asked = [rank(self.engine, number) for number in new]
        best = sorted(rank(self.engine, number) for number in before)[: len(new)]
        if asked != best[: len(asked)]:
            could = {number: rank(self.engine, number) for number in before}
            self.out_of_turn.append(f"look {self.looks}: #{new} of rank {asked}, of {could}")

    def claimable(self) -> list[int]:
        issues = self.engine.lab.at(REPOSITORY).issues.records.values()
        ready = {one.number: one.title for one in issues if one.open and "status:ready" in one.labels}
        busy = any(is_begun(self.engine, one) and one.title.startswith("List") for one in issues)
        free = [number for number, title in ready.items() if not (busy and title.startswith("List"))]
        return [
            number for number in free if not any(self.engine.issue(one).open for one in waits_for(self.engine, number))
        ]

    async def goes_on(self) -> None:
        engine, self.looks = self.engine, self.looks + 1
        engine.lab.clock.advance(20)
        if self.looks % 12 == 0:
            await push(engine, "main", {"NEWS.md": f"News of look {self.looks}.\n"})
            await engine.lab.idle()
        self.failed |= {one.number for one in engine.lab.at(REPOSITORY).issues.records.values() if halted(engine, one)}
        for pull in pulls(engine):
            if pull.merged_at is None and "status:approved" in labels(engine, pull.number):
                self.approve_late(pull)

    def approve_late(self, pull: PullRecord) -> None:
        """Approve each head once as a person, some looks after the engine has."""
        asked = pull.number, pull.head_sha
        self.seen[asked] = self.seen.get(asked, 0) + 1
        if self.seen[asked] == LATE:
            self.engine.lab.review(REPOSITORY, pull.number, author=PERSON)


def halted(engine: Engine, thread: IssueRecord) -> bool:
    return bool(labels(engine, thread.number) & {"status:failed", "status:ci-failed"})


def waits_for(engine: Engine, number: int) -> tuple[int, ...]:
    return read(engine.issue(number).body or "").depends_on


def is_begun(engine: Engine, issue: IssueRecord) -> bool:
    begun = {"status:implementing", "status:testing", "status:reviewing"}
    return issue.open and not issue.is_pull and bool(labels(engine, issue.number) & begun)


def first_claims(engine: Engine) -> list[int]:
    """Return the issues in the order of their first claims by a worker."""
    threads = engine.lab.at(REPOSITORY).issues.records.values()
    issues = [one.number for one in threads if not one.is_pull and "story" not in one.labels]
    acks = {one.id: number for number in issues for one in comments(engine, number) if "\nACK:" in one.body}
    return list(dict.fromkeys(acks[id] for id in sorted(acks)))


async def busy_repository(engine: Engine) -> None:
    """Write everything that is wanted at the start of the day, in a repository that requires two approvals."""
    listed = "".join(LIST.substitute(name=name) for name in (*LISTED, *LISTED_BY_HAND))
    engine.script(stub_project.scenario(*BY_HAND, *TOLD) + listed, ci=stub_project.CI)
    await push(engine, "main", {**stub_project.FILES, "list.txt": "start\nend\n"})
    engine.repository_settings |= {key: value for key, value in stub_project.SETTINGS.items() if key != "poll_interval"}
    here = engine.lab.at(REPOSITORY)
    engine.lab.account(PERSON)
    engine.lab.configure(
        REPOSITORY,
        collaborators={**here.facts.collaborators, PERSON: "write"},
        protections={"main": Protection(checks=(CHECK_NAME,), approvals=2, strict=True)},
    )
    for verb, names in (("Greet", TOLD), ("List", LISTED)):
        for name, label in names.items():
            wanted = tuple(filter(None, ("story", label)))
            engine.lab.issue(REPOSITORY, f"{verb} {name}", "As a guest I want it.", author=OWNER, labels=wanted)
    for verb, names, text in (("Greet", BY_HAND, "$name.txt says hello."), ("List", LISTED_BY_HAND, LISTING)):
        for name, label in names.items():
            engine.lab.clock.advance(5)
            wanted, body = tuple(filter(None, ("status:ready", label))), Template(text).substitute(name=name)
            engine.lab.issue(REPOSITORY, f"{verb} {name}", body, author=OWNER, labels=wanted)


@pytest.mark.prompt("a list that does not show an issue yet cannot put it first")
async def test_everything_is_merged_in_its_order_and_people_do_nothing_but_approve(engine: Engine) -> None:
    await busy_repository(engine)
    here, day = engine.lab.at(REPOSITORY), Day(engine)
    async with (
        engine.agent(Role.PLANNER) as planner,
        engine.agent(Role.WORKER) as worker,
        engine.agent(Role.WORKER, state="machine-2") as other,
        engine.agent(Role.REVIEWER) as reviewer,
    ):
        while any(one.open for one in here.issues.records.values()) and day.looks < 200 and not day.failed:
            await engine.tick(planner)
            await day.worker_looks(worker)
            await day.worker_looks(other)
            await engine.tick(reviewer)
            await day.goes_on()
    left = [(one.number, one.title, sorted(one.labels)) for one in here.issues.records.values() if one.open]
    assert left == []
    assert len(pulls(engine)) == 20
    assert all(pull.merged_at is not None for pull in pulls(engine))
    assert day.failed == set()
    assert day.out_of_turn == [], "\n".join(day.out_of_turn)
    assert len(day.claimed) == 20
    people = {review.author for review in here.pulls.reviews.values()} - {REVIEWER}
    assert people == {PERSON}
    said = [one for thread in here.issues.records.values() for one in comments(engine, thread.number)]
    assert {one.author for one in said} & {OWNER, PERSON} == set(), "nobody had to say a word"
    lines = (await here.bare.read("main", "list.txt") or b"").decode().split()
    assert sorted(lines) == sorted(["start", *LISTED, *LISTED_BY_HAND, "end"]), "none was lost in a conflict"
