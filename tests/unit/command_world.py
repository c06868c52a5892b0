"""The world in which commands are tested: a thread, a fence, and the reactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from command_thread import AT, FENCE, Thread
from fakes.unasked import UnaskedStatus

from shared.commands.command_target import CommandTarget
from shared.commands.recovery import Case
from shared.errors import Transient
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.lock.port import ReadFence, Reply
from shared.lock.write_permit import WritePermit
from shared.models import Issue
from shared.workflow import Role, Stage, Track

WORKING = replace(FENCE, stage=Stage.IMPLEMENTING, oid="1" * 40)

LABELS = frozenset({"status:implementing"})


@dataclass
class World(UnaskedStatus):
    """One issue in the hands of a worker: its thread, its labels, its fence, and what is recorded of commands."""

    thread: Thread = field(default_factory=lambda: Thread(cached=True))
    labels: frozenset[str] = LABELS
    fence: Fence = WORKING
    free: bool = True
    failures: int = 0
    told: list[Mapping[str, Any]] = field(default_factory=list)
    reactions: list[str] = field(default_factory=list)

    @property
    def listed(self) -> Mapping[int, Issue]:
        return {7: replace(self.thread.listed, labels=self.labels)}

    async def target(self, number: int) -> CommandTarget:
        case = Case(self.listed[7], self.fence, self.listed[7])
        return CommandTarget(case, Track.SPECIFICATION, self.fence.stage, Role.WORKER)

    async def add(self, number: int, names: Sequence[str], permit: WritePermit) -> frozenset[str]:
        self._reach()
        self.labels |= set(names)
        self.reactions.append(f"add {', '.join(names)}")
        return self.labels

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        self._reach()
        self.labels -= {name}
        self.reactions.append(f"remove {name}")

    def _reach(self) -> None:
        if self.failures:
            self.failures -= 1
            raise Transient("GitHub answered 502")

    async def request(self, asked: Any) -> Reply[Any]:
        """Answer as the server of fences."""
        at = AT + timedelta(hours=1)
        if isinstance(asked, ReadFence):
            return Reply(self.fence, at)
        self.reactions.append(f"fence {asked.fence.stage}")
        self.fence = replace(asked.fence, oid="2" * 40)
        return Reply(self.fence.oid, at)

    async def note(self, number: int, permit: WritePermit, *, commands: Any = (), ignored: Any = ()) -> None:
        self.told += commands
        self.thread.recorded += [one["id"] for one in commands]

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        """Record the new text of the status comment."""
        self.reactions.append(f"tell {status.sentence}")

    async def data(self, number: int) -> dict[str, Any]:
        return {}

    async def once(self, number: int, purpose: str, text: str) -> bool:
        self.reactions.append(f"{purpose}: {text}")
        return True

    async def doubt(self, *asked: Any) -> str:
        """Return no doubt, as nothing was edited."""
        return ""

    async def is_free(self) -> bool:
        return self.free
