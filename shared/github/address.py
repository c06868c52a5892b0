"""Addresses of one GitHub server: paths to URLs and back, and the URLs to which the token may be shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urljoin, urlsplit

from shared.errors import Transient

GRAPHQL = "/graphql"
"""The path of GraphQL."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Hosts of this machine, against which values are accepted that would be unsafe elsewhere: the lab runs there."""


class ApiRoot:
    """The root of the REST API, for example `https://api.github.com` or `https://ghe.example/api/v3`."""

    def __init__(self, api_url: str) -> None:
        self.root = api_url.rstrip("/")
        self._parts = urlsplit(self.root)

    @property
    def loopback(self) -> bool:
        """True if the server runs on this machine."""
        return self._parts.hostname in LOOPBACK

    @property
    def encrypted(self) -> bool:
        """True if the scheme is https."""
        return self._parts.scheme == "https"

    @property
    def site(self) -> str:
        """The root of the server's web pages: https://github.com for https://api.github.com."""
        host = "github.com" if self._parts.netloc == "api.github.com" else self._parts.netloc
        return f"{self._parts.scheme}://{host}"

    def url(self, path: str) -> str:
        """Return the URL of a path that begins with a slash; GraphQL has its own place on an Enterprise server."""
        root = self.root.removesuffix("/v3") if path == GRAPHQL else self.root
        return root + path

    def path(self, url: str) -> str:
        """Return the path and query of a URL below this root (relative ones too); any other raises `Transient`."""
        absolute = urljoin(self.root + "/", url)
        if not absolute.startswith(self.root + "/"):
            raise Transient(f"GitHub points to another server: {urlsplit(absolute).hostname}")
        return absolute.removeprefix(self.root)

    def download(self, location: str) -> str:
        """Return the URL of a download elsewhere; anything but https (or this machine's own) raises `Transient`."""
        absolute = urljoin(self.root + "/", location)
        parts = urlsplit(absolute)
        if parts.scheme != "https" and not (self.loopback and parts.hostname in LOOPBACK):
            raise Transient(f"GitHub points to an unsafe download: {parts.scheme}://{parts.hostname}")
        return absolute


def query(params: Mapping[str, object]) -> str:
    """Return the query string in the order given, byte-stable; None is left out, times become UTC seconds."""
    pairs = [(name, _text(value)) for name, value in params.items() if value is not None]
    return "?" + urlencode(pairs, quote_via=quote, safe=":") if pairs else ""


def segment(name: str) -> str:
    """Return a name as one path segment, with any characters."""
    return quote(name, safe="")


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value).lower() if isinstance(value, bool) else str(value)
