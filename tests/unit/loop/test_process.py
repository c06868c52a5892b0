"""Child processes: what they are given, what is kept of what they say, and that nothing of them survives."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import psutil
import pytest

from shared.process import (
    CommandFailed,
    Patience,
    check,
    end,
    piped,
    run,
    run_attached,
    started,
    streamed,
)

PATH = {"PATH": "/usr/bin:/bin"}

FAMILY = """
import os, signal, sys, time
if {stubborn}:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    if os.fork() == 0:
        os.close(0)
open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
time.sleep(60)
"""
"""A process with a child and a grandchild, each of which notes its id."""


async def test_both_streams_and_the_code_are_kept_apart(tmp_path: Path) -> None:
    done = await run(("sh", "-c", "echo out; echo err >&2; exit 3"), cwd=tmp_path, env=PATH)
    assert (done.code, done.stdout, done.stderr, done.truncated) == (3, b"out\n", b"err\n", False)
    assert done.argv[0] == "sh"


@pytest.mark.parametrize(
    ("raw", "text"), [(r"a\n\n", "a"), (r"a\nb", "a\nb"), (r"\377\376x", "\ufffd\ufffdx"), ("", "")]
)
async def test_the_text_is_decoded_whatever_it_holds(tmp_path: Path, raw: str, text: str) -> None:
    assert (await run(("printf", raw), cwd=tmp_path, env=PATH)).text == text


async def test_the_environment_is_exactly_what_was_given(tmp_path: Path) -> None:
    done = await run(("/usr/bin/env",), cwd=tmp_path, env={"ONLY": "this one"})
    assert done.stdout == b"ONLY=this one\n"


async def test_it_runs_where_it_was_told(tmp_path: Path) -> None:
    real = str(await anyio.Path(tmp_path).resolve())
    assert (await run(("pwd", "-P"), cwd=tmp_path, env=PATH)).text == real


async def test_words_reach_the_command_as_they_are(tmp_path: Path) -> None:
    words = ("$(id)", "-rf", "a b", "", "*", "\n")
    done = await run((sys.executable, "-Sc", "import sys; print(sys.argv[1:])", *words), cwd=tmp_path, env=PATH)
    assert done.text == str(list(words))


async def test_output_above_the_cap_is_read_and_dropped(tmp_path: Path) -> None:
    many = "head -c 3000000 /dev/zero; head -c 10 /dev/zero >&2; echo end >&2"
    done = await run(("sh", "-c", many), cwd=tmp_path, env=PATH, cap=1000)
    assert (done.code, len(done.stdout), done.truncated) == (0, 1000, True)
    assert done.stderr == b"\0" * 10 + b"end\n"
    exact = await run(("head", "-c", "1000", "/dev/zero"), cwd=tmp_path, env=PATH, cap=1000)
    assert (len(exact.stdout), exact.truncated) == (1000, False)


async def test_input_reaches_the_child_while_its_output_is_read(tmp_path: Path) -> None:
    data = bytes(range(256)) * 8192
    assert (await run(("cat",), cwd=tmp_path, env=PATH, stdin=data)).stdout == data


@pytest.mark.parametrize("command", ["exec <&-; exit 4", "exit 4", "head -c 1 >/dev/null; exit 4"])
async def test_a_child_that_does_not_read_its_input_is_no_fault(tmp_path: Path, command: str) -> None:
    done = await run(("sh", "-c", command), cwd=tmp_path, env=PATH, stdin=b"x" * 2**20)
    assert done.code == 4


async def test_an_unexpected_code_is_raised_with_what_was_said(tmp_path: Path) -> None:
    argv = ("sh", "-c", "echo out; echo '  no such thing  ' >&2; exit 7")
    with pytest.raises(CommandFailed, match=r"^sh -c .* exited 7: no such thing$") as raised:
        await check(argv, cwd=tmp_path, env=PATH)
    assert raised.value.finished.stdout == b"out\n"
    assert (await check(("true",), cwd=tmp_path, env=PATH)).code == 0


async def test_a_missing_command_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run(("no-such-command-4711",), cwd=tmp_path, env=PATH)


@pytest.mark.fault(27)
async def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    with anyio.fail_after(20):
        done = await run(("sh", "-c", "sleep 60 & echo $!; exit 5"), cwd=tmp_path, env=PATH)
    assert done.code == 5
    assert not await lives(int(done.text))


@pytest.mark.fault(23)
@pytest.mark.parametrize("stubborn", [False, True])
async def test_ending_takes_the_whole_family(tmp_path: Path, stubborn: bool) -> None:
    pids = tmp_path / "pids"
    script = FAMILY.format(stubborn=stubborn, pids=str(pids))
    async with started((sys.executable, "-Sc", script), cwd=tmp_path, env=PATH, log=tmp_path / "log") as leader:
        family = await three(pids)
        await end(leader, grace_seconds=0.2 if stubborn else 20)
        assert leader.returncode == (-9 if stubborn else -15)
    assert [await lives(pid) for pid in family] == [False] * 3


@pytest.mark.fault(23)
async def test_cancelling_ends_the_whole_family(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = FAMILY.format(stubborn=False, pids=str(pids))

    async def work() -> None:
        await run((sys.executable, "-Sc", script), cwd=tmp_path, env=PATH)

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        family = await three(pids)
        group.cancel_scope.cancel()
    assert [await lives(pid) for pid in family] == [False] * 3


@pytest.mark.parametrize("turns", range(12))
def test_a_start_that_is_cut_off_leaves_neither_child_nor_pipe(tmp_path: Path, turns: int) -> None:
    """The start is cancelled after so many turns of the loop: before, during, or after the start of the child."""

    async def cut(scope: anyio.CancelScope) -> None:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        scope.cancel()

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(cut, group.cancel_scope)
            async with piped(("sleep", "60"), cwd=tmp_path, env=PATH):
                await anyio.sleep(60)

    before = psutil.Process().children()
    anyio.run(work)  # a loop of its own, which ends at once
    gc.collect()  # what nobody has closed is told now, and is an error
    assert psutil.Process().children() == before


async def test_a_log_is_appended_to_and_takes_both_streams(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    async with started(("sh", "-c", "echo out; echo err >&2"), cwd=tmp_path, env=PATH, log=log) as child:
        assert await child.wait() == 0
    assert log.read_bytes() == b"before\nout\nerr\n"


async def test_a_piped_child_is_fed_and_read_while_it_runs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = ("sh", "-c", 'echo note >&2; while read -r line; do echo "<$line>"; done')
    async with piped(argv, cwd=tmp_path, env=PATH, log=log) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for word in (b"one", b"two"):
            await child.stdin.send(word + b"\n")
            assert await child.stdout.receive() == b"<" + word + b">\n"
    assert log.read_bytes() == b"note\n"
    assert child.returncode is not None


async def three(pids: Path) -> list[int]:
    """Wait until the whole family has noted its ids, and return them."""
    for _ in range(1000):
        noted = lines_of(pids)
        if len(noted) == 3:
            return [int(pid) for pid in noted]
        await anyio.sleep(0.02)
    raise AssertionError("the family did not start")


def lines_of(file: Path) -> list[str]:
    """Return the whole lines of a file that may not exist yet."""
    return file.read_text().splitlines() if file.exists() else []


async def lives(pid: int) -> bool:
    """Return whether a process is still there a moment later; a process that only waits to be reaped is not."""
    for _ in range(200):
        if state(pid) in "ZX":
            return False
        await anyio.sleep(0.01)
    return True


def state(pid: int) -> str:
    """Return the kernel's letter for a process; X if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


async def test_a_program_on_our_terminal_gets_its_words_and_environment(tmp_path: Path) -> None:
    argv = ("/bin/sh", "-c", 'echo "$1 $WHO" > "$0"; exit 7', str(tmp_path / "said"), "hello")
    assert await run_attached(argv, env={"WHO": "ada"}) == 7
    assert (tmp_path / "said").read_text() == "hello ada\n"


async def test_a_program_on_our_terminal_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with anyio.move_on_after(5) as scope:
        async with anyio.create_task_group() as group:
            argv = ("/bin/sh", "-c", 'echo $$ > "$0"; exec sleep 60', str(note))
            group.start_soon(partial(run_attached, argv, env=PATH))
            while not (note.exists() and note.read_text().strip()):  # noqa: ASYNC110 - the other side is a shell
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    assert not scope.cancelled_caught
    assert not psutil.pid_exists(int(note.read_text()))


FORGE = """
import os, sys
print("honest", flush=True)
if os.fork() == 0:
    os.close(1)  # as a tool of a coding program, whose output goes elsewhere
    try:
        os.write(os.open(f"/proc/{os.getppid()}/fd/1", os.O_WRONLY), b"forged\\n")
    except OSError as error:
        sys.stderr.write(f"{type(error).__name__} {error.errno}\\n")
    os._exit(0)
os.wait()
"""


async def test_nobody_writes_into_the_output_of_a_streamed_child(tmp_path: Path) -> None:
    said, complaints = bytearray(), bytearray()
    argv = (sys.executable, "-Sc", FORGE)
    patience = Patience(30, 30)
    sinks = (said.extend, complaints.extend)
    ended = await streamed(argv, cwd=tmp_path, env=PATH, stdin=b"", sinks=sinks, patience=patience)
    assert ended == (0, None)
    assert bytes(said) == b"honest\n"
    assert b"OSError 6" in complaints


async def test_into_a_pipe_it_is_written(tmp_path: Path) -> None:
    done = await run((sys.executable, "-Sc", FORGE), cwd=tmp_path, env=PATH)
    assert done.stdout == b"honest\nforged\n"
