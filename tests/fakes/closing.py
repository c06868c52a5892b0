"""Fakes of what tells the ends of items, and of replies: they remember what they were told to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakes.unasked import UnaskedReplies, UnaskedStatus
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.lock.write_permit import WritePermit
from shared.models import Issue, PullRequest


@dataclass
class FakeClosing(UnaskedStatus):
    """The numbers of issues that were told as merged, and of items whose labels came off."""

    told: list[int] = field(default_factory=list)
    unlabelled: list[int] = field(default_factory=list)
    closed: Callable[[Issue], None] = lambda issue: None
    then: Callable[[Issue | PullRequest], None] = lambda item: None

    async def merged(self, fence: Fence, pull_request: PullRequest, permit: WritePermit) -> None:
        """Tell of an issue."""
        permit.check()
        self.told.append(fence.key.number)

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None:
        """Take labels off an item."""
        permit.check()
        self.unlabelled.append(item.number)
        self.then(item)

    async def close(self, item: Issue, permit: WritePermit) -> None:
        """Close an issue and take its labels off."""
        permit.check()
        self.closed(item)
        await self.unlabel(item, permit)

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        """A status comment says something else."""
        permit.check()
        self.told.append(number)

    async def data(self, number: int) -> Mapping[str, Any]:
        """No status comment stands anywhere."""
        return {}


@dataclass
class FakeReplies(UnaskedReplies):
    """The replies that were given, each once."""

    posted: dict[tuple[int, str], str] = field(default_factory=dict)

    async def once(self, number: int, purpose: str, text: str, mention: Sequence[str] = ()) -> bool:
        """Give one."""
        new = (number, purpose) not in self.posted
        self.posted.setdefault((number, purpose), text)
        return new
