"""ChatGPT's sign-in, as far as Codex needs it: tokens that end, and a refresh token that works once.

Using one a second time ends the login, as with the vendor.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

FAR = 4_102_444_800
"""2100-01-01, in Unix seconds: not yet over."""

LONG_AGO = 1_577_836_800
"""2020-01-01, in Unix seconds: over."""


class Issuer:
    """One person's login. `renewals` counts how often it was renewed, `ended` says that a token was used twice."""

    def __init__(self, account: str = "account-1") -> None:
        self.account = account
        self.renewals = 0
        self.ended = False

    @property
    def access(self) -> str:
        """The token that requests have to carry now."""
        return self._token(FAR)

    def login(self, *, over: bool = False, key: str | None = None) -> str:
        """What `codex login` leaves in its file; its access token may already be `over`.

        `key` is the API key that it gets for some accounts, and does not use.
        """
        claims = {"https://api.openai.com/auth": {"chatgpt_plan_type": "pro", "chatgpt_account_id": self.account}}
        tokens = {
            "id_token": _signed({"email": "ada@example.invalid", "exp": FAR, **claims}),
            "access_token": self._token(LONG_AGO if over else FAR),
            "refresh_token": self._renewal,
            "account_id": self.account,
        }
        last = datetime.fromtimestamp(LONG_AGO, UTC).isoformat().replace("+00:00", "Z")
        return json.dumps({"auth_mode": "chatgpt", "OPENAI_API_KEY": key, "tokens": tokens, "last_refresh": last})

    async def renew(self, request: web.Request) -> web.Response:
        """Give new tokens for the newest refresh token; any older one ends the login."""
        asked = await request.json()
        if self.ended or asked.get("refresh_token") != self._renewal:
            self.ended = True
            said = {"code": "refresh_token_reused", "message": "Your refresh token has already been used."}
            return web.json_response({"error": said}, status=401)
        self.renewals += 1
        tokens = json.loads(self.login())["tokens"]
        return web.json_response({name: tokens[name] for name in ("id_token", "access_token", "refresh_token")})

    @property
    def _renewal(self) -> str:
        return f"rt-c4n4ry-{self.renewals}"

    def _token(self, ends: int) -> str:
        return _signed({"exp": ends, "n": self.renewals})


def _signed(claims: dict[str, Any]) -> str:
    """A JSON web token that nobody can verify."""
    return f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part(claims)}.{_part('unsigned')}"


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
