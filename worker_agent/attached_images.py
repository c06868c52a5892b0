"""The images of an issue for its coder: fetched once by the daemon and put into the tree, or reported as not shown.

Only people with write access have their images fetched, and only images that GitHub stores as attachments. An image
that cannot be fetched delays nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import structlog

from shared.commands.discussion import AuthorFilter, Discussion
from shared.filesystem import directories
from shared.git.capture import ISSUE_IMAGES
from shared.github.attachments import NotFetched
from shared.github.ports import Attachments
from shared.models import Issue
from shared.newest import Newest
from shared.text.markdown import lines

log = structlog.get_logger()

MOST_ISSUES = 100
"""The most issues whose text is remembered; of the others only the addresses tell what is not shown."""

MOST = 8
"""Maximum number of images of one issue and its comments that a coder is shown; the first ones are taken."""

AGAIN_SECONDS = 600.0
"""Seconds until an image that could not be fetched is requested again."""

READABLE = 0o644
"""The mode of an image in the tree: the coder may run as another account."""

_IMAGE = re.compile(
    r"""!\[[^\]\n]{0,500}\](?:\(\s*<?(?P<inline>[^\s()<>]*)|\[)|<img\b(?:[^<>]*?\ssrc\s*=\s*["']?(?P<html>[^\s"'<>]*))?""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AttachedImage:
    """One image: its source address, and its file outside of the tree."""

    address: str
    file: Path


@dataclass(frozen=True, slots=True)
class AttachedImages:
    """The images of an issue that a coder is shown; `unseen` is the number of those that it is not shown."""

    shown: tuple[AttachedImage, ...] = ()
    unseen: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of the shown images in the tree, in the order in which the text shows them."""
        return tuple(f"{ISSUE_IMAGES}/{order}{one.file.suffix}" for order, one in enumerate(self.shown, start=1))

    def text(self) -> str:
        """Return the text about the images for a coder; empty if the issue has no image."""
        files = [f"- `{name}`: {one.address}" for name, one in zip(self.names, self.shown, strict=True)]
        told = ["Images of this text are files here; look at them. They are no part of the change.", *files]
        return "\n\n".join(filter(None, ("\n".join(told) if files else "", unseen(self.unseen))))

    async def lay(self, tree: Path) -> tuple[Path, ...]:
        """Write the images into a tree, where `capture` leaves them out; return the files."""
        return await anyio.to_thread.run_sync(self._lay, tree) if self.shown else ()

    def _lay(self, tree: Path) -> tuple[Path, ...]:
        made: list[Path] = []
        with suppress(OSError):  # a commit has something in this place: that stays
            (tree / ISSUE_IMAGES).mkdir(mode=0o755)
            for name, one in zip(self.names, self.shown, strict=True):
                directories.write(tree / name, one.file.read_bytes())
                (tree / name).chmod(READABLE)
                made.append(tree / name)
        return tuple(made)


NO_PICTURES = AttachedImages()


def images(text: str) -> tuple[str, ...]:
    """Return the address of each image of a text, empty if given elsewhere; images in code blocks do not count."""
    shown = "\n".join(line.text for line in lines(text) if not line.fenced)
    return tuple(found["inline"] or found["html"] or "" for found in _IMAGE.finditer(shown))


def unseen(count: int) -> str:
    """Return the note for a coder about images that it is not shown; empty if there are none."""
    if not count:
        return ""
    which = "An image of this text is" if count == 1 else f"{count} images of this text are"
    return f"({which} not shown to you. If it cannot be done without seeing that, say so at the end.)"


def none_shown(issue: Issue, discussion: Discussion) -> AttachedImages:
    """Return the images of an issue if nothing fetches images: all of them count as unseen."""
    return AttachedImages(unseen=len(images(issue.body)) + sum(len(images(one.body)) for one in discussion.comments))


class ImageFetcher:
    """Fetches the images of one repository's issues."""

    def __init__(self, attachments: Attachments, trust_filter: AuthorFilter, boot: Callable[[], float]) -> None:
        self._attachments = attachments
        self._trust_filter = trust_filter
        self._boot = boot
        self._refused: dict[str, float] = {}
        self._found: Newest[int, tuple[str, int]] = Newest(MOST_ISSUES)

    def without(self, issue: Issue) -> int:
        """Return how many images of an issue's text no coder is shown, as far as that is known now."""
        text, count = self._found.get(issue.number, ("", 0))
        if text == issue.body:
            return count
        return sum(not self._attachments.covers(one) for one in images(issue.body))

    async def of(self, issue: Issue, discussion: Discussion, store: Path, paths: Collection[str]) -> AttachedImages:
        """Return the images of an issue, kept in the directory `store`; `paths` are those of the repository.

        Raises `Transient` if GitHub does not answer who may write.
        """
        of_issue, said = images(issue.body), [address for one in discussion.comments for address in images(one.body)]
        wanted = list(said)
        if of_issue and not await self._trust_filter.why_not(issue.author):
            wanted = [*of_issue, *said]
        if any(path.startswith(f"{ISSUE_IMAGES}/") for path in paths):
            wanted = []
        files = await self._fetch_files(list(dict.fromkeys(wanted))[:MOST], store)
        hidden = sum(address not in files for address in of_issue)
        if of_issue:
            self._found[issue.number] = (issue.body, hidden)
        shown = tuple(AttachedImage(address, file) for address, file in files.items())
        return AttachedImages(shown, hidden + sum(address not in files for address in said))

    async def _fetch_files(self, addresses: Sequence[str], store: Path) -> dict[str, Path]:
        found = {address: await self._file(address, store) for address in addresses}
        return {address: file for address, file in found.items() if file is not None}

    async def _file(self, address: str, store: Path) -> Path | None:
        """Return the file of an image, fetched if it is not there; None if it is not available now."""
        name, now = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:32], self._boot()
        known = await anyio.to_thread.run_sync(_find_file, store, name)
        if known is not None:
            return known
        if not self._attachments.covers(address) or self._refused.get(address, now) > now:
            return None
        try:
            image = await self._attachments.image(address)
        except NotFetched as error:
            log.info("image_not_fetched", outcome="skipped", address=address, error=str(error))
            recent = {one: until for one, until in self._refused.items() if until > now}
            self._refused = recent | {address: now + AGAIN_SECONDS}
            return None
        file = store / f"{name}.{image.kind}"
        await anyio.to_thread.run_sync(_keep, file, image.content)
        return file


def _find_file(store: Path, name: str) -> Path | None:
    return next(iter(store.glob(f"{name}.*")), None)


def _keep(file: Path, content: bytes) -> None:
    """Write the file atomically, so that a killed daemon leaves no partial image."""
    half = file.with_name(f"half-{file.name}")
    directories.remove(half)
    directories.write(half, content)
    half.replace(file)
