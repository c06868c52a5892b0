"""A program that a repository has taken over, and the session that it leaves: what is kept of that, and what is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_shop import HELP, Shop

from shared.llm.kept_sessions import (
    SESSION_BYTES,
    Continuation,
    FoundSession,
    KeptSession,
    ResumeLimits,
    SessionStore,
    session_file,
)
from shared.llm.port import Ending, RunOutcome
from shared.loop.real_clock import RealClock

HEAD = """
flag = "--resume" if "--resume" in sys.argv else "--session-id"
name = sys.argv[sys.argv.index(flag) + 1]
projects = pathlib.Path(os.environ["HOME"], ".claude", "projects")
memory = projects / "-tree" / (name + ".jsonl")
before = memory.read_text() if memory.exists() else ""
pathlib.Path("told").write_text(json.dumps([flag, before, prompt]))
memory.parent.mkdir(parents=True, exist_ok=True)
usage = {"input_tokens": 10, "cache_read_input_tokens": 10**8 if before else 0}
print(json.dumps({"type": "stream_event", "event": {"type": "message_start", "message": {"usage": usage}}}))
"""

MINE = '{"mine": 1}\n'

GOOD = f"{HEAD}\nmemory.write_text(before + {MINE!r})\nresult()\n"

OTHER = '{"other": 1}\n'


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Return a shop whose store has the session of another item."""
    return Shop(tmp_path)


@pytest.fixture
def store(shop: Shop) -> SessionStore:
    return SessionStore(shop.root / "sessions", RealClock(), ResumeLimits(300, 100_000))


def place(store: SessionStore, issue: int = 42) -> Path:
    return session_file(store.root / "ada__directory" / f"issue-{issue}" / "worker-1", "implement")


async def call(shop: Shop, store: SessionStore, body: str, **changes: Any) -> RunOutcome:
    """Run one call of a program that does `body`, which may continue the kept session."""
    continues = Continuation(store, place(store), "text", store.read(place(store)), "TOLD.")
    coder = shop.coder(body, help_text=f"{HELP} --session-id --resume")
    outcome = await coder.run(shop.request(continues=continues, **changes))
    continues.leave("t1")
    assert list(shop.calls.iterdir()) == []
    return outcome


def told(shop: Shop) -> list[str]:
    """Return how the program was called: whether to continue, the sessions in its home, and the prompt."""
    found: list[str] = json.loads((shop.root / "told").read_text())
    return found


@pytest.mark.parametrize(
    "deed",
    [
        "memory.symlink_to('{other}')",
        "os.link('{other}', memory)",
        "memory.parent.rmdir(); (projects / '-tree').symlink_to('{directory}')",
        "import shutil; shutil.rmtree(projects); projects.symlink_to('{directory}')",
        "os.mkfifo(memory)",
        "memory.mkdir()",
        "(projects / '-a').mkdir(); [(projects / at / memory.name).write_text('{{}}') for at in ('-a', '-tree')]",
        "(projects / '..a').mkdir(); (projects / '..a' / memory.name).write_text('{{}}')",
        "memory.open('w').truncate({most} + 1)",
        "memory.touch()",
        "None",
    ],
)
async def test_what_is_no_plain_session_of_this_call_is_not_kept(shop: Shop, store: SessionStore, deed: str) -> None:
    other = shop.root / "other" / "-tree"
    other.mkdir(parents=True)
    (other / "it.jsonl").write_text(OTHER)
    deed = deed.format(other=other / "it.jsonl", directory=other.parent, most=SESSION_BYTES)
    assert (await call(shop, store, f"{HEAD}\n{deed}\nresult()\n")).ending is Ending.COMPLETED
    assert store.read(place(store)) is None
    assert (await call(shop, store, GOOD)).resumed is None
    assert told(shop) == ["--session-id", "", "Do it."]
    assert (other / "it.jsonl").read_text() == OTHER


async def test_the_session_that_it_wrote_goes_back_to_it_alone(shop: Shop, store: SessionStore) -> None:
    await call(shop, store, GOOD)
    outcome = await call(shop, store, GOOD)
    assert told(shop) == ["--resume", MINE, "TOLD.\n\nDo it."]
    assert outcome.resumed == 10, "no more than the session has, whatever the program says"
    kept = store.read(place(store))
    assert kept is not None
    assert kept.found.content.decode() == 2 * MINE


@pytest.mark.parametrize(
    ("body", "limits"),
    [
        ("memory.write_text('{}'); sys.exit(1)", {}),
        ("memory.write_text('{}'); result(is_error=True, api_error_status=529)", {}),
        ("memory.write_text('{}'); os.kill(os.getpid(), 9)", {}),
    ],
)
async def test_a_call_that_did_not_end_well_leaves_none(
    shop: Shop, store: SessionStore, body: str, limits: dict[str, Any]
) -> None:
    await call(shop, store, GOOD)
    outcome = await call(shop, store, f"{HEAD}\n{body}\n", **limits)
    assert outcome.ending is not Ending.COMPLETED
    assert store.read(place(store)) is None


async def test_a_session_that_cannot_be_laid_down_is_left(shop: Shop, store: SessionStore) -> None:
    """Its path has become too long: the call begins anew."""
    await call(shop, store, GOOD)
    kept = store.read(place(store))
    assert kept is not None
    store.write(place(store), replace(kept, found=replace(kept.found, place=("x" * 250,) * 20)))
    assert (await call(shop, store, GOOD)).ending is Ending.COMPLETED
    assert told(shop)[:2] == ["--session-id", ""]


async def test_without_room_for_it_the_call_is_as_it_was(shop: Shop, store: SessionStore) -> None:
    store.root.write_text("no directory")
    for _ in range(2):
        assert (await call(shop, store, GOOD)).ending is Ending.COMPLETED
        assert told(shop)[:2] == ["--session-id", ""]


async def test_a_call_that_does_not_ask_for_it_gets_no_session_and_leaves_none(shop: Shop, store: SessionStore) -> None:
    """Calls of the planner, of the reviewer and of checks do not ask for a session."""
    await call(shop, store, GOOD)
    body = "pathlib.Path('argv').write_text(json.dumps(sys.argv)); result()"
    coder = shop.coder(body, help_text=f"{HELP} --session-id --resume")
    assert (await coder.run(shop.request())).resumed is None
    argv = (shop.root / "argv").read_text()
    assert "--no-session-persistence" in argv
    assert "--session-id" not in argv
    assert store.read(place(store)) is not None


async def test_a_version_that_does_not_know_how_keeps_nothing(shop: Shop, store: SessionStore) -> None:
    continues = Continuation(store, place(store), "text")
    body = "pathlib.Path('argv').write_text(json.dumps(sys.argv)); result()"
    assert (await shop.coder(body).run(shop.request(continues=continues))).ending is Ending.COMPLETED
    continues.leave("t1")
    assert "--no-session-persistence" in (shop.root / "argv").read_text()
    assert store.read(place(store)) is None


async def test_another_version_of_the_program_begins_anew(shop: Shop, store: SessionStore) -> None:
    await call(shop, store, GOOD)
    continues = Continuation(store, place(store), "text", store.read(place(store)), "TOLD.")
    coder = shop.coder(GOOD, help_text=f"{HELP} --session-id --resume", version="2.1.331 (Claude Code)")
    assert (await coder.run(shop.request(continues=continues))).resumed is None
    assert told(shop)[:2] == ["--session-id", ""]


async def test_a_session_that_another_version_kept_as_its_own_is_never_given_to_it(
    shop: Shop, store: SessionStore
) -> None:
    """The line comes from another machine's state directory: its circumstances are not ours."""
    found = FoundSession("a-1", (".claude", "projects", "-tree", "a-1.jsonl"), b"planted", 1, {})
    store.write(place(store), KeptSession(found, "", "text", "t1", RealClock().now()))
    await call(shop, store, GOOD)
    assert told(shop)[:2] == ["--session-id", ""]
