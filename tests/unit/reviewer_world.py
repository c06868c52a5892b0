"""What GitHub, git and a coder know in the reviewer's tests, and what was done to them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

import anyio
from fake_server import BOT, EPOCH, Server

from shared.github.status import Status
from shared.llm.port import Request
from shared.lock.codec import Fence, ItemKey
from shared.lock.port import Operation, Reply
from shared.marks import Key, Keyring
from shared.models import (
    Account,
    CheckOutcome,
    Comment,
    Issue,
    PullRequest,
    Review,
    ReviewComment,
    ReviewState,
)
from shared.workflow import Labels, Role, Stage

T = TypeVar("T")

PULL, ISSUE = 57, 42
BASE, HEAD, NEXT = "b" * 40, "a" * 40, "c" * 40
KEYS = Keyring(99, (Key.of(b"r" * 32),))
ADA = Account(7, "ada")
MALLORY = Account(666, "mallory")
NAMES = Labels()
KEY = ItemKey(Role.REVIEWER, PULL)

BODY = f"""\
Closes #{ISSUE}

## What this does

Finds users.

## Evidence

| New test | red | green |

## Notes

none
"""

SPECIFICATION = """\
## Goal
Users are found by name.

## Acceptance criteria
- [ ] AC1: A part of the name is enough.
- [ ] AC2: A blank text finds nobody.
"""

DIFF = """\
diff --git a/directory/search.py b/directory/search.py
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/directory/search.py
@@ -0,0 +1,2 @@
+def search_users(directory, text):
+    return [user for user in directory if text in user.name]
"""


def finding(severity: str = "major", line: object = 2, why: str = "Case is not ignored.", **changes: Any) -> Any:
    """One finding as a coder answers it."""
    found = {"severity": severity, "path": "directory/search.py", "line": line, "why": why, "suggestion": "casefold()"}
    return found | changes


def answer(verdict: str = "approved", *findings: Any, unmet: Collection[str] = (), **changes: Any) -> dict[str, Any]:
    """A whole review as a coder answers it."""
    return {
        "verdict": verdict,
        "summary": "It finds users.",
        "findings": list(findings),
        "criteria": [{"id": id, "met": id not in unmet, "note": "test_search"} for id in ("AC1", "AC2")],
        "breaking_change": {"breaks": False, "why": ""},
    } | changes


def changes() -> dict[str, Any]:
    """A review that asks for changes, with one finding on a line of the diff."""
    return answer("changes_requested", finding())


OPENED = PullRequest(
    number=PULL,
    title="[auto] Search users",
    body=BODY,
    author=BOT,
    labels=frozenset({"status:reviewing"}),
    head_branch=f"auto/issue-{ISSUE}",
    head_sha=HEAD,
    base_branch="main",
)
"""The pull request as the worker hands it over."""

SPECIFIED = Issue(ISSUE, "Search users", SPECIFICATION, frozenset({"status:reviewing"}), ADA, EPOCH, EPOCH)
"""The issue that it closes."""


@dataclass
class World:
    """Everything that GitHub, git and the coder know, and what was done to them."""

    server: Server = field(default_factory=Server)
    pull: PullRequest = OPENED
    issue: Issue = SPECIFIED
    labelled_by: Account = ADA
    reviews: list[Review] = field(default_factory=list)
    remarks: list[ReviewComment] = field(default_factory=list)
    checks: dict[str, CheckOutcome] = field(default_factory=lambda: {HEAD: CheckOutcome.PASSED})
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    diff: str = DIFF
    tips: dict[str, str] = field(default_factory=lambda: {"refs/heads/main": BASE})
    answers: list[Any] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    refuse: dict[str, Exception] = field(default_factory=dict)
    during_call: dict[str, Any] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        """GitHub's clock; its times have whole seconds."""
        return self.server.at.replace(microsecond=0)

    @property
    def fence(self) -> Fence | None:
        """The reviewer's fence as the git server has it."""
        return self.server.fence(KEY)

    @property
    def stage(self) -> Stage | None:
        """Where the fence stands."""
        return self.fence.stage if self.fence else None

    def change(self, **facts: Any) -> None:
        """Something happens to the pull request."""
        self.pull = replace(self.pull, **facts)

    def review(
        self, author: Account, state: ReviewState, *, sha: str = HEAD, body: str = "No.", seconds: float = 60
    ) -> Review:
        """Somebody reviews, `seconds` after the last thing that happened."""
        self.server.seconds += seconds
        review = Review(len(self.reviews) + 1, author, state, body, sha, self.now)
        self.reviews.append(review)
        return review

    def say(self, author: Account, text: str, seconds: float = 60) -> Comment:
        """Somebody comments on the pull request."""
        self.server.seconds += seconds
        return self.server.post(PULL, text, author)

    def act(self, deed: str) -> None:
        """Remember a write, or refuse it."""
        self.meet(deed.partition(" ")[0])
        self.done.append(deed)

    def meet(self, verb: str) -> None:
        """Raise what is planned for the next use of this verb."""
        if verb in self.refuse:
            raise self.refuse.pop(verb)

    def as_issue(self) -> Issue:
        """The pull request as lists of issues show it."""
        pull, at = self.pull, EPOCH + timedelta(seconds=self.server.seconds)
        return Issue(PULL, pull.title, pull.body, pull.labels, pull.author, EPOCH, at, pull.open, False, True)


class FakePort:
    """The lock's port; pauses shorter than a heartbeat are over at once, longer ones never end."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry it out."""
        return Reply(cast("T", self._server.carry_out(operation, None)), self._server.at)

    async def sleep(self, seconds: float) -> None:
        """Let it pass, or wait until cancelled."""
        if seconds >= 60:
            await anyio.Event().wait()
        self._server.seconds += seconds

    def now(self) -> float:
        """Wall clock."""
        return self._server.at.timestamp()

    def boot(self) -> float:
        """Boot clock."""
        return 1000 + self._server.seconds


class FakeNonces:
    """Nonces of one state directory."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.kept: list[str] = []

    def fresh(self) -> str:
        """A new nonce."""
        self.kept.append(hashlib.md5(f"{self._name}{len(self.kept)}".encode()).hexdigest())
        return self.kept[-1]

    def mine(self, nonce: str) -> bool:
        """Whether it was made here."""
        return nonce in self.kept

    def forget(self, nonce: str) -> None:
        """Counted on, never reused."""


class HandClock:
    """A clock whose time is the server's."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def now(self) -> float:
        return self._server.at.timestamp()

    def boot(self) -> float:
        return 1000 + self._server.seconds

    async def sleep(self, seconds: float) -> None:
        self._server.seconds += seconds
