"""Refs that a look reads together: one fetch, the answers of that moment, and nobody else's reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
from git_remote import ENVIRONMENT, commit_to, fences_of, machine, remote_at

from lab.github.repositories.bare import Bare
from shared.git import one_look
from shared.git.command import NETWORK_SECONDS, Git
from shared.git.mirror import Mirror

MAIN, FENCE, TURN = "refs/heads/main", "refs/ack/worker/4", "refs/ack/merges"


class Counting(Git):
    """Notes what was asked of the server."""

    fetched: list[tuple[str, ...]]

    async def fetch(
        self,
        source: str | Path,
        *refspecs: str,
        options: Sequence[str] = (),
        deadline_seconds: float = NETWORK_SECONDS,
    ) -> None:
        self.fetched.append(refspecs)
        await super().fetch(source, *refspecs, options=options, deadline_seconds=deadline_seconds)


async def _counted(tmp_path: Path, remote: Bare) -> tuple[Mirror, list[tuple[str, ...]]]:
    await machine(tmp_path, str(remote.path))
    git = Counting(tmp_path / "mirror.git", ENVIRONMENT)
    git.fetched = []
    return Mirror(git, str(remote.path)), git.fetched


async def test_one_fetch_answers_for_all_that_a_look_asks(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror, fetched = await _counted(tmp_path, remote)
    main = await remote.sha("main")
    await remote.update_ref(FENCE, main)
    await remote.update_ref(f"{FENCE}2", main)
    with one_look.look():
        await mirror.read_together(MAIN, FENCE, TURN)
        assert [await mirror.refresh(ref) for ref in (MAIN, FENCE, TURN)] == [main, main, None]
        newer = await commit_to(remote, "main", {"README.md": "newer\n"})
        await mirror.read_together(MAIN, TURN)
        assert await mirror.refresh(MAIN) == main, "a look sees one moment"
        assert len(fetched) == 1
    assert await mirror.refresh(MAIN) == newer
    assert len(fetched) == 2


async def test_without_a_look_nothing_is_read_ahead(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror, fetched = await _counted(tmp_path, remote)
    await mirror.read_together(MAIN, TURN)
    assert not fetched
    newer = await commit_to(remote, "main", {"README.md": "newer\n"})
    assert await mirror.refresh(MAIN) == newer


async def test_a_look_that_is_renewed_asks_again(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror, _ = await _counted(tmp_path, remote)
    with one_look.look():
        await mirror.read_together(MAIN)
        newer = await commit_to(remote, "main", {"README.md": "newer\n"})
        one_look.renew()
        assert await mirror.refresh(MAIN) == newer


async def test_a_ref_that_is_gone_takes_no_other_one_with_it(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror, _ = await _counted(tmp_path, remote)
    await remote.update_ref(FENCE, await remote.sha("main"))
    assert await mirror.refresh(FENCE)
    await remote.update_ref(FENCE, None)
    newer = await commit_to(remote, "main", {"README.md": "newer\n"})
    with one_look.look():
        await mirror.read_together(MAIN, FENCE)
        assert [await mirror.refresh(ref) for ref in (MAIN, FENCE)] == [newer, None]
    assert await mirror.sha(FENCE) is None


async def test_what_others_ask_meanwhile_goes_to_the_server(tmp_path: Path) -> None:
    """A heartbeat reads its fence while the item's own task looks."""
    remote = await remote_at(tmp_path / "remote")
    mirror, _ = await _counted(tmp_path, remote)
    heard: list[str | None] = []
    moved, listened = anyio.Event(), anyio.Event()

    async def listen() -> None:
        await moved.wait()
        heard.append(await mirror.refresh(MAIN))
        listened.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        with one_look.look():
            await mirror.read_together(MAIN)
            newer = await commit_to(remote, "main", {"README.md": "newer\n"})
            moved.set()
            await listened.wait()
            assert await mirror.refresh(MAIN) != newer
    assert heard == [newer]


async def test_no_push_rests_on_what_a_look_has_kept(tmp_path: Path) -> None:
    """An agent whose push is refused learns the reason from the server, and sees its own move at once."""
    remote = await remote_at(tmp_path / "remote")
    mirror, _ = await _counted(tmp_path, remote)
    fences, rival = fences_of(mirror), fences_of(await machine(tmp_path / "rival", str(remote.path)))
    with one_look.look():
        await mirror.read_together(TURN, FENCE)
        assert await fences.read(TURN) is None
        theirs = await rival.advance(TURN, "Nonce: theirs", None, [], [])
        assert await fences.advance(TURN, "Nonce: ours", None, [], []) is None
        assert await fences.read(TURN) == (theirs, "Nonce: theirs")
        ours = await fences.advance(FENCE, "Nonce: ours", None, [], [])
        assert await fences.read(FENCE) == (ours, "Nonce: ours")
