"""Which remotes git may talk to: one protocol per URL, and plain http on loopback only."""

from __future__ import annotations

import re
from pathlib import Path

from shared.errors import Misconfigured

_LOOPBACK = re.compile(r"http://(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?/[^\s]*")
_SECURE = re.compile(r"https://[A-Za-z0-9.:\[\]-]+/[^\s]*")
_PLAIN_FILE = re.compile(r"(?:file://)?/[^\n]*")


def allowed(remote: str | Path) -> dict[str, str]:
    """The settings that allow the one protocol which this remote needs; raises `Misconfigured` for others."""
    if isinstance(remote, Path):
        return {"protocol.file.allow": "always"}
    if _SECURE.fullmatch(remote):
        return {"protocol.https.allow": "always"}
    if _LOOPBACK.fullmatch(remote):
        return {"protocol.http.allow": "always", "http.proxy": ""}
    if _PLAIN_FILE.fullmatch(remote):
        return {"protocol.file.allow": "always"}
    raise Misconfigured(f"Repositories are reached by https only, not by {remote.rpartition('@')[2]!r}.")
