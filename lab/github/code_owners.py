"""Who owns a file by the repository's CODEOWNERS, as GitHub reads it: the last line that matches counts."""

from __future__ import annotations

import re

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for the file; the first that exists counts."""


def owners(text: str, path: str) -> frozenset[str]:
    """The logins that own `path`; empty when nobody does."""
    found: frozenset[str] = frozenset()
    for line in text.splitlines():
        pattern, *logins = line.partition("#")[0].split() or [""]
        if pattern and _matches(pattern, path):
            found = frozenset(login.removeprefix("@") for login in logins)
    return found


def _matches(pattern: str, path: str) -> bool:
    """A pattern with a slash before its end is anchored at the root; a directory matches what is below it."""
    anchored = "/" in pattern.rstrip("/")
    body = re.escape(pattern.strip("/")).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    below = r"/.*" if pattern.endswith("/") else r"(/.*)?"
    return re.fullmatch(("" if anchored else "(.*/)?") + body + below, path) is not None
