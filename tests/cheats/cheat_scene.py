"""A repository, and coders that cheat: the worker's cycle on real git and real tests, without GitHub around it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fakes.lock_port import FencePort
from fakes.worker_policy import worker_policy
from project_pytest import PYTEST_ALONE

from lab.github.repositories.bare import Bare
from shared.git.command import Git, Identity
from shared.git.disk import Disk
from shared.git.mirror import Mirror
from shared.git.patch_policy import PatchRefused
from shared.git.publisher import Publisher
from shared.github.base_branch import BaseBranch
from shared.github.status import Status
from shared.llm.port import CoderCall, Ending, Request, RunLimits, RunOutcome, Usage
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, ItemKey
from shared.lock.fence import Fence
from shared.lock.hold import Held, begin
from shared.lock.lease import Lease
from shared.lock.write_permit import WritePermit
from shared.loop.real_clock import RealClock
from shared.models import Account, Issue
from shared.text.comment_signatures import Key, Keyring
from shared.text.prompts import Prompts
from shared.workflow import Role, Stage
from worker_agent import build
from worker_agent.actions import RETRIES, Cycle
from worker_agent.errors import CycleAborted
from worker_agent.phase_commits import PhaseCommits, Places
from worker_agent.phase_tools import PhaseTools
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.test_runs import BaseRuns, TestRuns

ENGINE = Identity("engine", "1+engine@users.noreply.github.com")
ENVIRONMENT = {"PATH": os.environ["PATH"]}
NUMBER = 42
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEYS = Keyring(99, (Key.of(b"k" * 32),))
NAME = "acme/app"

PROJECT = {
    ".gitignore": "/generated/\n*.log\n",
    "directory/__init__.py": "def find(names, name):\n    return [other for other in names if other == name]\n",
    "tests/test_find.py": "from directory import find\n\n\ndef test_find():\n    assert find(['a'], 'a') == ['a']\n",
}

Files = Mapping[str, str | None]
"""A coder's changes to files: the text of a file by its path, None for a file that it deletes."""


class Nonces:
    """The nonces of an agent that never restarts."""

    def fresh(self) -> str:
        return "a" * 32

    def mine(self, nonce: str) -> bool:
        return nonce == "a" * 32

    def forget(self, nonce: str) -> None:
        """Do nothing: the agent never claims again."""


@dataclass
class Board:
    """The status comments that would have been shown."""

    shown: list[Status] = field(default_factory=list)

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        self.shown.append(status)

    async def data(self, number: int) -> Mapping[str, Any]:
        return self.shown[-1].data if self.shown else {}


@dataclass
class Coder:
    """Leaves for each call what was planned for its next try; the last plan holds for all further tries."""

    plans: dict[CoderCall, list[Files]]
    asked: list[Request] = field(default_factory=list)
    name: str = "cheat"
    limited: tuple[CoderCall, int] | None = None
    """A call, and which of its tries (from 0) ends in a rate limit with nothing made."""

    async def run(self, request: Request) -> RunOutcome:
        assert request.tree is not None
        tries = self.count(request.call)
        self.asked.append(request)
        if self.limited == (request.call, tries):
            return RunOutcome(Ending.OVERLOADED)
        plans = self.plans.get(request.call, [{}])
        for path, text in plans[min(tries, len(plans) - 1)].items():
            file = request.tree / path
            if text is None:
                file.unlink(missing_ok=True)  # an earlier try deleted it
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        return RunOutcome(Ending.COMPLETED, "done", None, Usage(cost_usd=0.0, cost_source="scripted"))

    def count(self, call: CoderCall) -> int:
        """Return how often the coder was asked for this call."""
        return sum(request.call is call for request in self.asked)


@dataclass(frozen=True)
class End:
    """The end of a story: green if `error` is empty, else the error's name and its sentence."""

    error: str = ""
    told: str = ""


@dataclass
class Scene:
    """One issue of one repository, and the cycle that works on it."""

    cycle: Cycle
    tools: PhaseTools
    phase_commits: PhaseCommits
    mirror: Mirror
    held: Held
    coder: Coder
    board: Board
    issue: Issue

    async def story(self, attempts: int = 1) -> End:
        """Run the red phase, then up to `attempts` implementations; return the error that ended them, if any."""
        try:
            await self.cycle.write_tests(self.held, self.issue)
            while self.held.fence.stage is Stage.IMPLEMENTING and self.held.fence.attempt < attempts:
                await self.cycle.implement(self.held, self.issue, attempts)
            if self.held.fence.stage is Stage.IMPLEMENTING:
                raise self.cycle.attempts_used_up(self.held, attempts)
        except CycleAborted as aborted:
            return End(str(aborted.error), str(aborted))
        except PatchRefused as refused:
            return End("PATCH_REFUSED", str(refused))
        return End()

    @property
    def pushed(self) -> list[str]:
        """The branches and notes that were to move, in order."""
        port = self.held.port
        assert isinstance(port, FencePort)
        return [update.ref for advance in port.advances for update in advance.updates]


async def scene_of(
    place: Path,
    tests: Files | list[Files],
    code: Files | list[Files] = {},  # noqa: B006  # never changed
    *,
    project: Mapping[str, str] = PROJECT,
    body: str = "",
    deadline_seconds: float = 60.0,
    test_retries: int = RETRIES,
    regression_retries: int = RETRIES,
    **policy: Any,
) -> Scene:
    """Build a scene at its beginning; `tests` and `code` are the coder's files, attempt by attempt."""
    remote = await Bare.create(place / "remote", NAME, "main", project)
    mirror = Mirror(Git(place / "mirror.git", ENVIRONMENT), str(remote.path))
    places = Places(NAME, place / "workspaces", place / "kept")
    disk = Disk(mirror, places.workspaces, RealClock())
    phase_commits = PhaseCommits(mirror, ENGINE, Publisher(mirror), places, KEYS, disk)
    bench = TestBench(ENVIRONMENT, deadline_seconds)
    usual = {"test_command": PYTEST_ALONE, "base": BaseBranch("main"), "limits": RunLimits()}
    rules = worker_policy(NAME, **{**usual, **policy})
    coder = Coder({CoderCall.WRITE_TESTS: _listed(tests), CoderCall.IMPLEMENT: _listed(code)})
    test_runs = TestRuns(phase_commits, bench, BaseRuns(None))
    tools = PhaseTools(phase_commits, coder, test_runs, Prompts(build.PROMPTS), rules)
    board = Board()
    issue = Issue(NUMBER, "Add search", body, frozenset(), Account(1, "ada"), AT, AT)
    cycle = Cycle(tools, board, test_retries=test_retries, regression_retries=regression_retries)
    return Scene(cycle, tools, phase_commits, mirror, _held(), coder, board, issue)


def _listed(files: Files | list[Files]) -> list[Files]:
    return files if isinstance(files, list) else [files]


def _held() -> Held:
    key, nonce = ItemKey(Role.WORKER, NUMBER), Nonces().fresh()
    fence = Fence(key, 1, nonce, "worker-a", Stage.IMPLEMENTING, AT, phase="red", oid="0" * 40)
    ack = Ack(key, "worker-a", 1, 0, nonce, 1800, id=1, updated_at=AT)
    lease = Lease(ack, fence, AT, 0.0)
    return begin(FencePort(AT), lease, Claimant("worker-a", frozenset({1}), KEYS, Nonces()))
