"""Checks of a request before its operation: the caller, the repository in the path, and the caller's rights.

Reads the JSON web token by which a GitHub App identifies itself, and the API's root as a client knows it: addresses in
answers lead back by the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from lab.github.http.call import Operation
from lab.github.http.refusals import Refusal, no_rights, not_accessible, not_found, redirected
from lab.github.wire.site import ServedRoot
from lab.github.world.accounts import CORE, AccountRecord, AppRecord, TokenRecord
from lab.github.world.hub import World
from lab.github.world.repository import RepositoryRecord

CREDENTIALS = re.compile(r"(?:bearer|token)\s+(\S+)", re.IGNORECASE)

ENTERPRISE = "/api/v3"
"""The beginning of every API path on a GitHub Enterprise Server: programs use it for any host but github.com."""

_NAME = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)
_LOOPBACK = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")


@dataclass(frozen=True, slots=True)
class Caller:
    """Caller of a request, with its token; `app` when an App calls as itself, by a JSON web token."""

    account: AccountRecord
    token: TokenRecord
    app: AppRecord | None = None


class Admission:
    """Lets requests in, or raises the `Refusal` that GitHub would send."""

    def __init__(self, site: ServedRoot) -> None:
        self._site = site
        self._world = site.world

    def caller(self, operation: Operation, request: web.Request) -> Caller:
        """Return the caller; 401 for nobody."""
        found = CREDENTIALS.fullmatch(request.headers.get("Authorization", ""))
        if found is None:
            raise Refusal(401, "Requires authentication")
        if not operation.as_app:
            token = self._world.authenticate(found[1])
            return Caller(self._world.account(token.login), token)
        app = authenticate(self._world, found[1])
        return Caller(self._world.account(app.bot, bot=True), TokenRecord("", app.bot), app)

    def admit(self, operation: Operation, caller: Caller) -> None:
        """Raise 403 for an account that has sent too many requests: in this hour, or (where the lab paces) too fast.

        GraphQL tells of its own hour with a 200.
        """
        now, login = self._world.registrar.now(), caller.account.login
        if operation.resource == CORE and self._world.quotas[CORE].allowance(login, now).remaining == 0:
            raise Refusal(403, f"API rate limit exceeded for user ID {caller.account.id}.")
        if operation.creates and not self._world.pace.step(login, now):
            raise Refusal(403, TOO_FAST, headers={"Retry-After": "60"})

    def home(self, request: web.Request) -> RepositoryRecord | None:
        """Return the repository in the path; 404 when there is none, a redirection when it was renamed."""
        match, world = request.match_info, self._world
        if "repository_id" in match:
            found = world.repositories.get(whole_number(match["repository_id"]) or 0)
        elif "repo" in match:
            name = f"{match['owner']}/{match['repo']}"
            found, moved = world.repository(name), world.moved(name)
            if found is None and moved is not None:
                there = f"{came_to(request, self._site.root)}/repositories/{moved.facts.id}"
                raise redirected(request.method, there + inside(request.rel_url.raw_path_qs))
        else:
            return None
        if found is None:
            raise not_found()
        return found

    def permit(self, operation: Operation, home: RepositoryRecord | None, caller: Caller) -> None:
        """Raise 404 for what the caller may not see, 403 for what the caller may not do."""
        if home is None or operation.as_app:
            return
        facts, login, token = home.facts, caller.account.login, caller.token
        covered = token.covers(facts.id)
        if not facts.reaches(login, "read") or (facts.private and not covered):
            raise not_found()
        free = operation.level == "read" and operation.role == "read" and not facts.private
        wanted = operation.permissions or ("metadata",)
        granted = covered and any(token.may(permission, operation.level) for permission in wanted)
        if not free and not granted:
            raise not_accessible(bot=caller.account.bot)
        if not facts.reaches(login, operation.role):
            raise no_rights()
        if operation.level == "write" and facts.archived:
            raise Refusal(403, "Repository was archived so is read-only.")


TOO_FAST = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
)


def inside(raw_path: str) -> str:
    """Return the part of a raw path after the repository; other paths stay as they are."""
    return re.sub(rf"^({ENTERPRISE})?/(repos/[^/]+/[^/?]+|repositories/\d+)", "", raw_path)


def whole_number(text: str) -> int | None:
    """Return a number of at most 18 digits, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


LONGEST_SECONDS = 600
"""Seconds until a token's expiry, at most."""

_UNREADABLE = "A JSON web token could not be decoded"
_EXPIRED = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion "
    "expires"
)
_TOO_LONG = "'Expiration time' claim ('exp') is too far in the future"
_NOT_YET = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"


def authenticate(world: World, token: str) -> AppRecord:
    """The App that signed `token` (RS256) and is its issuer; 401 with GitHub's sentence, 404 for an unknown App."""
    import jwt  # only Apps need it, and with its cryptography it takes a while to load

    try:
        issuer = jwt.decode(token, options={"verify_signature": False}).get("iss")
    except jwt.PyJWTError:
        raise Refusal(401, _UNREADABLE) from None
    app = world.apps.issuer(str(issuer))
    if app is None:
        raise Refusal(404, "Integration not found")
    try:
        claims = jwt.decode(token, app.public_key, ["RS256"], options={"verify_exp": False, "verify_iat": False})
    except jwt.PyJWTError:
        raise Refusal(401, _UNREADABLE) from None
    _check_times(claims, world.registrar.now())
    return app


def _check_times(claims: dict[str, Any], now: int) -> None:
    issued, expires = claims.get("iat"), claims.get("exp")
    if not isinstance(expires, int | float) or expires <= now:
        raise Refusal(401, _EXPIRED)
    if expires > now + LONGEST_SECONDS:
        raise Refusal(401, _TOO_LONG)
    if not isinstance(issued, int | float) or issued > now:
        raise Refusal(401, _NOT_YET)


def came_to(request: web.Request, root: str) -> str:
    """Return the API's root as the client knows it, by its `Host`; `root`, the lab's own, for a client without `Host`.

    A request through the unix socket for another host was meant for https: a program that is given a socket talks to
    `api.github.com` or its Enterprise host through it.
    """
    host = request.headers.get("Host", "")
    if _NAME.fullmatch(host) is None:
        return root
    tls = _through_socket(request) and _LOOPBACK.fullmatch(host) is None
    prefix = ENTERPRISE if request.path.startswith(f"{ENTERPRISE}/") else ""
    return f"{'https' if tls else 'http'}://{host}{prefix}"


def _through_socket(request: web.Request) -> bool:
    """Return whether it came through the unix socket: there an address is a path, not host and port."""
    return request.transport is not None and not isinstance(request.transport.get_extra_info("sockname"), tuple)
