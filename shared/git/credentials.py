"""The answer to git's password question from a private file: the token is never in argv, environment or a URL.

git asks through `GIT_ASKPASS` (https://git-scm.com/docs/gitcredentials). The helper answers for one
server only, so that a redirect to another host learns nothing.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio.to_thread

from shared.filesystem import directories

_SERVER = re.compile(r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.:\[\]-]+)")

_SCRIPT = """\
#!/bin/sh
case "$1" in
"Username for '{scheme}://{host}': ") echo x-access-token ;;
"Password for '{scheme}://x-access-token@{host}': ") cat "${{0%/*}}/token" ;;
*) exit 1 ;;
esac
"""

TokenSource = Callable[[], Awaitable[str]]
"""Returns the token to use now; asked before each command that may need it, so tokens can rotate."""


class Credentials:
    """The answer to one server's password question; `directory` belongs to this process alone."""

    def __init__(
        self, directory: Path, server: str, token: TokenSource, renew: Callable[[str], Awaitable[bool]] | None = None
    ) -> None:
        """`server` is scheme and host, for example `https://github.com`; raises ValueError for anything else.

        `renew` takes a refused token and returns whether to try once more, with another one or the same.
        """
        found = _SERVER.fullmatch(server)
        if found is None:
            raise ValueError(f"{server!r} is not a scheme and a host")
        self._directory = directory.absolute()
        self._script = _SCRIPT.format(**found.groupdict())
        self._token, self._renew = token, renew
        self._written = ""

    async def variables(self) -> dict[str, str]:
        """Return the environment variables that let one git command answer; writes the token file if it changed."""
        token = await self._token()
        if token != self._written:
            await anyio.to_thread.run_sync(self._write, token)
            self._written = token
        return {"GIT_ASKPASS": str(self._directory / "askpass")}

    async def renew(self) -> bool:
        """Renew the token that the server refused; return whether the last command is to be run again."""
        return self._renew is not None and await self._renew(self._written)

    def remove(self) -> None:
        """Delete the token file and the helper."""
        self._written = ""
        directories.remove(self._directory)

    def _write(self, token: str) -> None:
        if not token.isascii() or not token.isprintable():
            raise ValueError("the token has characters that no token has")
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        _replace(self._directory / "token", f"{token}\n", 0o600)
        _replace(self._directory / "askpass", self._script, 0o700)


def _replace(path: Path, text: str, mode: int) -> None:
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    new.replace(path)
