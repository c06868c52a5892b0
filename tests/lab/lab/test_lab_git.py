"""Git over HTTP against the lab, with the real git on both sides."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from served_git import NAME, Hub, basic, served

from lab.github.repositories.bare import ABSENT


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with served(tmp_path) as hub:
        yield hub


async def test_a_push_is_seen_by_the_next_clone_and_fetch(hub: Hub) -> None:
    first, second = await hub.clone("first"), await hub.clone("second")
    old = await hub.bare.sha("main")
    new = await hub.commit(first, "b.txt", b"new\n", "Add b")
    assert (await hub.git(first, "push", "origin", "main")).code == 0
    assert (await hub.git(second, "pull", "--quiet", "--ff-only")).code == 0
    assert (second / "b.txt").read_bytes() == b"new\n"
    assert hub.told == [("refs/heads/main", old, new, "ada")]


async def test_a_push_ends_only_after_its_change_has_been_told(hub: Hub) -> None:
    order: list[str] = []

    async def slowly(ref: str, old: str | None, new: str | None) -> None:
        await asyncio.sleep(0.3)
        order.append("told")

    hub.bare.on_update = slowly
    await hub.branch("topic", {"b.txt": b"b\n"})
    order.append("pushed")
    assert order == ["told", "pushed"]


async def test_a_large_push_arrives_in_chunks(hub: Hub) -> None:
    tree = await hub.clone("large")
    content = random.Random(1).randbytes(3 * 2**20)
    await hub.commit(tree, "large.bin", content, "Add a large file")
    assert (await hub.git(tree, "-c", "http.postBuffer=65536", "push", "origin", "main")).code == 0
    assert await hub.bare.read("main", "large.bin") == content
    assert any(request.headers.get("Transfer-Encoding") == "chunked" for request in hub.requests)
    assert (await hub.clone("again") / "large.bin").read_bytes() == content


async def test_a_stale_lease_refuses_the_whole_atomic_push(hub: Hub) -> None:
    tree = await hub.clone("holder")
    fence = await hub.commit(tree, "b.txt", b"b\n", "Fence")
    assert (await hub.git(tree, "push", "origin", f"{fence}:refs/ack/worker/1")).code == 0
    hub.told.clear()
    new = await hub.commit(tree, "c.txt", b"c\n", "Work")
    push = ("push", "--atomic", f"--force-with-lease=refs/ack/worker/1:{new}", "origin")
    finished = await hub.git(tree, *push, f"{new}:refs/ack/worker/1", f"{new}:refs/heads/topic")
    assert finished.code != 0
    assert b"stale info" in finished.stderr
    assert await hub.bare.refs("refs/heads/topic") == {}
    assert await hub.bare.sha("refs/ack/worker/1") == fence
    assert hub.told == []


async def test_the_server_refuses_what_changed_since_it_was_advertised(hub: Hub) -> None:
    """The hook runs between advertisement and push: the window in which only the server can notice."""
    tree = await hub.clone("zombie")
    old = await hub.commit(tree, "b.txt", b"old\n", "Old fence")
    rival = await hub.commit(tree, "b.txt", b"rival\n", "Rival's fence")
    mine = await hub.commit(tree, "b.txt", b"mine\n", "My fence")
    await hub.git(tree, "push", "origin", f"{old}:refs/ack/worker/1", f"{rival}:refs/tags/objects")
    hook = tree / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ngit --git-dir={hub.bare.path} update-ref refs/ack/worker/1 {rival}\n")
    hook.chmod(0o755)
    push = ("push", "--atomic", f"--force-with-lease=refs/ack/worker/1:{old}", "origin")
    finished = await hub.git(tree, *push, f"{mine}:refs/ack/worker/1", f"{mine}:refs/heads/topic")
    assert finished.code != 0
    assert b"atomic" in finished.stderr
    assert await hub.bare.refs("refs/heads/topic") == {}
    assert await hub.bare.sha("refs/ack/worker/1") == rival


async def test_one_of_many_rivals_creates_a_ref(hub: Hub) -> None:
    tree = await hub.clone("rivals")
    fences = [await hub.commit(tree, "b.txt", f"{n}\n".encode(), f"Fence {n}") for n in range(6)]
    push = ("push", "--force-with-lease=refs/ack/worker/1:", "origin")
    endings = await asyncio.gather(*(hub.git(tree, *push, f"{fence}:refs/ack/worker/1") for fence in fences))
    assert sorted(ending.code for ending in endings) == [0, 1, 1, 1, 1, 1]
    assert len(hub.told) == 1


async def test_refs_outside_heads_and_tags_are_pushed_and_fetched_by_name(hub: Hub) -> None:
    tree = await hub.clone("one")
    sha = await hub.commit(tree, "b.txt", b"b\n", "Note")
    refs = ("refs/ack/worker/1", "refs/notes/workflow/issue-1")
    assert (await hub.git(tree, "push", "--atomic", "origin", *(f"{sha}:{ref}" for ref in refs))).code == 0
    other = await hub.clone("other")
    assert (await hub.git(other, "cat-file", "-e", sha)).code != 0
    fetched = await hub.git(other, "fetch", "--quiet", "--no-tags", "origin", *(f"+{ref}:{ref}" for ref in refs))
    assert fetched.code == 0
    assert (await hub.git(other, "rev-parse", refs[0], refs[1])).text == f"{sha}\n{sha}"


async def test_refs_of_pull_requests_are_not_for_pushing(hub: Hub) -> None:
    tree = await hub.clone("one")
    finished = await hub.git(tree, "push", "origin", "HEAD:refs/pull/1/head")
    assert finished.code != 0
    assert b"deny updating a hidden ref" in finished.stderr


@pytest.mark.parametrize(
    ("authorization", "path", "status"),
    [
        (None, "info/refs?service=git-upload-pack", 401),
        ("no colon", "info/refs?service=git-upload-pack", 401),
        ("x-access-token:", "info/refs?service=git-upload-pack", 401),
        ("x-access-token:unknown", "info/refs?service=git-upload-pack", 403),
        ("x-access-token:read-token", "info/refs?service=git-upload-pack", 200),
        ("anything:read-token", "info/refs?service=git-upload-pack", 200),
        ("x-access-token:read-token", "info/refs?service=git-receive-pack", 403),
        ("x-access-token:write-token", "info/refs?service=git-receive-pack", 200),
        ("x-access-token:write-token", "info/refs", 403),
        ("x-access-token:write-token", "HEAD", 403),
        ("x-access-token:write-token", "../missing.git/info/refs?service=git-upload-pack", 404),
    ],
)
async def test_admission(hub: Hub, authorization: str | None, path: str, status: int) -> None:
    headers = {"Authorization": basic(authorization)} if authorization else {}
    async with aiohttp.ClientSession() as session, session.get(f"{hub.url}/{path}", headers=headers) as response:
        assert response.status == status
        assert ("WWW-Authenticate" in response.headers) == (status == 401)


async def test_a_reader_cannot_push(hub: Hub) -> None:
    tree = await hub.clone("reader")
    await hub.commit(tree, "b.txt", b"b\n", "Add b")
    finished = await hub.git(tree, "push", "origin", "main", token="read-token")
    assert finished.code != 0
    assert b"403" in finished.stderr
    assert hub.told == []


@pytest.mark.parametrize("compress", [None, "gzip"])
async def test_protocol_2_answers_plain_and_compressed_requests(hub: Hub, compress: str | None) -> None:
    body = b"0014command=ls-refs\n0001001bref-prefix refs/heads/\n0000"
    headers = {
        "Authorization": basic("x:read-token"),
        "Git-Protocol": "version=2",
        "Content-Type": "application/x-git-upload-pack-request",
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{hub.url}/git-upload-pack", data=body, headers=headers, compress=compress) as response,
    ):
        assert response.status == 200
        assert response.content_type == "application/x-git-upload-pack-result"
        assert f"{await hub.bare.sha('main')} refs/heads/main".encode() in await response.read()


async def test_a_body_that_cannot_be_inflated_leaves_the_server_working(hub: Hub) -> None:
    headers = {"Authorization": basic("x:write-token"), "Content-Encoding": "gzip"}
    async with aiohttp.ClientSession() as session:
        with suppress(aiohttp.ClientError):
            async with session.post(f"{hub.url}/git-receive-pack", data=b"not gzip", headers=headers) as response:
                assert response.status >= 400
    await hub.branch("topic", {"b.txt": b"b\n"})
    assert [ref for ref, *_ in hub.told] == ["refs/heads/topic"]


async def test_a_push_that_has_arrived_is_carried_out_though_its_client_leaves(hub: Hub) -> None:
    hook = hub.bare.path / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\n: > arrived\nwhile ! test -e left; do sleep 0.02; done\n")
    hook.chmod(0o755)
    told = asyncio.Event()

    async def note(ref: str, old: str | None, new: str | None) -> None:
        await hub.note(ref, old, new)
        told.set()

    hub.bare.on_update = note
    main = await hub.bare.sha("main")
    command = f"{ABSENT} {main} refs/heads/new\0report-status".encode()
    pack = (await hub.bare.git.check("pack-objects", "--stdout")).stdout
    writer = await post_push(hub, b"%04x%b0000%b" % (len(command) + 4, command, pack))
    async with asyncio.timeout(10):
        while not (hub.bare.path / "arrived").exists():  # noqa: ASYNC110 - the other side is a shell
            await asyncio.sleep(0.01)
        writer.transport.abort()
        (hub.bare.path / "left").touch()
        await told.wait()
    assert hub.told == [("refs/heads/new", None, main, "ada")]


async def test_a_push_that_breaks_off_changes_nothing_and_blocks_nobody(hub: Hub) -> None:
    before = await hub.bare.refs("refs/")
    writer = await post_push(hub, b"00", promised=5000)
    await hub.asked.wait()
    writer.close()
    await hub.branch("topic", {"b.txt": b"b\n"})
    assert {ref for ref, *_ in hub.told} == {"refs/heads/topic"}
    assert (await hub.bare.refs("refs/")).items() >= before.items()


async def post_push(hub: Hub, body: bytes, *, promised: int = 0) -> asyncio.StreamWriter:
    """Send a push as bytes, without waiting for its answer; `promised` is a Content-Length that is not kept."""
    _, writer = await asyncio.open_connection("127.0.0.1", int(hub.url.split(":")[2].split("/")[0]))
    head = (
        f"POST /{NAME}.git/git-receive-pack HTTP/1.1\r\nHost: lab\r\nAuthorization: {basic('x:write-token')}\r\n"
        f"Content-Type: application/x-git-receive-pack-request\r\nContent-Length: {promised or len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    return writer
