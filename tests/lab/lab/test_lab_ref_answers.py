"""The lab's answers about refs equal git's to the byte; requests that it cannot answer are left to git."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from served_git import Hub, basic, served

from lab.github.repositories import ref_answers
from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import environment
from lab.github.repositories.ref_answers import PROTOCOLS, RECEIVE, UPLOAD
from shared import process

CAPABILITIES = ("command=ls-refs\n", "agent=git/2.39.5-Linux\n", "object-format=sha1")
USUAL = ("peel\n", "symrefs\n", "unborn\n")


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with served(tmp_path) as hub:
        yield hub


def packets(*lines: str) -> bytes:
    return b"".join(b"%04x%b" % (len(line.encode()) + 4, line.encode()) for line in lines)


def listing(*arguments: str, capabilities: tuple[str, ...] = CAPABILITIES) -> bytes:
    """A request for refs."""
    return packets(*capabilities) + b"0001" + packets(*arguments) + b"0000"


async def by_git(bare: Bare, service: str, request: bytes | None = None) -> bytes:
    """Return the answer of git's own program, without headers, to `info/refs` or to a request."""
    path = "info/refs" if request is None else service
    variables = {
        "GIT_PROJECT_ROOT": str(bare.path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": PROTOCOLS[service],
        "PATH_INFO": f"/{bare.path.name}/{path}",
        "QUERY_STRING": f"service={service}" if request is None else "",
        "REQUEST_METHOD": "GET" if request is None else "POST",
        "CONTENT_TYPE": f"application/x-{service}-request",
        "REMOTE_USER": "ada",
        "REMOTE_ADDR": "127.0.0.1",
    }
    argv = ("git", "http-backend")
    done = await process.run(argv, cwd=bare.path, env=environment() | variables, stdin=request or b"")
    return done.stdout.partition(b"\r\n\r\n")[2]


async def by_lab(hub: Hub, service: str, request: bytes | None = None) -> bytes:
    """The same over HTTP."""
    headers = {"Authorization": basic("x:write-token")}
    headers |= {"Git-Protocol": PROTOCOLS[service]} if PROTOCOLS[service] else {}
    headers |= {} if request is None else {"Content-Type": f"application/x-{service}-request"}
    method, path = ("GET", f"info/refs?service={service}") if request is None else ("POST", service)
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"{hub.url}/{path}", data=request, headers=headers) as response,
    ):
        assert response.status == 200
        kind = "advertisement" if request is None else "result"
        assert response.content_type == f"application/x-{service}-{kind}"
        assert response.headers["Cache-Control"] == "no-cache, max-age=0, must-revalidate"
        return await response.read()


async def unchanged(hub: Hub) -> None:
    """One branch."""
    assert await hub.bare.refs("refs/") == {"refs/heads/main": await hub.bare.sha("main")}


async def many_refs(hub: Hub) -> None:
    """Loose and packed ones, hidden ones, and names that git sorts by their bytes."""
    main = await hub.bare.sha("main")
    other = await hub.branch("topic", {"b.txt": b"b\n"})
    for ref in ("heads/a.b", "heads/a/c", "heads/ü", "heads/Z", "ack/worker/1", "notes/workflow/issue-1"):
        await hub.bare.git.check("update-ref", f"refs/{ref}", str(main))
    await hub.bare.git.check("pack-refs", "--all")
    for ref in ("heads/Z", "ack/worker/2", "pull/1/head"):
        await hub.bare.git.check("update-ref", f"refs/{ref}", other)
    await hub.bare.git.check("update-ref", "-d", "refs/heads/a.b")


REQUESTS = [
    listing(*USUAL),
    listing(*USUAL, "ref-prefix refs/heads/\n", "ref-prefix HEAD\n"),
    listing("symrefs\n", "ref-prefix refs/ack/worker/1"),
    listing("peel\n", "ref-prefix refs/heads/no-such-branch\n"),
    listing("ref-prefix H\n", "ref-prefix refs/pull/\n", "ref-prefix refs/p\n"),
    listing(capabilities=("command=ls-refs",)),
    packets("command=ls-refs\n") + b"0000",
]


@pytest.mark.parametrize("request_", REQUESTS)
async def test_refs_are_listed_as_by_git(hub: Hub, request_: bytes) -> None:
    for prepare in (unchanged, many_refs):
        await prepare(hub)
        told = await by_git(hub.bare, UPLOAD, request_)
        assert (ref_answers.list_refs(hub.bare.path, request_), await by_lab(hub, UPLOAD, request_)) == (told, told)


@pytest.mark.parametrize("service", [UPLOAD, RECEIVE])
async def test_refs_are_advertised_as_by_git(hub: Hub, service: str) -> None:
    for prepare in (unchanged, many_refs):
        await prepare(hub)
        told = await by_git(hub.bare, service)
        assert [await by_lab(hub, service) for _ in range(2)] == [told, told]
    assert (b"refs/heads/Z" in told, b"refs/pull" in told) == (service == RECEIVE, False)


async def test_a_repository_without_refs_is_advertised_as_by_git(hub: Hub) -> None:
    await by_lab(hub, RECEIVE)
    await hub.bare.git.check("update-ref", "-d", "refs/heads/main")
    assert await by_lab(hub, RECEIVE) == await by_git(hub.bare, RECEIVE)
    request = listing(*USUAL)
    assert ref_answers.list_refs(hub.bare.path, request) is None
    told = await by_lab(hub, UPLOAD, request)
    assert (told, b"unborn HEAD" in told) == (await by_git(hub.bare, UPLOAD, request), True)


@pytest.mark.parametrize(
    "change",
    [
        ("tag", "-a", "-m", "One", "v1", "main"),
        ("symbolic-ref", "refs/heads/other", "refs/heads/main"),
        ("symbolic-ref", "HEAD", "refs/heads/other"),
    ],
)
async def test_what_is_unusual_is_left_to_git(hub: Hub, change: tuple[str, ...]) -> None:
    variables = {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    await hub.bare.git.check(*change, env=variables)
    assert ref_answers.list_refs(hub.bare.path, listing(*USUAL)) is None
    for service, request in ((UPLOAD, listing(*USUAL)), (RECEIVE, None)):
        assert await by_lab(hub, service, request) == await by_git(hub.bare, service, request)


@pytest.mark.parametrize(
    "request_",
    [
        b"",
        b"0000",
        b"0014command=ls-refs\n",
        b"zzzzcommand=ls-refs\n0000",
        b"0015command=ls-refs\n0000",
        packets("command=fetch") + b"0001" + packets("done\n") + b"0000",
        listing("ref-suffix x\n"),
        listing(capabilities=("command=ls-refs", "object-format=sha256")),
        listing(*USUAL) + b"0000",
    ],
)
async def test_another_request_is_left_to_git(hub: Hub, request_: bytes) -> None:
    assert ref_answers.list_refs(hub.bare.path, request_) is None
    assert (await hub.git(hub.clients, "ls-remote", hub.url)).code == 0


async def test_a_repository_that_was_set_up_otherwise_is_left_to_git(hub: Hub) -> None:
    await many_refs(hub)
    await hub.bare.git.check("config", "uploadpack.hideRefs", "refs/ack")
    told = await by_lab(hub, UPLOAD, listing(*USUAL))
    assert (told, b"refs/ack" in told) == (await by_git(hub.bare, UPLOAD, listing(*USUAL)), False)
