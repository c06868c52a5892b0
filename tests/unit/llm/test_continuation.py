"""May a call go on with a session? The rule as a table, and what is kept on disk, however that is found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.clock import HandClock

from shared.llm.cli.coder import was_refused
from shared.llm.kept_sessions import (
    BYTES_OF_A_TOKEN,
    SESSION_BYTES,
    STORE_BYTES,
    Continuation,
    FoundSession,
    KeptSession,
    ResumeLimits,
    SessionStore,
    refusal,
    session_file,
)
from shared.llm.port import Ending, RunOutcome, Usage

LIMITS = ResumeLimits(seconds=300, tokens=1000)

FOUND = FoundSession("a-1", (".claude", "projects", "-t", "a-1.jsonl"), b"line\n\xff\n", 1000, {"cost_usd": 0.5})

KEPT = KeptSession(FOUND, "as then", "its text", "a" * 40, ended_at=1000.0)


@pytest.mark.parametrize(
    ("circumstances", "item_text", "now", "tokens", "why"),
    [
        ("as then", "its text", 1000.0, 1000, ""),
        ("as then", "its text", 1300.0, 1, ""),
        ("otherwise", "its text", 1000.0, 1, "the call is made in another way than the last one"),
        ("as then", "another text", 1000.0, 1, "the text of the item has changed since"),
        ("as then", "its text", 1301.0, 1, "it is 301 seconds old, and the limit is 300"),
        ("as then", "its text", 999.0, 1, "it is -1 seconds old, and the limit is 300"),
        ("as then", "its text", float("nan"), 1, "it is nan seconds old, and the limit is 300"),
        ("as then", "its text", 1000.0, 1001, "it has 1,001 tokens, and the limit is 1,000"),
    ],
)
def test_a_call_goes_on_only_as_it_was_and_while_that_is_cheap(
    circumstances: str, item_text: str, now: float, tokens: int, why: str
) -> None:
    kept = replace(KEPT, found=replace(FOUND, tokens=tokens))
    assert refusal(kept, circumstances, item_text, now, LIMITS) == why


def test_a_session_with_more_text_than_tokens_was_made_longer_by_somebody() -> None:
    kept = replace(KEPT, found=replace(FOUND, content=b"x" * (BYTES_OF_A_TOKEN * LIMITS.tokens)))
    assert refusal(kept, "as then", "its text", 1000.0, LIMITS) == ""
    kept = replace(KEPT, found=replace(FOUND, content=kept.found.content + b"x"))
    why = "it has 40,001 bytes, more than 1,000 tokens take"
    assert refusal(kept, "as then", "its text", 1000.0, LIMITS) == why


@pytest.mark.parametrize(
    ("ending", "usage", "refused"),
    [
        (Ending.CONFIG, Usage(), True),
        (Ending.PERSISTENT, Usage(), True),
        (Ending.UNKNOWN, Usage(), True),
        (Ending.UNKNOWN, Usage(output_tokens=1), False),
        (Ending.PERSISTENT, Usage(cached_tokens=1), False),
        (Ending.COMPLETED, Usage(), False),
        (Ending.TIMED_OUT, Usage(), False),
        (Ending.KILLED, Usage(), False),
        (Ending.AUTH, Usage(), False),
        (Ending.USAGE_LIMIT, Usage(), False),
        (Ending.OVERLOADED, Usage(), False),
    ],
)
def test_only_a_session_in_which_nothing_was_answered_is_left_for_a_new_call(
    ending: Ending, usage: Usage, refused: bool
) -> None:
    assert was_refused(RunOutcome(ending, usage=usage)) is refused


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions", HandClock(), LIMITS)


def place(store: SessionStore, issue: int = 1, agent: str = "worker-1") -> Path:
    return session_file(store.root / "ada__directory" / f"issue-{issue}" / agent, "implement")


def offered(store: SessionStore, text: str = "its text", **other: Any) -> Continuation:
    file = place(store, **other)
    return Continuation(store, file, text, store.read(file))


def left(store: SessionStore, found: FoundSession = FOUND, **other: Any) -> None:
    call = offered(store, **other)
    call.put(found, "as then")
    call.leave("a" * 40)


def test_what_a_call_has_left_is_handed_out_once(store: SessionStore) -> None:
    left(store)
    assert store.read(place(store)) == KEPT
    first, second = offered(store), offered(store)
    assert first.take("as then") == FOUND
    assert first.take("as then") is None
    assert not place(store).exists()
    assert offered(store).take("as then") is None
    assert second.take("as then") is None, "although it was read before"


def test_what_may_not_be_gone_on_with_is_gone_all_the_same(store: SessionStore) -> None:
    left(store)
    assert offered(store).take("otherwise") is None
    assert not place(store).exists()


def test_nothing_counts_of_a_call_whose_tree_is_not_known(store: SessionStore) -> None:
    call = offered(store)
    call.put(FOUND, "as then")
    assert offered(store).take("as then") is None
    call.leave("b" * 40)
    call.leave("c" * 40)
    kept = store.read(place(store))
    assert kept is not None
    assert kept.tree == "b" * 40


def test_it_lies_where_this_account_alone_looks(store: SessionStore) -> None:
    left(store)
    assert place(store).stat().st_mode & 0o777 == 0o600
    above = place(store).relative_to(store.root).parents
    assert {(store.root / one).stat().st_mode & 0o777 for one in above} == {0o700}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}\n",
        b"[]\nx",
        b"null\nx",
        b"\xff\xfe\n",
        b"[" * 60_000,
        b'{"found": {"id": 1}}\nx',
        b'{"ended_at": 1' + b"0" * 400 + b"}\nx",
        b"x" * 2**20,
    ],
)
def test_what_cannot_be_read_is_no_session(store: SessionStore, content: bytes) -> None:
    left(store)
    place(store).write_bytes(content)
    assert store.read(place(store)) is None
    store.sweep()
    assert not place(store).exists()


def test_a_session_without_content_or_with_too_much_is_none(store: SessionStore) -> None:
    for content in (b"", b"x" * (SESSION_BYTES + 1)):
        store.write(place(store), replace(KEPT, found=replace(FOUND, content=content)))
        assert store.read(place(store)) is None


@pytest.mark.parametrize(
    "planted",
    [
        {"id": "--dangerously"},
        {"id": ""},
        {"id": "a" * 65},
        {"id": "a\n"},
        {"place": ("..", "a")},
        {"place": ("a/b",)},
        {"place": ("",)},
        {"place": ("a\0",)},
        {"place": (".", "a")},
        {"place": ("a" * 300,)},
    ],
)
def test_an_id_is_no_option_and_a_place_leads_nowhere_but_down(store: SessionStore, planted: dict[str, Any]) -> None:
    store.write(place(store), replace(KEPT, found=replace(FOUND, **planted)))
    assert place(store).exists()
    assert store.read(place(store)) is None


@pytest.mark.parametrize("kind", ["link", "pipe", "directory"])
def test_nothing_but_a_file_is_read(store: SessionStore, tmp_path: Path, kind: str) -> None:
    left(store)
    file, other = place(store), tmp_path / "other"
    file.rename(other)
    if kind == "link":
        file.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    assert store.read(file) is None
    store.sweep()
    assert not os.path.lexists(file)
    assert other.exists()


def test_what_is_old_goes_and_so_does_what_takes_too_much(store: SessionStore) -> None:
    clock = store.clock
    assert isinstance(clock, HandClock)
    left(store, issue=1)
    clock.seconds += 200
    left(store, issue=2)
    clock.seconds += 200
    store.sweep()
    assert [place(store, issue=issue).exists() for issue in (1, 2)] == [False, True]
    assert not place(store, issue=1).parent.parent.exists()
    clock.seconds -= 300
    store.sweep()
    assert not place(store, issue=2).exists(), "a time to come is no age"


def test_the_oldest_go_where_all_take_too_much(store: SessionStore) -> None:
    clock = store.clock
    assert isinstance(clock, HandClock)
    for issue in range(1, 4):
        left(store, issue=issue)
        clock.seconds += 1
        with place(store, issue=issue).open("ab") as file:
            file.truncate(STORE_BYTES // 2 - 1)
    store.sweep()
    assert [place(store, issue=issue).exists() for issue in (1, 2, 3)] == [False, True, True]


def test_two_agents_of_one_machine_keep_their_own(store: SessionStore) -> None:
    left(store, agent="worker-1")
    left(store, replace(FOUND, id="b-2"), agent="worker-2")
    store.remove(place(store, agent="worker-1").parent)
    assert offered(store, agent="worker-1").take("as then") is None
    found = offered(store, agent="worker-2").take("as then")
    assert found is not None
    assert found.id == "b-2"


def test_where_nothing_can_be_written_nothing_is_kept(store: SessionStore) -> None:
    store.root.parent.mkdir(exist_ok=True)
    store.root.write_text("no directory")
    left(store)
    assert offered(store).take("as then") is None
    assert store.root.read_text() == "no directory"
