"""Properties of the lock's texts: nothing that others write, change or repeat makes, moves or ends an ACK of ours."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent
from fakes.lock_server import BOT, EPOCH, STRANGER, Server
from hypothesis import given, settings
from hypothesis import strategies as st
from lock_world import older_ack

from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import read_ack, trusted, write_ack
from shared.lock.format_1 import fold
from shared.lock.view import acks_of
from shared.models import Account, Comment
from shared.text.comment_signatures import Keyring
from shared.workflow import Role

STEADY = settings(deadline=None, max_examples=40)

ACK = Ack(KEY, "worker-a1b2c3d4", 1706123456789, 2_200_000_000, "0123456789abcdef" * 2, 1800)
OLDER = replace(ACK, shared=False)
SIGNED = older_ack(OLDER)
SHARED = write_ack(ACK, KEYS)
HEAD, TRAILER, _ = SIGNED.split("\n")
ACCOUNTS = frozenset({BOT.id})

anything = st.text(st.characters(exclude_categories=()), max_size=80)
"""Text with everything that a string can hold: NUL, lone surrogates, text from right to left."""

AWKWARD = {
    "NUL": "\x00",
    "lone surrogate": "\ud800",
    "reversed pair": "\udc00\ud800",
    "right to left": "\u202ehsilgnE\u202c \u05d0\u05d1",
    "longest comment": "x" * 65_536,
    "many lines": "\n" * 65_536,
    "many marks": "<!-- " * 13_107,
    "endless trailer": f"<!-- ack/2{' a=b' * 16_000}",
    "endless digits": "9" * 65_536,
    "byte order mark": "\ufeff",
    "other line ends": "\r\x0b\x0c\x1c\x85\u2028",
}


def comment(body: str, *, author: Account = BOT, number: int = 42, id: int = 2_200_000_007) -> Comment:
    return Comment(id, number, author, body, EPOCH, EPOCH)


def read(body: str) -> Ack | None:
    return trusted(comment(body), ACCOUNTS, KEYS)


def normal(body: str) -> str:
    """Return a text without the changes that GitHub may make: other line ends, other space at their ends."""
    return "\n".join(line.rstrip() for line in re.split("\r\n|\r|\n", body)).strip("\n")


def expect_untouched(body: str) -> None:
    """Assert that a body is believed only if nothing was changed; an unknown key id makes it opaque, never ours."""
    ack = read(body)
    if ack is None:
        return
    if ack.opaque:
        assert normal(re.sub(r"mac=\S*", "mac=", body, count=1)) == re.sub(r"mac=\S*", "mac=", SIGNED)
    else:
        assert normal(body) == SIGNED


@STEADY
@given(anything, anything)
def test_reading_any_text_never_raises_and_finds_nothing(before: str, after: str) -> None:
    assert read(f"{before}{after}") is None
    assert read(f"{HEAD}\n{before}\n{after}x") is None
    assert read(f"{before}x{SIGNED}") is None
    expect_untouched(f"{SIGNED}{after}")


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
@pytest.mark.parametrize(
    "place",
    ["{0}", "{0}{1}\n{2}", "{1}{0}\n{2}", "{1}\n{0}{2}", "{1}\n{2}{0}", "{1}\n{0}\n{2}", "{1}\n{2}\n{0}", "{1}{0}x"],
)
def test_awkward_text_in_any_place_is_no_ack(text: str, place: str) -> None:
    body = place.format(text, HEAD, TRAILER)
    assert read(body) is None
    spelt = read_ack(comment(body))
    assert spelt is None or replace(spelt, id=0, updated_at=ACK.updated_at, opaque=False) == OLDER


def test_no_bit_of_the_one_comment_can_be_flipped() -> None:
    """A text with a flipped bit is no ACK, or one of an unknown key, which is never ours."""
    raw = SHARED.encode()
    for place in range(len(raw)):
        for bit in range(8):
            changed = bytearray(raw)
            changed[place] ^= 1 << bit
            body = changed.decode("utf-8", "surrogateescape")
            ack = read(body)
            assert ack is None or ack.opaque or normal(body) == SHARED


def test_no_bit_of_a_signed_ack_can_be_flipped() -> None:
    raw = SIGNED.encode()
    for place in range(len(raw)):
        for bit in range(8):
            changed = bytearray(raw)
            changed[place] ^= 1 << bit
            expect_untouched(changed.decode("utf-8", "surrogateescape"))


@STEADY
@given(st.integers(0, len(SIGNED)), st.integers(0, 3), st.text(st.characters(exclude_categories=()), max_size=3))
def test_no_part_of_a_signed_ack_can_be_cut_or_replaced(place: int, cut: int, text: str) -> None:
    expect_untouched(SIGNED[:place] + text + SIGNED[place + cut :])


def test_a_surrogate_is_not_taken_for_the_question_mark_that_was_signed() -> None:
    signed = KEYS.sign("test", 42, "<!-- test/1 mac= -->\nWhat?")
    assert KEYS.verify("test", 42, signed) == "valid"
    assert KEYS.verify("test", 42, signed.replace("?", "\ud800")) == "invalid"


@st.composite
def threads(draw: st.DrawFn) -> list[Comment]:
    """Draw ACKs of ours that each name nothing, an older one, or one that never existed."""
    found: list[Comment] = []
    for id in sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=7))):
        prev = draw(st.sampled_from([0, *(one.id for one in found), 41]))
        ack = replace(ACK, prev=prev, nonce=f"{id:032x}", state=draw(st.sampled_from(AckState)))
        found.append(comment(older_ack(ack), id=id))
    return found


def stranger(one: Comment) -> Comment:
    return replace(one, author=STRANGER)


def quoted(one: Comment) -> Comment:
    return replace(one, body=f"> {one.body}")


def edited(one: Comment) -> Comment:
    return replace(one, body=one.body.replace("nonce=0", "nonce=1", 1))


def unsigned(one: Comment) -> Comment:
    ack = read_ack(one)
    assert ack is not None
    return replace(one, body=older_ack(ack, Keyring(99)))


def of_a_planner(one: Comment) -> Comment:
    ack = read_ack(one)
    assert ack is not None
    return replace(one, body=older_ack(replace(ack, key=ItemKey(Role.PLANNER, 42))))


def elsewhere(one: Comment) -> Comment:
    """Return our own ACK, copied under another issue's number."""
    return replace(one, number=43)


@STEADY
@given(threads(), st.randoms(use_true_random=False), st.data())
def test_what_is_not_trusted_or_repeated_changes_nothing(
    thread: list[Comment], chance: random.Random, data: st.DataObject
) -> None:
    claimant = FakeAgent(Server(), "worker-a").claimant
    noise: list[Callable[[Comment], Comment]] = [stranger, quoted, edited, unsigned, of_a_planner, elsewhere]
    seen = list(thread)
    for number, one in enumerate(data.draw(st.lists(st.sampled_from(thread), max_size=6))):
        spoil = data.draw(st.sampled_from(noise))
        seen.append(replace(spoil(one), id=data.draw(st.sampled_from([one.id, 50 + number]))))
    seen += data.draw(st.lists(st.sampled_from(thread), max_size=3))
    chance.shuffle(seen)
    assert fold(acks_of(seen, KEY, claimant)) == fold(acks_of(thread, KEY, claimant))
