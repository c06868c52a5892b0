"""The worker's stories: one small feature, a coder that knows it, and what a test asks afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable

import anyio
from engine import HANGS_SECONDS, OWNER, REPOSITORY, Engine
from git_remote import commit_to

from lab import stub_project
from lab.github.world.comments import CommentRecord
from lab.github.world.pulls import PullRecord
from shared.lock.fence import Fence
from shared.loop.polling_loop import Loop
from shared.workflow import Role

BODY = """\
## Acceptance criteria
- [ ] AC1: search_users(directory, text) returns the users whose name contains the text, ignoring case.
- [ ] AC2: The users come in the order of the directory.
- [ ] AC3: A blank text finds nobody.
"""
"""The specification that the demo's script implements."""

TESTS = """
- call: write_tests
  edits:
    - path: tests/test_greeting.py
      content: |
        from directory.greeting import greet


        def test_greets():
            assert greet("Ada") == "Hello, Ada"
"""

CODE = """
- call: implement
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
"""

COSTLESS = """
- call: write_tests
  edits: [{path: tests/test_greeting.sh, content: "grep -q hello greeting.txt\\n"}]

- call: implement
  edits: [{path: greeting.txt, content: "hello\\n"}]
"""
"""A greeting for the project of `costs_nothing`."""

WRONG = """
- call: implement
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}
"""

REVIEW = """
- call: review
  answer:
    verdict: approved
    summary: It greets.
    findings: []
    criteria: [{id: AC1, met: true, note: test_greets}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  round: any
  answer: {criteria: [{id: AC1, met: true, note: test_greets was red before}]}
"""
"""A reviewer that approves of the greeting."""

LOOK_SECONDS = 0.02

SLOW = """
- call: write_tests
  takes: 600
  edits: [{path: tests/test_never.py, content: "def test_never(): assert False\\n"}]
"""


async def costs_nothing(engine: Engine, script: str = COSTLESS) -> None:
    """Let tests be shell scripts, in stories in which it does not matter what is proved of a change, or how."""
    await commit_to(engine.lab.at(REPOSITORY).bare, "main", stub_project.FILES)
    engine.repository_settings |= {"test_command": "sh check.sh", "test_report": "report.xml"}
    engine.script(script)


def comments(engine: Engine, number: int) -> list[CommentRecord]:
    return engine.lab.at(REPOSITORY).comments.of(number)


def status(engine: Engine, number: int) -> str:
    """Return the one status comment of an issue."""
    (found,) = [comment.body for comment in comments(engine, number) if "engine-status" in comment.body]
    return found


def labels(engine: Engine, number: int) -> set[str]:
    return set(engine.issue(number).labels)


def pulls(engine: Engine) -> list[PullRecord]:
    return engine.lab.at(REPOSITORY).pulls.records.values()


async def branch(engine: Engine, number: int) -> str | None:
    return await engine.lab.at(REPOSITORY).bare.sha(f"refs/heads/auto/issue-{number}")


async def fence(engine: Engine, number: int) -> Fence:
    found = await engine.fence(Role.WORKER, number)
    assert found is not None
    return found


def acks(engine: Engine, number: int) -> list[str]:
    return [comment.body for comment in comments(engine, number) if "\nACK:" in comment.body]


def claims(engine: Engine, number: int) -> int:
    """Return how often an item was claimed, by the epochs in the comments of its locks."""
    return sum(int(epoch) for ack in acks(engine, number) for epoch in re.findall(r"<!-- ack/3 epoch=(\d+)", ack))


async def is_released(engine: Engine, number: int) -> bool:
    """Return whether the fence is released and its comment says so."""
    now = await fence(engine, number)
    told = engine.lab.at(REPOSITORY).comments.require(now.ack_id)
    return now.free and "state=active" not in told.body


def calls(engine: Engine, call: str) -> int:
    """Return on how many machines the script has answered a call."""
    return len([*engine.directory.glob(f"*/scripted/*-{call}-given")])


async def once(engine: Engine, number: int, *, state: str = "machine-1") -> Loop:
    """Run one worker until the item has ended."""
    async with engine.agent(Role.WORKER, state=state) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert await is_released(engine, number)
    return worker


async def during_the_call(engine: Engine, worker: Loop) -> None:
    """Let a claim come as far as a coder at work in its tree."""
    await engine.look(worker)
    await eventually(lambda: any(engine.directory.glob("machine-1/workspaces/*/issue-*/tree/directory/store.py")))


async def eventually(holds: Callable[[], bool]) -> None:
    """Let others run until it holds, however slow the machine is; fails the test where that would take for ever."""
    for _ in range(round(HANGS_SECONDS / LOOK_SECONDS)):
        if holds():
            return
        await anyio.sleep(LOOK_SECONDS)
    raise AssertionError("it did not come to that")


async def drop_branch(engine: Engine, number: int) -> None:
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", "-d", f"refs/heads/auto/issue-{number}")
