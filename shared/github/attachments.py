"""Images that people have put into an issue on GitHub's own pages: the check of their addresses, and their bytes.

The addresses in an issue are a stranger's word: only addresses of attachments are asked, redirections lead to GitHub's
own storage or nowhere, no token is shown, and only an image of a known kind by its first bytes is returned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from shared.errors import Transient
from shared.github.transport import Response

LARGEST_BYTES = 5 * 2**20
"""Most bytes of one image; vendors of models take no larger one."""

MOST_HOPS = 3
"""Most redirections that are followed: GitHub needs one."""

SITE = "https://github.com"

_STORAGE = frozenset(
    {
        "user-images.githubusercontent.com",
        "private-user-images.githubusercontent.com",
        "objects.githubusercontent.com",
        "github-production-user-asset-6210df.s3.amazonaws.com",
    }
)
"""Hosts on which github.com keeps attachments."""

_ATTACHED = re.compile(r"/user-attachments/assets/[A-Za-z0-9-]{1,100}")
_OLDER = re.compile(r"https://user-images\.githubusercontent\.com/[0-9]{1,20}/[A-Za-z0-9.-]{1,200}")
_ADDRESS = re.compile(r"[!-~]{1,4000}")
_FIRST_BYTES = (
    ("png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("jpeg", re.compile(rb"\xff\xd8\xff")),
    ("gif", re.compile(rb"GIF8[79]a")),
    ("webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
)


class NotFetched(Exception):
    """The image cannot be had now; the message says why, and does not name the address."""


@dataclass(frozen=True, slots=True)
class Image:
    """One image; `kind` is png, jpeg, gif or webp."""

    kind: str
    content: bytes


class Web(Protocol):
    """Addresses outside of the API."""

    @property
    def site(self) -> str: ...

    async def get_elsewhere(self, url: str, most_bytes: int) -> Response: ...


class Attachments:
    """The attachments of one GitHub server."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._site = web.site

    def covers(self, address: str) -> bool:
        """Return whether an address is that of an attachment, and so may be asked at all."""
        if self._site == SITE and _OLDER.fullmatch(address):
            return True
        return address.startswith(f"{self._site}/") and bool(_ATTACHED.fullmatch(address.removeprefix(self._site)))

    async def image(self, address: str) -> Image:
        """Return the image at an address that is covered; raises `NotFetched`."""
        if not self.covers(address):
            raise NotFetched("it is no attachment of this GitHub")
        for _ in range(MOST_HOPS + 1):
            try:
                answer = await self._web.get_elsewhere(address, LARGEST_BYTES)
            except Transient as error:
                raise NotFetched(str(error)) from error
            if answer.status == 200:
                return _image(answer.body)
            if answer.status not in {301, 302, 303, 307, 308}:
                raise NotFetched(f"GitHub answered {answer.status}")
            address = self._next(address, answer.headers.get("location", ""))
        raise NotFetched("GitHub redirects it without end")

    def _next(self, address: str, location: str) -> str:
        """Return the target of a redirection if it is a place of this server; raises `NotFetched`."""
        elsewhere = NotFetched("GitHub redirects it to another server")
        if not _ADDRESS.fullmatch(location):
            raise elsewhere
        try:
            found = urljoin(address, location)
            parts = urlsplit(found)
        except ValueError as error:
            raise elsewhere from error
        stored = self._site == SITE and parts.scheme == "https" and parts.netloc in _STORAGE
        if stored or f"{parts.scheme}://{parts.netloc}" == self._site:
            return found
        raise elsewhere


def _image(content: bytes) -> Image:
    if len(content) > LARGEST_BYTES:
        raise NotFetched(f"it is larger than {LARGEST_BYTES // 2**20} MiB")
    for kind, first in _FIRST_BYTES:
        if first.match(content):
            return Image(kind, content)
    raise NotFetched("it is no PNG, JPEG, GIF or WebP")
