"""Readers that stay open: the same answers as from a process each time, few of them, and none is left over."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from git_remote import AT, ENGINE, ENVIRONMENT, commit_to, machine, remote_at

from shared import process
from shared.filesystem import directories
from shared.git import object_readers, objects
from shared.git.command import Git, Signature
from shared.git.failures import TooMuchOutput
from shared.git.mirror import Mirror
from shared.git.object_readers import ObjectReaders
from shared.process import OUTPUT_CAP, CommandFailed, Finished

BY = Signature(ENGINE, AT)
ABSENT = "a" * 40


class Counting(Git):
    """Notes the verb of each git that was started to answer one question."""

    started: list[str]

    async def run(self, *args: str, **options: object) -> Finished:
        self.started.append(args[0])
        return await super().run(*args, **options)  # type: ignore[arg-type]


@dataclass
class Bench:
    """One git directory, read by readers, and by a process each time."""

    readers: ObjectReaders
    git: Counting
    plain: Git

    def at(self, git_dir: Path) -> Counting:
        """Return the same git on another directory."""
        git = Counting(git_dir, ENVIRONMENT, readers=self.readers)
        git.started = []
        return git


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with object_readers.opened() as readers:
        plain = Git(tmp_path / "x.git", ENVIRONMENT)
        await plain.init()
        bench = Bench(readers, Counting(plain.git_dir, ENVIRONMENT, readers=readers), plain)
        bench.git.started = []
        yield bench
    assert none_is_open()


async def committed(git: Git, files: dict[str, bytes], message: str = "m\n") -> str:
    """Make a commit with these files on `main`."""
    rows = []
    for path, content in files.items():
        blob = (await git.run("hash-object", "-w", "--stdin", stdin=content)).text
        rows.append(f"100644 blob {blob}\t{path}\0".encode("utf-8", "surrogateescape"))
    tree = (await git.run("mktree", "-z", stdin=b"".join(rows))).text
    commit = await git.commit(tree, [], message, BY)
    await git.run("update-ref", "refs/heads/main", commit)
    return commit


async def until(holds: Callable[[], bool]) -> None:
    """Return as soon as it holds."""
    with anyio.fail_after(10):
        while not holds():  # noqa: ASYNC110  # the kernel tells nobody
            await anyio.sleep(0.01)


def told(pid: int, name: str) -> str:
    """Return a file of the kernel's information about a process; empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""


def none_is_open() -> bool:
    return not process.RUNNING


def only_reader() -> int:
    """Return the process of the one open reader."""
    (pid,) = process.RUNNING
    return pid


FILES = {
    "a.txt": b"text\n",
    "empty": b"",
    "binary": bytes(range(256)) * 300,
    "no newline": b"x missing",
    "two\nlines": b"odd name\n",
    "surrogate\udcff": b"not UTF-8\n",
}


async def test_the_answers_are_those_of_a_process_each_time(bench: Bench) -> None:
    commit = await committed(bench.plain, FILES)
    tree = await objects.tree_of(bench.plain, commit)
    asked = [f"{commit}:{path}" for path in (*FILES, "absent", "no\nsuch\nfile", "a.txt/below", "./a.txt", "")]
    asked += [tree, commit, ABSENT, f"{ABSENT}:a.txt", f"{commit}:a.txt", f"{commit}:" + "long/" * 600]
    assert await objects.read(bench.git, asked) == await objects.read(bench.plain, asked)
    oids = [commit, tree, ABSENT]
    assert await objects.sizes(bench.git, oids) == await objects.sizes(bench.plain, oids)
    for revision in ("refs/heads/main", "refs/heads/none", commit, tree, ABSENT):
        for kind in ("commit", "tree"):
            found = await objects.peeled(bench.git, revision, kind)
            assert found == await objects.peeled(bench.plain, revision, kind)
    assert bench.git.started == []


@pytest.mark.parametrize(
    "text",
    ["Subject\n\nBody.\n", "", "\n\nSubject\n\n\n", "no newline", "Ünal\n", "a\n\nencoding x\n"],
)
async def test_a_message_is_what_log_tells(bench: Bench, text: str) -> None:
    commit = await committed(bench.plain, {"a": b"a"}, text)
    shown = (await bench.plain.run("log", "-1", "--format=%B", commit, "--")).text
    assert await objects.message(bench.git, commit) == shown
    assert await objects.message(bench.plain, commit) == shown


async def test_a_message_in_another_encoding_is_left_to_log(bench: Bench) -> None:
    commit = await committed(bench.plain, {"a": b"a"})
    raw = (await bench.plain.run("cat-file", "commit", commit)).stdout
    odd = raw.replace(b"\n\nm\n", b"\nencoding ISO-8859-1\n\n\xfcber\0rest\n")
    foreign = (await bench.plain.run("hash-object", "-w", "-t", "commit", "--stdin", "--literally", stdin=odd)).text
    shown = (await bench.plain.run("log", "-1", "--format=%B", foreign, "--")).text
    assert await objects.message(bench.git, foreign) == shown
    assert shown.startswith("über")


async def test_what_is_not_here_is_a_failed_command(bench: Bench) -> None:
    for git in (bench.git, bench.plain):
        with pytest.raises(CommandFailed):
            await objects.message(git, ABSENT)
        with pytest.raises(CommandFailed):
            await objects.tree_of(git, ABSENT)


async def test_hundreds_of_questions_at_once(bench: Bench) -> None:
    commit = await committed(bench.plain, {"a": b"a" * 10_000})
    asked = [f"{commit}:{'x' * 300}{n}" if n % 3 else f"{commit}:a" for n in range(1200)]
    assert await objects.read(bench.git, asked) == await objects.read(bench.plain, asked)
    assert bench.git.started == []


async def test_a_ref_is_looked_up_each_time(bench: Bench) -> None:
    first = await committed(bench.plain, {"a": b"1"})
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == first
    second = await committed(bench.plain, {"a": b"2"})
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == second
    await bench.plain.run("pack-refs", "--all")
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == second
    await bench.plain.run("update-ref", "-d", "refs/heads/main")
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") is None
    assert len(process.RUNNING) == 1


async def test_more_than_the_cap_is_refused_unread_and_the_next_answer_is_right(bench: Bench) -> None:
    commit = await committed(bench.plain, {"big": bytes(OUTPUT_CAP + 1), "small": b"small\n"})
    pid = None
    for _ in range(2):
        with pytest.raises(TooMuchOutput):
            await objects.read(bench.git, [f"{commit}:big"])
        pid = pid or only_reader()
        assert await objects.read(bench.git, [f"{commit}:small"]) == (b"small\n",)
    assert only_reader() == pid
    written = told(pid, "io").partition("wchar: ")[2].partition("\n")[0]
    assert int(written) < OUTPUT_CAP // 16


async def test_packing_under_an_open_reader(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    async with object_readers.opened() as readers:
        plain = await machine(tmp_path, str(remote.path))
        git = Counting(plain.git.git_dir, ENVIRONMENT, readers=readers)
        git.started = []
        mirror, asked = Mirror(git, plain.url), []
        for n in range(4):
            tip = await commit_to(remote, "main", {"README.md": f"{n}\n"})
            await plain.fetch()
            asked.append(tip)
            assert await mirror.tip("main") == tip
            assert await mirror.show(tip, "README.md") == f"{n}\n".encode()
            await plain.git.run("repack", "-adq")
            await plain.git.run("prune", "--expire=now")
        pid = only_reader()
        for n, tip in enumerate(asked):
            assert await mirror.message(tip) == "Change"
            assert await mirror.show(tip, "src/app.py") == b"VALUE = 1\n"
            assert await mirror.show(tip, "README.md") == f"{n}\n".encode()
        assert git.started == []
        assert only_reader() == pid


async def test_a_directory_that_was_made_anew_is_not_answered_for_by_the_old_one(bench: Bench) -> None:
    old = await committed(bench.plain, {"a": b"1"})
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == old
    directories.remove(bench.git.git_dir)
    with pytest.raises(CommandFailed):
        await objects.peeled(bench.git, "refs/heads/main", "commit")
    await bench.plain.init()
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") is None
    assert await objects.sizes(bench.git, [old]) == {}


async def test_a_reader_that_was_killed_is_started_again(bench: Bench) -> None:
    commit = await committed(bench.plain, {"a": b"1"})
    for n in range(3):
        assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit
        os.kill(only_reader(), signal.SIGKILL)
        assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit
        assert len(bench.git.started) == n + 1


async def test_a_broken_object_is_told_as_git_tells_it(bench: Bench) -> None:
    commit = await committed(bench.plain, {"a": b"1" * 5000})
    (blob,) = (await bench.plain.run("rev-parse", f"{commit}:a")).text.splitlines()
    place = bench.git.git_dir / "objects" / blob[:2] / blob[2:]
    place.chmod(0o600)
    place.write_bytes(place.read_bytes()[:-4] + b"####")
    for git in (bench.git, bench.plain):
        with pytest.raises(CommandFailed):
            await objects.read(git, [blob])
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit


async def test_who_stops_waiting_leaves_nobody_else_the_rest(bench: Bench) -> None:
    big = {f"{n}": bytes([n]) * 2**20 for n in range(8)}
    commit = await committed(bench.plain, {**big, "small": b"small\n"})

    async def asks_for_all() -> None:
        await objects.read(bench.git, [f"{commit}:{name}" for name in big])

    for turns in range(1, 40):
        async with anyio.create_task_group() as group:
            group.start_soon(asks_for_all)
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert await objects.read(bench.git, [f"{commit}:small"]) == (b"small\n",)


async def test_many_may_ask_at_once(bench: Bench) -> None:
    commit = await committed(bench.plain, {f"{n}": f"{n}\n".encode() * n for n in range(50)})
    answers: dict[int, bytes | None] = {}

    async def ask(n: int) -> None:
        (answers[n],) = await objects.read(bench.git, [f"{commit}:{n}"])

    async with anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(ask, n)
    assert answers == {n: f"{n}\n".encode() * n for n in range(50)}
    assert len(process.RUNNING) == 1
    assert bench.git.started == []


async def test_few_are_open_at_once_and_all_are_answered(bench: Bench, tmp_path: Path) -> None:
    places = [bench.at(tmp_path / f"{n}.git") for n in range(7)]
    commits = []
    for git in places:
        await Git(git.git_dir, ENVIRONMENT).init()
        commits.append(await committed(Git(git.git_dir, ENVIRONMENT), {"a": git.git_dir.name.encode()}))

    async def ask(git: Git, commit: str) -> None:
        for _ in range(5):
            assert await objects.peeled(git, "refs/heads/main", "commit") == commit

    async with anyio.create_task_group() as group:
        for git, commit in zip(places, commits, strict=True):
            group.start_soon(ask, git, commit)
    for git, commit in zip(places, commits, strict=True):
        await ask(git, commit)
    await until(lambda: len(process.RUNNING) <= object_readers.MOST)


async def test_one_that_nobody_asks_ends_by_itself(tmp_path: Path) -> None:
    readers = ObjectReaders(idle_seconds=0.05)
    git = Git(tmp_path / "x.git", ENVIRONMENT, readers=readers)
    await git.init()
    commit = await committed(git, {"a": b"1"})
    for _ in range(2):
        assert await objects.peeled(git, "refs/heads/main", "commit") == commit
        pid = only_reader()
        await until(none_is_open)
        assert not told(pid, "cmdline")
    await readers.close()


async def test_leaving_a_directory_ends_its_reader_and_closing_is_for_good(bench: Bench) -> None:
    commit = await committed(bench.plain, {"a": b"1"})
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit
    await bench.git.leave()
    assert none_is_open()
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit
    await bench.readers.close()
    assert none_is_open()
    assert await objects.peeled(bench.git, "refs/heads/main", "commit") == commit
    assert bench.git.started == ["cat-file"]
    assert none_is_open()


_AGENT = """
import asyncio, sys
from pathlib import Path
from shared import process
from shared.git import objects
from shared.git.command import Git
from shared.git.object_readers import ObjectReaders

async def main():
    git = Git(Path(sys.argv[1]), {"PATH": sys.argv[2]}, readers=ObjectReaders())
    await objects.peeled(git, "refs/heads/main", "commit")
    print(*process.RUNNING, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_none_outlives_an_agent_that_is_killed(bench: Bench, tmp_path: Path) -> None:
    await committed(bench.plain, {"a": b"1"})
    argv = (sys.executable, "-c", _AGENT, str(bench.git.git_dir), ENVIRONMENT["PATH"])
    root = Path(object_readers.__file__).parents[2]
    async with process.piped(argv, cwd=root, env=ENVIRONMENT, log=tmp_path / "log") as agent:
        assert agent.stdout is not None
        reader = int(await agent.stdout.receive())
        assert "cat-file" in told(reader, "cmdline")
        os.kill(agent.pid, signal.SIGKILL)
        await until(lambda: not told(reader, "cmdline"))
