"""Git over HTTP: the token stays in its file, and every way a server can fail has its own error."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import anyio
import psutil
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from git_remote import ENVIRONMENT, TOKEN, fences_of, machine, remote_at, served

from shared.errors import Gone, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.filesystem import directories
from shared.git.command import Git
from shared.git.credentials import Credentials
from shared.git.mirror import Mirror
from shared.lock.port import RefUpdate

FENCE = "refs/ack/worker/42"


class Tokens:
    """A token source that can rotate."""

    def __init__(self, token: str = TOKEN) -> None:
        self.token = token

    async def __call__(self) -> str:
        return self.token


async def _mirror(directory: Path, server: str, tokens: Tokens, name: str = "acme/app") -> Mirror:
    return await machine(directory, f"{server}/{name}.git", Credentials(directory / "ask", server, tokens))


async def test_fences_work_over_http_with_a_token_that_rotates(tmp_path: Path) -> None:
    remote, tokens = await remote_at(tmp_path / "remote"), Tokens()
    async with served(remote) as server:
        mirror = await _mirror(tmp_path / "a", server, tokens)
        fences = fences_of(mirror)
        assert await fences.read(FENCE) is None
        first = await fences.advance(FENCE, "Nonce: 1", None, [], [])
        assert first is not None
        assert await fences.read(FENCE) == (first, "Nonce: 1")
        assert await fences.advance(FENCE, "Nonce: 2", None, [], []) is None
        tokens.token = "expired"
        with pytest.raises(NotAllowed):
            await fences.read(FENCE)
        tokens.token = TOKEN
        assert await fences.read(FENCE) == (first, "Nonce: 1")


def _known_of(child: psutil.Process) -> bytes:
    return b"\0".join(Path(f"/proc/{child.pid}/{what}").read_bytes() for what in ("cmdline", "environ"))


async def _seen_of_children(mirror: Mirror) -> bytes:
    """Return command lines and environments of all that a fetch starts, as seen when git signs in at the server."""
    seen: list[bytes] = []

    async def look(request: web.Request) -> web.Response:
        if "Authorization" in request.headers:
            seen.extend(_known_of(child) for child in psutil.Process().children(recursive=True))
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})

    async with _server(look) as other:
        directory = mirror.git.git_dir.parent / "look"
        with pytest.raises(Unauthorized):
            await _mirror(directory, other, Tokens())
        directories.remove(directory)
    return b"\n".join(seen)


async def test_the_token_is_only_in_one_private_file(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with served(remote) as server:
        mirror = await _mirror(tmp_path / "a", server, Tokens())
        await mirror.fetch()
        seen = await _seen_of_children(mirror)
    assert b"GIT_ASKPASS" in seen, "the control: the environment of git was looked at while it signed in"
    assert TOKEN.encode() not in seen
    holding = [path for path in (tmp_path / "a").rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert [str(path.relative_to(tmp_path)) for path in holding] == ["a/ask/token"]
    modes = [(tmp_path / "a" / name).stat().st_mode & 0o777 for name in ("ask", "ask/token", "ask/askpass")]
    assert modes == [0o700, 0o600, 0o700]
    credentials = Credentials(tmp_path / "a" / "ask", server, Tokens())
    credentials.remove()
    assert not (tmp_path / "a" / "ask").exists()


@pytest.mark.parametrize(
    "server", ["github.com", "https://github.com/x", 'https://x";date;"', "ftp://x", "https://a@b"]
)
def test_a_server_that_is_no_address_is_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(ValueError, match="is not a scheme and a host"):
        Credentials(tmp_path, server, Tokens())


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def _server(answer: Answer) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_a_redirect_to_another_server_does_not_get_the_token(tmp_path: Path) -> None:
    heard: list[str] = []

    async def thief(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization", ""))
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})

    async with _server(thief) as elsewhere:

        async def redirect(request: web.Request) -> web.Response:
            raise web.HTTPMovedPermanently(elsewhere + request.path_qs)

        async with _server(redirect) as server:
            with pytest.raises(Unauthorized):
                await _mirror(tmp_path, server, Tokens())
    assert heard
    assert set(heard) == {""}


async def test_the_server_asked_for_does_get_it(tmp_path: Path) -> None:
    """This is the positive control of the test above: the other server would have been noticed."""
    heard: list[str] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization", ""))
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})

    async with _server(listen) as server:
        with pytest.raises(Unauthorized):
            await _mirror(tmp_path, server, Tokens())
    assert "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode() in heard


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, Unauthorized), (403, NotAllowed), (404, Gone), (429, Transient), (500, Transient), (503, Transient)],
)
async def test_what_the_server_answers_decides_the_error(tmp_path: Path, status: int, error: type[Exception]) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status)

    git = Git(tmp_path / "x.git", ENVIRONMENT)
    await git.init()
    async with _server(answer) as server:
        with pytest.raises(error) as fetched:
            await git.fetch(f"{server}/acme/app.git", "+refs/heads/main:refs/heads/main")
        with pytest.raises(error) as pushed:
            await git.push(f"{server}/acme/app.git", [RefUpdate(FENCE, "1" * 40, "")])
    assert (fetched.type, pushed.type) == (error, error)


async def test_a_server_that_cannot_be_reached_is_transient(tmp_path: Path) -> None:
    git = Git(tmp_path / "x.git", ENVIRONMENT)
    await git.init()
    with pytest.raises(Transient, match=r"[Cc]onnect") as pushed:
        await git.push("http://127.0.0.1:9/acme/app.git", [RefUpdate(FENCE, "1" * 40, "")])
    assert pushed.type is Transient


async def test_read_only_tokens_may_fetch_and_not_push(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with served(remote, read_only=True) as server:
        fences = fences_of(await _mirror(tmp_path / "a", server, Tokens()))
        with pytest.raises(NotAllowed):
            await fences.advance(FENCE, "Nonce: 1", None, [], [])
    assert await remote.refs("refs/ack/") == {}


async def test_an_unknown_repository_is_gone(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with served(remote) as server:
        with pytest.raises(Gone):
            await _mirror(tmp_path / "a", server, Tokens(), "acme/other")


@pytest.mark.parametrize("cut", ["before the server hears it", "after the server has done it"])
async def test_a_push_whose_reply_is_lost_is_an_unknown_outcome(tmp_path: Path, cut: str) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with served(remote) as behind, _cutting(behind, cut) as server:
        mirror = await machine(
            tmp_path / "a", f"{server}/acme/app.git", Credentials(tmp_path / "ask", server, Tokens())
        )
        with pytest.raises(UnknownOutcome):
            await fences_of(mirror).advance(FENCE, "Nonce: 1", None, [], [])
        found = await fences_of(mirror).read(FENCE)
    assert (found is not None) == (cut == "after the server has done it")


@asynccontextmanager
async def _cutting(behind: str, cut: str) -> AsyncIterator[str]:
    """Relay to the server, but lose the answer to a push; yield the address."""
    async with aiohttp.ClientSession(auto_decompress=False) as session:

        async def relay(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            push = request.method == "POST" and request.path.endswith("git-receive-pack") and len(body) > 4
            if push and cut.startswith("before"):
                return _hang_up(request)
            headers = {name: value for name, value in request.headers.items() if name in _PASSED_ON}
            url = behind + request.path_qs
            async with session.request(request.method, url, headers=headers, data=body) as answer:
                kept = {name: value for name, value in answer.headers.items() if name in _PASSED_ON}
                copy = web.Response(status=answer.status, body=await answer.read(), headers=kept)
            return _hang_up(request) if push and copy.status == 200 else copy

        async with _server(relay) as server:
            yield server


_PASSED_ON = {"Content-Type", "Authorization", "WWW-Authenticate", "Git-Protocol"}


def _hang_up(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    async def hang(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-git-upload-pack-advertisement"})
        await response.prepare(request)
        await request.content.read()
        await anyio.Event().wait()
        return response

    git = Git(tmp_path / "x.git", ENVIRONMENT)
    await git.init()
    async with _server(hang) as server:
        with pytest.raises(Transient, match="did not end"):
            await git.fetch(f"{server}/acme/app.git", "+refs/heads/main:refs/heads/main", deadline_seconds=0.2)
        with pytest.raises(UnknownOutcome, match="did not end"):
            await git.push(f"{server}/acme/app.git", [RefUpdate(FENCE, "1" * 40, "")], deadline_seconds=0.2)
