"""What the worker needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from shared.ci.logs import Logs
from shared.commands.text_history import Texts
from shared.github import ports
from shared.github.attachments import Image
from shared.github.ports import Closing, Comments, Issues, LabelBoard, People, Pulls, Replies, StatusComments
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Review, ReviewComment
from shared.reconcile.watch import Watch
from worker_agent.intake.ceilings import CeilingCheck
from worker_agent.intake.unusable_configuration import Unusable


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
    comments: Comments
    checks: Checks
    status: StatusComments
    texts: Texts
    closing: Closing
    replies: Replies
    unusable: Unusable
    ceilings: CeilingCheck
