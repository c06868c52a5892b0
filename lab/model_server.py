"""A scripted model server on 127.0.0.1: Anthropic's Messages, OpenAI's Responses and chat completions,
for the real CLIs.

It answers from a `lab.model.script.Script`, journals every request, and can fail in every way that a vendor can.
`async with ModelServer(script) as server:` and then `server.url`. ChatGPT's sign-in, as far as Codex needs it:
tokens that end, and a refresh token that works once.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import ModuleType
from typing import Any

import anyio
from aiohttp import web

from lab.github.clock import LabClock
from lab.github.http.host import Host
from lab.model import anthropic, chat, responses
from lab.model.script import AnswerFault, ModelRequest, Scene, Script, Trouble, Turn

LARGEST_BODY = 64 * 2**20

VENDORS = {"/v1/messages": anthropic, "/v1/responses": responses, "/v1/chat/completions": chat}
"""Endpoint -> the module that reads and writes its format."""


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request: its path, its headers (names in lower case), its body, and the answer's status.

    `answered` is a status, or 0 when no answer was begun.
    """

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    answered: int

    @property
    def token(self) -> str:
        """The key that it carried."""
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")


class ModelServer:
    """Two vendors' endpoints, one script. `unscripted` lists what no scene or route was meant for.

    With an `issuer` it is ChatGPT's backend too, for those who carry that login's newest token.
    """

    def __init__(self, script: Script, *, issuer: Issuer | None = None) -> None:
        self.script = script
        self.issuer = issuer
        self.journal: list[SeenRequest] = []
        self.unscripted: list[str] = []
        self._host = Host(0, None)
        self._clock = LabClock()
        self._troubles: Counter[tuple[str, int]] = Counter()
        self._closing = anyio.Event()

    @property
    def url(self) -> str:
        """The root, without a final slash and without `/v1`."""
        return self._host.url

    async def __aenter__(self) -> ModelServer:
        app = web.Application(client_max_size=LARGEST_BODY)
        app.router.add_route("HEAD", "/{tail:.*}", _alive)
        for path, vendor in VENDORS.items():
            app.router.add_post(path, partial(self._answer, vendor=vendor))
        app.router.add_post("/v1/messages/count_tokens", _count)
        if self.issuer is not None:
            app.router.add_post("/oauth/token", self.issuer.renew)
            app.router.add_post("/backend-api/codex/responses", self._answer_signed_in)
            app.router.add_get("/backend-api/{tail:.*}", _missing)
        app.router.add_route("*", "/{tail:.*}", self._unlisted)
        await self._host.start(app)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        await self._host.stop()

    async def _answer_signed_in(self, request: web.Request) -> web.StreamResponse:
        known = self.issuer is not None and request.headers.get("authorization") == f"Bearer {self.issuer.access}"
        if known:
            return await self._answer(request, responses)
        return web.json_response(responses.error(401, "token_expired", "the token is over"), status=401)

    async def _unlisted(self, request: web.Request) -> web.StreamResponse:
        self.unscripted.append(f"{request.method} {request.path}")
        return web.json_response(anthropic.error(404, None, "there is no such endpoint"), status=404)

    async def _answer(self, request: web.Request, vendor: ModuleType) -> web.StreamResponse:
        body = await request.json()
        model_request: ModelRequest = vendor.model_request(body)
        scene = self.script.scene(model_request.text)
        if scene is None:
            self.unscripted.append(model_request.text[:500])
            self._note(request, body, 400)
            return web.json_response(vendor.error(400, None, "no scene is meant for this request"), status=400)
        turn = scene.turns[min(model_request.turn, len(scene.turns) - 1)]
        trouble = self._trouble(scene, model_request.turn, turn)
        if trouble is not None and trouble.kind is not AnswerFault.SLOW:
            return await self._fail(request, body, vendor, trouble)
        if trouble is not None:
            await self._clock.sleep(trouble.seconds)
        self._note(request, body, 200)
        return await _whole(request, vendor, model_request, turn, body)

    def _trouble(self, scene: Scene, number: int, turn: Turn) -> Trouble | None:
        trouble = turn.trouble
        if trouble is None:
            return None
        self._troubles[scene.part, number] += 1
        return trouble if trouble.times is None or self._troubles[scene.part, number] <= trouble.times else None

    async def _fail(
        self, request: web.Request, body: Mapping[str, Any], vendor: ModuleType, trouble: Trouble
    ) -> web.StreamResponse:
        self._note(request, body, _status(trouble))
        match trouble.kind:
            case AnswerFault.STATUS:
                headers = {} if trouble.retry_after is None else {"retry-after": str(trouble.retry_after)}
                said = vendor.error(trouble.status, trouble.type, trouble.message)
                return web.json_response(said, status=trouble.status, headers=headers)
            case AnswerFault.MALFORMED:
                return web.Response(text="{this is no JSON", content_type="text/event-stream")
            case AnswerFault.EMPTY:
                return web.Response(content_type="text/event-stream")
            case AnswerFault.CUT | AnswerFault.STALLED:
                return await self._half(request, vendor, stall=trouble.kind is AnswerFault.STALLED)
            case _:
                await self._closing.wait()
                return web.Response(status=503)

    async def _half(self, request: web.Request, vendor: ModuleType, *, stall: bool) -> web.StreamResponse:
        """Begin an answer, and then say nothing more or hang up."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        pieces: Iterator[bytes] = vendor.events(Turn(say="This sentence is never"), 0, "lab")
        for piece in [next(pieces) for _ in range(3)]:
            await response.write(piece)
        if stall:
            await self._closing.wait()
        if request.transport is not None:
            request.transport.abort()
        return response

    def _note(self, request: web.Request, body: Mapping[str, Any], answered: int) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.journal.append(SeenRequest(request.path, headers, body, answered))


async def _whole(
    request: web.Request, vendor: ModuleType, model_request: ModelRequest, turn: Turn, body: Mapping[str, Any]
) -> web.StreamResponse:
    placed, model = model_request.placed(turn), str(body.get("model", "lab"))
    if not model_request.stream:
        return web.json_response(vendor.message(placed, model_request.turn, model))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in vendor.events(placed, model_request.turn, model):
        await response.write(piece)
    return response


async def _alive(request: web.Request) -> web.Response:
    return web.Response()


async def _missing(request: web.Request) -> web.Response:
    """Answer 404 to Codex's requests about an account, without which it goes on."""
    return web.json_response({"detail": "not here"}, status=404)


async def _count(request: web.Request) -> web.Response:
    body = await request.read()
    return web.json_response({"input_tokens": len(json.dumps(body.decode("utf-8", "replace"))) // 4})


def _status(trouble: Trouble) -> int:
    if trouble.kind is AnswerFault.STATUS:
        return trouble.status
    return 0 if trouble.kind is AnswerFault.SILENT else 200


FAR = 4_102_444_800
"""2100-01-01, in Unix seconds: a time in the future."""

LONG_AGO = 1_577_836_800
"""2020-01-01, in Unix seconds: a time in the past."""


class Issuer:
    """One person's login. `renewals` counts how often it was renewed, `ended` says that a token was used twice."""

    def __init__(self) -> None:
        self.account = "account-1"
        self.renewals = 0
        self.ended = False

    @property
    def access(self) -> str:
        """The token that requests have to carry now."""
        return self._token(FAR)

    def login(self, *, over: bool = False, key: str | None = None) -> str:
        """Return the file that `codex login` writes; its access token may already be `over`.

        `key` is the API key that it gets for some accounts, and does not use.
        """
        claims = {"https://api.openai.com/auth": {"chatgpt_plan_type": "pro", "chatgpt_account_id": self.account}}
        tokens = {
            "id_token": _make_token({"email": "ada@example.invalid", "exp": FAR, **claims}),
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
        return _make_token({"exp": ends, "n": self.renewals})


def _make_token(claims: dict[str, Any]) -> str:
    """A JSON web token that nobody can verify."""
    return f"{_part({'alg': 'none', 'typ': 'JWT'})}.{_part(claims)}.{_part('unsigned')}"


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
