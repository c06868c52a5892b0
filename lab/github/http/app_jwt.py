"""Reads the JSON web token by which a GitHub App says who it is.

https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

from __future__ import annotations

from typing import Any

from lab.github.http.refusals import Refusal
from lab.github.world.apps import AppRecord
from lab.github.world.hub import World

LONGEST_SECONDS = 600
"""How far in the future a token may expire."""

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
