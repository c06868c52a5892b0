"""ACK comments: what is written is read back, and nothing else is believed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_server import BOT, EPOCH, STRANGER
from hypothesis import given, settings
from hypothesis import strategies as st
from lock_world import older_ack

from shared.lock.codec import OPAQUE_SECONDS, Ack, AckState, ItemKey
from shared.lock.comment import trusted, write_ack
from shared.models import Account, Comment
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import AGENTS, Role

STEADY = settings(deadline=None, max_examples=50)

OLD, NEW, OTHER = Key.of(b"o" * 32), Key.of(b"n" * 32), Key.of(b"x" * 32)
KEYS = Keyring(99, (NEW,))
NO_KEYS = Keyring(99)
KEY = ItemKey(Role.WORKER, 42)
ACK = Ack(KEY, "worker-a1b2c3d4", 1706123456789, 0, "0123456789abcdef" * 2, 1800, epoch=4)
OLDER = replace(ACK, prev=2_200_000_000, epoch=0, shared=False)
ACCOUNTS = frozenset({BOT.id, 7002})
OURS = "0" * 32

numbers = st.integers(1, 10**9)
hexes = st.text("0123456789abcdef", min_size=32, max_size=32)
keys = st.builds(ItemKey, st.sampled_from(sorted(AGENTS)), numbers)
acks = st.builds(
    Ack,
    key=keys,
    agent=st.from_regex(r"[a-z0-9-]{1,64}", fullmatch=True),
    millis=st.integers(0, 10**13 - 1),
    prev=st.just(0),
    nonce=hexes,
    ttl_seconds=st.integers(0, 10**8 - 1),
    state=st.sampled_from(AckState),
    revision=st.integers(0, 10**9 - 1),
    epoch=st.integers(0, 10**9 - 1),
)


def comment(body: str, *, author: Account = BOT, number: int = 42, id: int = 2_200_000_007) -> Comment:
    return Comment(id, number, author, body, EPOCH, EPOCH)


def signed(ack: Ack = ACK, ring: Keyring = KEYS) -> str:
    return write_ack(ack, ring)


def alone(ring: Keyring = NO_KEYS) -> str:
    """Return an older engine's comment with nothing but an ACK."""
    return older_ack(OLDER, ring)


@pytest.mark.parametrize("ring", [KEYS, NO_KEYS])
@STEADY
@given(ack=acks)
def test_an_ack_is_read_back_as_written(ring: Keyring, ack: Ack) -> None:
    posted = comment(write_ack(ack, ring), number=ack.key.number)
    assert trusted(posted, ACCOUNTS, ring) == replace(ack, id=posted.id, updated_at=EPOCH)


def test_people_read_first_and_programs_find_the_line_they_know() -> None:
    lines = signed().split("\n")
    assert lines[1] == "worker-a1b2c3d4 is working on this since 19:10 UTC."
    assert "ACK:worker:worker-a1b2c3d4:1706123456789" in lines
    assert lines.index("ACK:worker:worker-a1b2c3d4:1706123456789") > lines.index("<!-- lock -->")


@pytest.mark.parametrize("ring", [KEYS, NO_KEYS])
def test_an_older_engines_ack_is_read(ring: Keyring) -> None:
    posted = comment(older_ack(OLDER, ring))
    assert trusted(posted, ACCOUNTS, ring) == replace(OLDER, id=posted.id, updated_at=EPOCH)


@pytest.mark.parametrize(
    "change",
    [
        {"agent": "Worker"},
        {"agent": "w\nACK:worker:x:1706123456789"},
        {"agent": ""},
        {"millis": -1},
        {"millis": 10**13},
        {"nonce": "short"},
        {"ttl_seconds": 10**8},
        {"epoch": -1},
    ],
)
def test_an_ack_that_nobody_could_read_is_not_written(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no ACK can"):
        write_ack(replace(ACK, **change), KEYS)  # type: ignore[arg-type]


@pytest.mark.fault(18)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(alone().replace("ACK:", "> ACK:"), id="quoted"),
        pytest.param("\n".join(f"> {line}" for line in alone().split("\n")), id="quoted whole"),
        pytest.param(f"```\n{alone()}\n```", id="code block"),
        pytest.param(f"Look:\n{alone()}", id="not on the first line"),
        pytest.param(f" {alone()}", id="leading space"),
        pytest.param(alone().replace("456789\n", "456789 please\n"), id="more on the line"),
        pytest.param(alone().replace("<!-- ack", "see <!-- ack"), id="more before the trailer"),
        pytest.param(alone().replace("ACK:worker:", "ACK:worker2:"), id="kind as a prefix"),
        pytest.param(alone().replace("ACK:", "ack:"), id="lower case"),
        pytest.param(alone().replace("1706123456789", "170612345678"), id="too few digits"),
        pytest.param(alone().replace("1706123456789", "١٧٠٦١٢٣٤٥٦٧٨٩"), id="other digits"),
        pytest.param(alone().replace("state=active", "state=gone"), id="unknown state"),
        pytest.param(alone().replace("ttl=1800", f"ttl={'9' * 5000}"), id="endless number"),
        pytest.param(alone().replace("<!--", "\n<!--"), id="a blank line between"),
        pytest.param("", id="empty"),
    ],
)
def test_only_two_whole_lines_at_the_top_are_an_ack(body: str) -> None:
    assert trusted(comment(body), ACCOUNTS, NO_KEYS) is None


@pytest.mark.fault(18)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda b: f"> {b}", id="quoted"),
        pytest.param(lambda b: f"Look:\n{b}", id="not on the first line"),
        pytest.param(lambda b: f"```\n{b}\n```", id="code block"),
        pytest.param(lambda b: b.replace("kind=worker", "kind=planner"), id="another kind"),
        pytest.param(lambda b: b.replace("n=42", "n=43"), id="another thread"),
        pytest.param(lambda b: b.replace("is working", "was working"), id="edited"),
        pytest.param(lambda b: b + "\nThanks!", id="more below"),
        pytest.param(lambda b: b.replace("epoch=4", "epoch=5"), id="another epoch"),
    ],
)
def test_what_anybody_changed_in_the_one_comment_voids_it_with_and_without_a_key(
    change: Callable[[str], str],
) -> None:
    for ring in (KEYS, NO_KEYS):
        assert trusted(comment(change(signed(ring=ring))), ACCOUNTS, ring) is None


@pytest.mark.parametrize(
    "change", [lambda b: b.replace("\n", "\r\n"), lambda b: b.replace("\n", " \n"), lambda b: b + "\n\n"]
)
def test_line_ends_and_trailing_space_do_not_void_an_ack(change: object) -> None:
    assert callable(change)
    assert trusted(comment(change(signed())), ACCOUNTS, KEYS) is not None


@pytest.mark.parametrize("kind", sorted(AGENTS - {Role.WORKER}))
def test_kinds_are_not_confused(kind: Role) -> None:
    other = replace(ACK, key=ItemKey(kind, 42))
    read = trusted(comment(signed(other)), ACCOUNTS, KEYS)
    assert read is not None
    assert read.key == ItemKey(kind, 42) != KEY
    assert trusted(comment(signed(other).replace(f"ACK:{kind}:", "ACK:worker:")), ACCOUNTS, KEYS) is None


@pytest.mark.fault(18)
def test_a_stranger_cannot_post_an_ack_even_word_for_word() -> None:
    assert trusted(comment(signed(), author=STRANGER), ACCOUNTS, KEYS) is None
    assert trusted(comment(signed(ring=NO_KEYS), author=replace(STRANGER, login=BOT.login)), ACCOUNTS, NO_KEYS) is None


@pytest.mark.parametrize("mac", ["", "none", f"{NEW.id}", f"{NEW.id}.{OURS}", OURS])
def test_text_of_a_model_under_our_account_is_no_ack(mac: str) -> None:
    assert trusted(comment(signed(ring=NO_KEYS).replace("mac=none", f"mac={mac}")), ACCOUNTS, KEYS) is None


@pytest.mark.fault(18)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1706123456789", "1706123456788"),
        ("state=active", "state=done"),
        ("rev=0", "rev=9"),
        ("epoch=4", "epoch=5"),
        ("ttl=1800", "ttl=9999"),
        ("is working", "was working"),
    ],
)
def test_an_edited_ack_does_not_exist(old: str, new: str) -> None:
    assert old in signed()
    assert trusted(comment(signed().replace(old, new)), ACCOUNTS, KEYS) is None


def test_an_ack_holds_for_its_own_issue_and_repository() -> None:
    assert trusted(comment(signed(), number=43), ACCOUNTS, KEYS) is None
    assert trusted(comment(signed()), ACCOUNTS, Keyring(98, (NEW,))) is None


@pytest.mark.parametrize("ring", [KEYS, NO_KEYS])
def test_an_ack_of_an_unknown_key_holds_until_its_timeout(ring: Keyring) -> None:
    read = trusted(comment(signed(ring=Keyring(99, (OTHER,)))), ACCOUNTS, ring)
    assert read is not None
    assert read.opaque
    assert read.live(EPOCH + timedelta(seconds=1799))
    assert not read.live(EPOCH + timedelta(seconds=1800))


def test_an_unknown_key_cannot_hold_for_ever() -> None:
    forged = signed(replace(ACK, ttl_seconds=10**8 - 1), Keyring(99, (OTHER,)))
    read = trusted(comment(forged), ACCOUNTS, KEYS)
    assert read is not None
    assert not read.live(EPOCH + timedelta(seconds=OPAQUE_SECONDS))


def test_without_a_key_the_marker_alone_counts() -> None:
    assert trusted(comment(signed(ring=NO_KEYS)), ACCOUNTS, NO_KEYS) is not None


def test_during_a_rotation_both_keys_are_read() -> None:
    rotated = Keyring(99, (NEW, OLD))
    read = trusted(comment(signed(ring=Keyring(99, (OLD,)))), ACCOUNTS, rotated)
    assert read is not None
    assert not read.opaque


@pytest.mark.parametrize("state", [AckState.RELEASED, AckState.DONE])
def test_only_an_active_ack_is_live(state: AckState) -> None:
    assert replace(ACK, updated_at=EPOCH).live(EPOCH)
    assert not replace(ACK, updated_at=EPOCH, state=state).live(EPOCH)


def test_only_agents_have_locks() -> None:
    assert KEY.ref == "refs/ack/worker/42"
    with pytest.raises(ValueError, match="not an agent"):
        ItemKey(Role.PERSON, 42)
