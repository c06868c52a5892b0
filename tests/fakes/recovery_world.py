"""An issue, its pull request and their fences in memory, with the command loop that takes commands about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from fakes.lock_server import EPOCH
from fakes.reviewer_world import HEAD, KEYS, OPENED
from fakes.unasked import UnaskedComments, UnaskedIssues, UnaskedLabels, UnaskedMirror, UnaskedPulls, UnaskedStatus
from shared.commands.command_loop import CommandLoop, CommandProfile
from shared.commands.command_reader import CommandReader
from shared.commands.command_target import CommandTargets
from shared.commands.one_time_replies import Replies
from shared.commands.recovery import Recovery
from shared.commands.text_unchanged import Texts, TextUnchanged
from shared.github.status import Status
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import AdvanceFence, Operation, ReadFence, Reply
from shared.lock.write_permit import WritePermit
from shared.models import Account, Comment, Issue, Permission, PullRequest
from shared.specification import body_sha256
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

ADA, MALLORY = Account(1, "ada"), Account(2, "mallory")
ISSUE = Issue(42, "Title", "Innocent.", frozenset({"status:failed"}), ADA, EPOCH, EPOCH)
WORKER = Fence(
    ItemKey(Role.WORKER, 42),
    5,
    "n" * 32,
    "worker-a",
    Stage.REVIEWING,
    EPOCH,
    pr=57,
    work_head=HEAD,
    body_sha256=body_sha256("Title", "Innocent."),
    oid="0",
)
REVIEWER = Fence(
    ItemKey(Role.REVIEWER, 57), 9, "n" * 32, "reviewer-a", Stage.FAILED, EPOCH, pr=57, work_head=HEAD, oid="0"
)


def comment(text: str, at: datetime, number: int = 42) -> Comment:
    """Return a comment by ada."""
    return Comment(100, number, ADA, text, at, at)


@dataclass
class Scene(UnaskedComments, UnaskedStatus):
    """GitHub and git as far as commands need them. `shown` are the stages that labels were set to.

    `recorded` are the commands in the status comment, obeyed or ignored; `others` is everybody's permission but ada's.
    """

    author: Account = ADA
    fences: dict[tuple[Role, int], Fence] = field(default_factory=dict)
    shown: list[tuple[int, Stage]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    recorded: list[Mapping[str, Any]] = field(default_factory=list)
    others: Permission = Permission.READ
    said: list[Comment] = field(default_factory=list)
    posted: list[tuple[int, str]] = field(default_factory=list)
    """Number and text of each reply."""
    worker: Fence = WORKER

    def __post_init__(self) -> None:
        self.issue = replace(ISSUE, author=self.author)
        self.pull = replace(OPENED, number=57, head_branch="auto/issue-42", head_sha=HEAD)
        self.thread_of_pull = replace(ISSUE, number=57, is_pull_request=True)

    def now(self) -> float:
        return 0.0

    def boot(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody waits here")

    async def request(self, operation: Operation[Any]) -> Reply[Any]:
        if isinstance(operation, ReadFence):
            return Reply(self.fences.get((operation.item.kind, operation.item.number)), EPOCH)
        assert isinstance(operation, AdvanceFence)
        new = operation.fence
        oid = str(int(self.fences[new.key.kind, new.key.number].oid) + 1)
        self.fences[new.key.kind, new.key.number] = replace(new, oid=oid)
        return Reply(oid, EPOCH)

    def known(self, number: int) -> tuple[Comment, ...] | None:
        return None

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        return tuple(one for one in self.said if one.number == number)

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        self.posted.append((number, body))
        return Comment(9000 + len(self.posted), number, Account(9, "engine-bot"), body, EPOCH, EPOCH)

    async def permission(self, login: str) -> Permission:
        return Permission.WRITE if login == "ada" else self.others

    def record_in(self, number: int, thread: Iterable[Comment]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return {"commands": self.recorded}

    async def data(self, number: int) -> Mapping[str, Any]:
        return {}

    async def note(
        self,
        number: int,
        permit: WritePermit,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.noted += [one["outcome"] for one in commands]
        self.recorded += [*commands, *ignored]

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        """Only what is recorded is looked at."""

    async def free(self) -> bool:
        return True

    def recovery(self) -> Recovery:
        """Carries out what is ordered here."""
        return Recovery(_Labels(self), _Pulls(self), _NoBranches(), self, Labels())

    async def order(self, said: Comment, role: Role) -> list[str]:
        """Let the command loop of `role` read a comment; return the recorded outcomes."""
        self.said += [] if said in self.said else [said]
        desk = CommandLoop(
            CommandProfile(role, TextUnchanged(Texts(), self)),
            CommandReader(self, self, self, self.boot),
            CommandTargets(_Issues(self), _Pulls(self), self, Labels(), 3),
            self.recovery(),
            self,
            Replies(self, frozenset(), KEYS),
        )
        listed = self.issue if said.number == 42 else self.thread_of_pull
        await desk.attend(said.number, {said.number: replace(listed, comments=len(self.said))}, self.free)
        return self.noted


class _Issues(UnaskedIssues):
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    async def issue(self, number: int) -> Issue:
        return self._scene.issue if number == 42 else self._scene.thread_of_pull


class _Pulls(UnaskedPulls):
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    async def pull_request(self, number: int) -> PullRequest:
        return self._scene.pull

    async def close(self, number: int, permit: WritePermit) -> PullRequest:
        self._scene.pull = replace(self._scene.pull, open=False)
        return self._scene.pull


class _NoBranches(UnaskedMirror):
    async def refresh(self, ref: str) -> str | None:
        return None

    async def refresh_all(self, prefix: str) -> Mapping[str, tuple[str, str]]:
        return {}


class _Labels(UnaskedLabels):
    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    async def show(self, number: int, stage: Stage, permit: WritePermit, **_: Any) -> frozenset[str]:
        self._scene.shown.append((number, stage))
        labels = frozenset({f"status:{stage}"})
        if number == 42:
            self._scene.issue = replace(self._scene.issue, labels=labels)
        else:
            self._scene.thread_of_pull = replace(self._scene.thread_of_pull, labels=labels)
        return labels

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        self._scene.flags += names
        return frozenset(names)

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        self._scene.shown.append((number, Stage.NEW))
