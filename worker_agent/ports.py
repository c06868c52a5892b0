"""What the worker needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.ci.logs import Logs
from shared.commands.text_history import Texts
from shared.github import ports
from shared.github.attachments import Image
from shared.github.ports import Closing, Conversation, Issues, LabelBoard, People, Replies, SinglePulls, StatusComments
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import PullRequest, Review, ReviewComment
from shared.reconcile.watch import Watch
from worker_agent.intake.ceilings import CeilingCheck
from worker_agent.intake.unusable_configuration import Unusable


class Pulls(SinglePulls, Protocol):
    """Pull requests."""

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]: ...

    async def open(self, title: str, body: str, head: str, base: str, held: Held) -> PullRequest: ...

    async def edit(
        self, number: int, *, title: str | None = None, body: str | None = None, permit: WritePermit
    ) -> PullRequest: ...

    async def request_reviewers(self, number: int, logins: Sequence[str], held: Held) -> None: ...


class Reviews(Protocol):
    """What reviewers said."""

    async def of(self, number: int) -> tuple[Review, ...]: ...

    async def comments(self, number: int) -> tuple[ReviewComment, ...]: ...

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment: ...


class Checks(ports.Checks, Logs, Protocol):
    """CI of one SHA."""

    async def rerun(self, run_id: int, permit: WritePermit) -> None: ...


class Attachments(Protocol):
    """The images that people have put into issues."""

    def covers(self, address: str) -> bool: ...

    async def image(self, address: str) -> Image:
        """Raises `NotFetched`."""
        ...


@dataclass(frozen=True, slots=True)
class Forge:
    """The GitHub side of one repository, as the worker uses it."""

    inbox: Watch
    issues: Issues
    people: People
    labels: LabelBoard
    pulls: Pulls
    reviews: Reviews
    conversation: Conversation
    checks: Checks
    status: StatusComments
    texts: Texts
    closing: Closing
    replies: Replies
    unusable: Unusable
    ceilings: CeilingCheck
