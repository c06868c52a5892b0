"""GitHub's and git's ports of which nothing may be asked: a fake extends one and answers what its test expects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.git.fences import AgentSeen
from shared.git.history import Commit
from shared.github.branch_rules import MergeRules
from shared.github.label_board import WantedLabels
from shared.github.status import Status
from shared.github.status_record import Record
from shared.lock.hold import Held
from shared.lock.port import RefUpdate
from shared.lock.write_permit import OperatorPermit, WritePermit
from shared.models import (
    Assignment,
    Blocker,
    Check,
    Comment,
    Finding,
    Issue,
    LabelEvent,
    PullRequest,
    QueuePlace,
    Review,
    ReviewComment,
    ReviewState,
)
from shared.workflow import Stage
from shared.workflow.labels import Flag


def unasked(what: str) -> AssertionError:
    """Fails a test that asks for more than its fake answers."""
    return AssertionError(f"not asked for here: {what}")


class UnaskedInbox:
    """An inbox, and what its lists lack."""

    @property
    def known(self) -> Mapping[int, Issue]:
        raise unasked("known")

    @property
    def gone(self) -> Mapping[int, Issue]:
        raise unasked("gone")

    @property
    def orphans(self) -> Mapping[int, Issue]:
        raise unasked("orphans")

    def version(self, number: int) -> datetime | None:
        raise unasked("version")

    def follow(self, listed: Issue) -> None:
        raise unasked("follow")

    def dismiss(self, number: int) -> None:
        raise unasked("dismiss")

    async def look(self) -> Mapping[int, Issue]:
        raise unasked("look")


class UnaskedIssues:
    """Issues."""

    async def recent(self) -> tuple[Issue, ...] | None:
        raise unasked("recent")

    async def open(self) -> tuple[Issue, ...]:
        raise unasked("open")

    async def labelled(self, label: str) -> tuple[Issue, ...]:
        raise unasked("labelled")

    async def assigned(self, login: str) -> tuple[Issue, ...]:
        raise unasked("assigned")

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]:
        raise unasked("created_by")

    async def issue(self, number: int) -> Issue:
        raise unasked("issue")

    async def named(self, number: int, at: datetime) -> Issue:
        raise unasked("named")

    async def blocked_by(self, number: int) -> tuple[Blocker, ...]:
        raise unasked("blocked_by")

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        raise unasked("label_events")

    async def assignments(self, number: int) -> tuple[Assignment, ...]:
        raise unasked("assignments")

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
        raise unasked("create")

    async def close(self, number: int, permit: WritePermit) -> Issue:
        raise unasked("close")

    async def retitle(self, number: int, title: str, permit: WritePermit) -> Issue:
        raise unasked("retitle")

    async def assign(self, number: int, login: str, permit: WritePermit) -> None:
        raise unasked("assign")

    async def unassign(self, number: int, login: str, permit: WritePermit) -> None:
        raise unasked("unassign")


class UnaskedComments:
    """Comments."""

    def known(self, number: int) -> tuple[Comment, ...] | None:
        raise unasked("known")

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        raise unasked("thread")

    async def recent_thread(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]:
        raise unasked("lately")

    async def newest(self) -> tuple[Comment, ...]:
        raise unasked("newest")

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        raise unasked("post")


class UnaskedPulls:
    """Pull requests."""

    async def pull_request(self, number: int) -> PullRequest:
        raise unasked("pull_request")

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]:
        raise unasked("of_branch")

    async def open(self, title: str, body: str, head: str, base: str, permit: WritePermit) -> PullRequest:
        raise unasked("open")

    async def edit(
        self, number: int, *, title: str | None = None, body: str | None = None, permit: WritePermit
    ) -> PullRequest:
        raise unasked("edit")

    async def close(self, number: int, permit: WritePermit) -> PullRequest:
        raise unasked("close")

    async def request_reviewers(self, number: int, logins: Sequence[str], held: Held) -> None:
        raise unasked("request_reviewers")

    async def merge(self, number: int, sha: str, method: str, message: str, held: Held) -> str:
        raise unasked("merge")

    async def enqueue(self, node_id: str, head: str, held: Held) -> None:
        raise unasked("enqueue")

    async def queue_place(self, node_id: str, held: Held) -> QueuePlace:
        raise unasked("queue_place")


class UnaskedReviews:
    """Reviews."""

    async def of(self, number: int) -> tuple[Review, ...]:
        raise unasked("of")

    async def at_start(self, number: int) -> tuple[Review, ...]:
        raise unasked("at_start")

    async def comments(self, number: int) -> tuple[ReviewComment, ...]:
        raise unasked("comments")

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        raise unasked("submit")

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment:
        raise unasked("reply")

    async def resolve(self, number: int, roots: Collection[int], held: Held) -> int:
        raise unasked("resolve")

    async def hide(self, reviews: Sequence[Review], held: Held) -> int:
        raise unasked("hide")


class UnaskedChecks:
    """Checks."""

    async def of(self, sha: str) -> tuple[Check, ...]:
        raise unasked("of")

    async def ever(self, tip: str) -> bool:
        raise unasked("ever")

    async def unstarted(self, sha: str) -> tuple[Check, ...]:
        raise unasked("unstarted")

    async def required(self, branch: str) -> frozenset[str]:
        raise unasked("required")

    async def merge_rules(self, branch: str) -> MergeRules:
        raise unasked("merge_rules")

    async def annotations(self, check_run_id: int) -> tuple[str, ...]:
        raise unasked("annotations")

    async def log(self, job_id: int) -> str:
        raise unasked("log")

    async def rerun(self, run_id: int, permit: WritePermit) -> None:
        raise unasked("rerun")


class UnaskedLabels:
    """Labels."""

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        raise unasked("add")

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        raise unasked("remove")

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        raise unasked("exchange")

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
        raise unasked("show")

    async def show_all(self, wanted: Sequence[WantedLabels], permit: WritePermit) -> tuple[frozenset[str], ...]:
        raise unasked("show_all")

    async def is_defined(self, stage: Stage) -> bool:
        raise unasked("is_defined")

    async def create_all(self, permit: OperatorPermit) -> tuple[str, ...]:
        raise unasked("create_all")


class UnaskedStatus:
    """Status comments."""

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        raise unasked("show")

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        raise unasked("revise")

    async def note(
        self,
        number: int,
        permit: WritePermit,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        raise unasked("note")

    def record_in(self, number: int, thread: Iterable[Comment]) -> Record:
        raise unasked("record_in")

    async def data(self, number: int) -> Mapping[str, Any]:
        raise unasked("data")


class UnaskedReplies:
    """Replies."""

    async def once(self, number: int, purpose: str, text: str, mention: Sequence[str] = ()) -> bool:
        raise unasked("once")

    async def is_posted(self, number: int, purpose: str) -> bool:
        raise unasked("given")


class UnaskedMirror:
    """A mirror."""

    async def ensure(self) -> None:
        raise unasked("ensure")

    async def fetch(self, *refspecs: str) -> None:
        raise unasked("fetch")

    async def refresh(self, ref: str) -> str | None:
        raise unasked("refresh")

    async def refresh_all(self, prefix: str) -> Mapping[str, tuple[str, str]]:
        raise unasked("refresh_all")

    async def read_together(self, *refs: str) -> None:
        raise unasked("read_together")

    async def sha(self, ref: str) -> str | None:
        raise unasked("sha")

    async def tip(self, branch: str) -> str | None:
        raise unasked("tip")

    async def paths(self, commit: str) -> tuple[str, ...]:
        raise unasked("paths")

    async def show(self, commit: str, path: str) -> bytes | None:
        raise unasked("show")

    async def contents(self, commit: str, paths: Sequence[str]) -> tuple[bytes | None, ...]:
        raise unasked("contents")

    async def diff(self, base: str, head: str) -> str:
        raise unasked("diff")

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]:
        raise unasked("log")


class UnaskedFences:
    """Fences."""

    async def read(self, ref: str) -> tuple[str, str] | None:
        raise unasked("read")

    async def read_all(self, prefix: str = "") -> Mapping[str, tuple[str, str]]:
        raise unasked("read_all")

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        raise unasked("advance")

    async def remove(self, ref: str, expected: str, permit: WritePermit) -> bool:
        raise unasked("remove")

    async def traces(self) -> tuple[AgentSeen, ...]:
        raise unasked("traces")
