"""The world of the reviewer's tests: the state of GitHub, git and a coder, and the writes to them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from fakes.lock_server import BOT, EPOCH, Server
from reviewer_agent.review.questions import Recorded
from shared.github.branch_rules import MergeRules
from shared.github.status import Status
from shared.llm.port import Request
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import (
    Account,
    Check,
    CheckOutcome,
    Comment,
    Issue,
    LabelEvent,
    PullRequest,
    QueueExit,
    Review,
    ReviewComment,
    ReviewState,
)
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

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


def second(request: Request, *unmet: str) -> dict[str, Any]:
    """Return a second pass: every criterion that its prompt lists, met but for `unmet`."""
    ids = dict.fromkeys(re.findall(r"^- (AC\d+): ", request.prompt, re.MULTILINE))
    return {"criteria": [{"id": id, "met": id not in unmet, "note": "test_search"} for id in ids]}


def judged(planned: Any, request: Request) -> Any:
    """Return a planned review in which every listed finding gets a status that fits the verdict, unless it has one."""
    listed = (request.schema or {}).get("$defs", {}).get("EarlierAnswer", {}).get("properties", {}).get("id", {})
    if not isinstance(planned, dict) or "earlier" in planned or "enum" not in listed:
        return planned
    resolved = planned.get("verdict") == "approved"
    return planned | {"earlier": [{"id": id, "resolved": resolved, "note": "seen"} for id in listed["enum"]]}


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
    head_repository="o/r",
    base_repository="O/R",
)
"""The pull request as the worker hands it over."""

SPECIFIED = Issue(ISSUE, "Search users", SPECIFICATION, frozenset({"status:reviewing"}), ADA, EPOCH, EPOCH)
"""The issue that it closes."""


@dataclass
class World:
    """The whole state of GitHub, git and the coder, and the writes to it."""

    server: Server = field(default_factory=Server)
    pull: PullRequest = OPENED
    issue: Issue = SPECIFIED
    labelled_by: Account = ADA
    events: list[LabelEvent] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    remarks: list[ReviewComment] = field(default_factory=list)
    required: frozenset[str] = frozenset()
    unstarted: tuple[Check, ...] = ()
    has_ci: bool = True
    checks: dict[str, CheckOutcome] = field(default_factory=lambda: {HEAD: CheckOutcome.PASSED})
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    diff: str = DIFF
    diffs: dict[tuple[str, str], str] = field(default_factory=dict)
    """Diffs between two commits, where they differ from `diff`."""
    gone: set[str] = field(default_factory=set)
    """Commits that the server no longer has."""
    tips: dict[str, str] = field(default_factory=lambda: {"refs/heads/main": BASE})
    answers: list[Any] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    checked: list[Any] = field(default_factory=list)
    """Answers of second passes; every criterion is met when nothing is planned."""
    checks_asked: list[Request] = field(default_factory=list)
    recorded: Recorded = field(default_factory=Recorded)
    """The engine's records of its tests."""
    rules: MergeRules = field(default_factory=MergeRules)
    """The requirements of the base branch."""
    resolved: list[frozenset[int]] = field(default_factory=list)
    """The inline comments whose threads were to be resolved, call by call."""
    resolving: Exception | None = None
    """GitHub's error for that."""
    queued: bool = False
    """True if it is in GitHub's merge queue."""
    queue_exit: QueueExit | None = None
    """The way in which it left the queue."""
    turns: dict[str, tuple[str, str]] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    refuse: dict[str, Exception] = field(default_factory=dict)
    during_call: dict[str, Any] = field(default_factory=dict)
    quiet_seconds: float = 0.0
    """Seconds since its last change, as lists show it."""
    writers: set[str] = field(default_factory=lambda: {"ada", BOT.login})
    """Logins with write access."""

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
        """Stage of the fence."""
        return self.fence.stage if self.fence else None

    def __post_init__(self) -> None:
        self._note(self.pull.labels, True, self.labelled_by)
        self._publish()

    def change(self, *, by: Account | None = None, **facts: Any) -> None:
        """Change the pull request; `by` (or `labelled_by`) changes its labels."""
        before, self.pull = self.pull.labels, replace(self.pull, **facts)
        self._note(before - self.pull.labels, False, by or self.labelled_by)
        self._note(self.pull.labels - before, True, by or self.labelled_by)
        if {"head_branch", "head_sha"} & facts.keys():
            self._publish()

    def _publish(self) -> None:
        self.server.refs[f"refs/heads/{self.pull.head_branch}"] = self.pull.head_sha

    def merges(self) -> list[str]:
        """Return what was merged and closed, and the branches that were removed with it."""
        done = [deed for deed in self.done if deed.partition(" ")[0] in {"merge", "close"}]
        return [*done, *(f"delete {one.removeprefix('refs/heads/')}" for one in self.server.removed)]

    def _note(self, labels: Iterable[str], added: bool, by: Account) -> None:
        for label in sorted(labels):
            self.events.append(LabelEvent(len(self.events) + 1, label.title(), added, by, self.now))

    def push(self, sha: str, *, by_worker: bool = False, seconds: float = 3600) -> None:
        """Push to the pull request's branch; the worker records what it pushes in its fence."""
        self.server.seconds += seconds
        self.change(head_sha=sha)
        if by_worker:
            key = ItemKey(Role.WORKER, ISSUE)
            fence = Fence(key, 1, "n", "worker-1", Stage.REVIEWING, self.now, work_head=sha, pr=PULL)
            self.server.push(fence, self.server.refs.get(key.ref), "", ())

    def review(
        self, author: Account, state: ReviewState, *, sha: str = HEAD, body: str = "No.", seconds: float = 60
    ) -> Review:
        """Review as `author`, `seconds` after the last event."""
        self.server.seconds += seconds
        review = Review(len(self.reviews) + 1, author, state, body, sha, self.now)
        self.reviews.append(review)
        return review

    def say(self, author: Account, text: str, seconds: float = 60) -> Comment:
        """Comment on the pull request as `author`."""
        self.server.seconds += seconds
        return self.server.post(PULL, text, author)

    def act(self, deed: str) -> None:
        """Record a write, or refuse it."""
        self.meet(deed.partition(" ")[0])
        self.done.append(deed)

    def meet(self, verb: str) -> None:
        """Raise the planned error for the next use of this verb."""
        if verb in self.refuse:
            raise self.refuse.pop(verb)

    def as_issue(self) -> Issue:
        """The pull request as lists of issues show it."""
        pull, at = self.pull, EPOCH + timedelta(seconds=self.server.seconds - self.quiet_seconds)
        return Issue(PULL, pull.title, pull.body, pull.labels, pull.author, EPOCH, at, pull.open, False, True)
