"""The sources of tokens: a value, `gh auth token`, or a GitHub App that makes one for an hour, again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import structlog

from shared import process
from shared.errors import Misconfigured, Unauthorized
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound, Refused
from shared.lock.write_permit import OperatorPermit
from shared.models import Account

log = structlog.get_logger()

GH_SECONDS = 10.0
"""Seconds that `gh` may take to look its token up."""

PROOF_SECONDS = 9 * 60
"""Seconds for which one proof of being the App is used; GitHub accepts at most 10 minutes."""

DRIFT_SECONDS = 60
"""Seconds by which a proof is dated back, as GitHub advises, because clocks differ."""

ROTATION_SECONDS = 5 * 60
"""Seconds before its expiry at which an installation's token is replaced."""

SPREADING_SECONDS = 8.0
"""Age in seconds below which not all of GitHub's servers may know a token; GitHub's own libraries wait 5 s."""

SPREADING_PAUSES = (0.5, 2.0)
"""Shortest and longest pause in seconds between two tries of a young token; in between, its age."""

UNPROCESSABLE = 422
"""GitHub's status for a request for a repository that the installation does not reach."""

_SIGN_IN = OperatorPermit("sign in as the App")


class Kept:
    """A token that a person keeps somewhere: read again if GitHub refuses it, because it may have been replaced."""

    def __init__(self, read: Callable[[], str]) -> None:
        """`read` may raise `Unauthorized`: at the start that is raised, later the token that is known stays."""
        self._read = read
        self._known = read()

    async def __call__(self) -> str:
        """Return the token to use now."""
        return self._known

    async def renew(self, refused: str) -> bool:
        """Look it up again; return whether there is another one now."""
        with suppress(Unauthorized):
            self._known = self._read()
        return self._known != refused


async def of_gh(command: str, host: str, environment: Mapping[str, str]) -> str:
    """Return the output of `gh auth token` for a host; empty if gh is missing, slow, or not logged in there.

    `environment` needs `PATH` and the variables that lead gh to its own configuration.
    """
    argv = (command, "auth", "token", "--hostname", host)
    try:
        with anyio.fail_after(GH_SECONDS):
            finished = await process.run(argv, cwd=Path("/"), env=environment)
    except (OSError, TimeoutError):
        return ""
    return finished.text.strip() if finished.code == 0 else ""


class Proof:
    """A GitHub App's proof of identity: a JSON web token, signed anew every few minutes.

    https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
    """

    def __init__(self, app_id: int, private_key: str, now: Callable[[], float]) -> None:
        """`now` is in seconds since the epoch, GitHub's if it is known; raises `Misconfigured` for a bad key."""
        self._app_id = app_id
        self._private_key = private_key
        self._now = now
        self._known: tuple[str, float] | None = None
        self._renewed = ""
        self._sign(now())

    async def __call__(self) -> str:
        """Return the proof to use now."""
        now = self._now()
        if self._known is None or not now - PROOF_SECONDS < self._known[1] <= now:
            self._known = self._sign(now), now
        return self._known[0]

    async def renew(self, refused: str) -> bool:
        """Sign anew, once: GitHub's refusal has told the right time, and the local clock may be wrong."""
        if refused == self._renewed:
            return False
        self._known = self._sign(self._now()), self._now()
        self._renewed = self._known[0]
        return self._renewed != refused

    def _sign(self, now: float) -> str:
        try:
            import jwt  # only Apps need it, and with its cryptography it takes a while to load
        except ImportError:
            raise Misconfigured(
                "github.app needs PyJWT and cryptography: pip install 'workflow-engine[app]'."
            ) from None
        claims = {
            "iat": int(now) - DRIFT_SECONDS,
            "exp": int(now) + PROOF_SECONDS - DRIFT_SECONDS,
            "iss": str(self._app_id),
        }
        try:
            return jwt.encode(claims, self._private_key, algorithm="RS256")
        except (ValueError, TypeError, jwt.PyJWTError) as error:
            raise Misconfigured(f"github.app.private_key_file holds no usable RSA key: {error}") from None


class Installation:
    """The tokens of one App for some repositories of one owner: a source that rotates them in time.

    GitHub makes none for a list with a name that it cannot reach. Such a name is left out, so that the others go on.
    """

    def __init__(self, app: GitHub, repositories: Sequence[str]) -> None:
        """`app` is a client that signs in with a `Proof`; `repositories` are full names of one owner."""
        self._app = app
        self._repositories = tuple(repositories)
        self._known: tuple[str, datetime] | None = None
        self._made_at = 0.0
        self._doubted_at: float | None = None
        self._left_out: frozenset[str] = frozenset()
        self._one_at_a_time = anyio.Lock()

    async def __call__(self) -> str:
        """Return the token to use now. Raises `Misconfigured`, `Unauthorized` or `Transient`."""
        async with self._one_at_a_time:
            if self._known is None or self._app.server_time >= self._known[1]:
                self._known = await self._make_token()
                self._made_at = self._app.clock.boot()
            return self._known[0]

    async def admit(self, repository: str) -> None:
        """Raise `Misconfigured` if the token does not reach a repository; one left out is asked for again first."""
        await self()
        if repository not in self._left_out:
            return
        number = await self._number(repository)
        if number is None or not await self._is_granted(number, repository):
            raise Misconfigured(_not_installed(repository))
        self._known = None
        await self()

    async def renew(self, refused: str) -> bool:
        """Give a young token time to become known; drop a revoked one, so that the App makes another.

        False if it was refused all the time: another one would be, too.
        """
        if self._known is None or self._known[0] != refused:
            return True
        now = self._app.clock.boot()
        age, doubted_at = now - self._made_at, self._doubted_at
        if age < SPREADING_SECONDS:
            self._doubted_at = now
            least, most = SPREADING_PAUSES
            await self._app.clock.sleep(min(max(age, least), most))
            return True
        self._known, self._doubted_at = None, None
        return doubted_at is None or now - doubted_at > SPREADING_SECONDS

    async def _make_token(self) -> tuple[str, datetime]:
        """Make a new token; return it with the server time from which another one is wanted."""
        number, names = await self._installation()
        made = await self._request_token(number, names)
        if made is None:  # one request for each name, and one more only for those that do not show why
            names = [name for name in names if await self._number(name) is not None]
            made = await self._request_token(number, names)
        if made is None:
            names = [name for name in names if await self._is_granted(number, name)]
            made = await self._request_token(number, names)
        if made is None:
            raise Misconfigured(_not_installed(self._repositories[0]))
        self._leave_out(frozenset(self._repositories).difference(names))
        token, expires = made
        return token, expires - timedelta(seconds=ROTATION_SECONDS)

    async def _installation(self) -> tuple[int, list[str]]:
        """Return its number, by the first repository that tells it, and the repositories from that one on."""
        for index, name in enumerate(self._repositories):
            number = await self._number(name)
            if number is not None:
                return number, list(self._repositories[index:])
        raise Misconfigured(_not_installed(self._repositories[0]))

    async def _number(self, name: str) -> int | None:
        """Return the installation in one repository; None if there is none."""
        try:
            return wire.read(_id, await self._app.get(f"/repos/{name}/installation"))
        except NotFound:
            return None

    async def _request_token(self, number: int, names: Sequence[str]) -> tuple[str, datetime] | None:
        """Return a token for these repositories and its expiry; None if GitHub cannot reach one of them by its name."""
        if not names:
            return None
        payload = {"repositories": [name.partition("/")[2] for name in names]}
        try:
            reply = await self._app.write("POST", f"/app/installations/{number}/access_tokens", payload, _SIGN_IN)
        except Refused as error:
            if error.status != UNPROCESSABLE:
                raise
            return None
        return wire.read(_token, reply)

    async def _is_granted(self, number: int, name: str) -> bool:
        """Return whether there is a token for this one alone: a renamed one answers, but not to its old name."""
        return await self._request_token(number, [name]) is not None

    def _leave_out(self, names: frozenset[str]) -> None:
        if names - self._left_out:
            log.warning("repositories_without_token", outcome="retrying", repositories=sorted(names))
        self._left_out = names


async def bot(app: GitHub, github: GitHub) -> Account:
    """Return the account that an App writes as: `<slug>[bot]`, whose number only `/users` tells."""
    slug = wire.read(_slug, await app.get("/app"))
    return wire.read(wire.account, await github.get(f"/users/{segment(f'{slug}[bot]')}"))


def _not_installed(name: str) -> str:
    return f"The GitHub App is not installed in {name}: install it there."


def _token(value: Any) -> tuple[str, datetime]:
    return str(value["token"]), datetime.fromisoformat(value["expires_at"])


def _id(value: Any) -> int:
    return int(value["id"])


def _slug(value: Any) -> str:
    return str(value["slug"])
