"""fold: one holder, whatever the order, whoever posts later, whatever is deleted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.lock.codec import Ack, ItemKey
from shared.lock.format_1 import fold
from shared.workflow import Role

STEADY = settings(deadline=None, max_examples=50)

KEY = ItemKey(Role.WORKER, 42)


def ack(id: int, prev: int) -> Ack:
    return Ack(KEY, "worker-1", 0, prev, "0" * 32, 1800, id=id)


@st.composite
def histories(draw: st.DrawFn, most: int = 9) -> list[Ack]:
    """Draw ACKs that each name an older one, or nothing, or one that never existed."""
    found: list[Ack] = []
    for id in sorted(draw(st.sets(st.integers(1, 40), max_size=most))):
        older = [0, *(one.id for one in found), draw(st.integers(0, 45))]
        found.append(ack(id, draw(st.sampled_from(older))))
    return found


def holders(history: list[Ack], anchor: int = 0) -> list[int]:
    """Return the holder after each ACK, as they arrived."""
    return [fold(history[: count + 1], anchor) for count in range(len(history))]


@STEADY
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_acks_are_seen_does_not_matter(history: list[Ack], random: object) -> None:
    shuffled = list(history)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fold(shuffled) == fold(history)


@STEADY
@given(histories())
def test_duplicates_change_nothing(history: list[Ack]) -> None:
    assert fold([*history, *history]) == fold(history)


@STEADY
@given(histories(), st.integers(41, 60), st.integers(0, 60))
def test_a_later_ack_that_does_not_name_the_holder_changes_nothing(history: list[Ack], id: int, prev: int) -> None:
    holder = fold(history)
    assert fold([*history, ack(id, prev)]) == (id if prev == holder else holder)


@STEADY
@given(histories())
def test_who_was_superseded_never_holds_again(history: list[Ack]) -> None:
    seen = holders(history)
    assert seen == sorted(seen)


@STEADY
@given(histories())
def test_a_claim_that_comes_second_never_wins(history: list[Ack]) -> None:
    holder = fold(history)
    assert fold([*history, ack(50, holder), ack(51, holder)]) == 50


@STEADY
@given(histories(), st.data())
def test_starting_from_any_former_holder_leads_to_the_same_one(history: list[Ack], data: st.DataObject) -> None:
    anchor = data.draw(st.sampled_from([0, *holders(history)]))
    assert fold([one for one in history if one.id > anchor], anchor) == fold(history)


@pytest.mark.parametrize(
    ("chain", "anchor", "deleted", "holder"),
    [
        pytest.param([], 0, (), 0, id="nobody"),
        pytest.param([(5, 0)], 0, (), 5, id="the first"),
        pytest.param([(5, 0), (6, 0)], 0, (), 5, id="the lower id of two rivals"),
        pytest.param([(5, 0), (6, 0), (7, 5), (8, 6)], 0, (), 7, id="a loser has no successor"),
        pytest.param([(5, 0), (9, 7)], 0, {7}, 9, id="its predecessor was deleted"),
        pytest.param([(5, 0), (9, 7)], 0, (), 5, id="its predecessor was only not seen"),
        pytest.param([(5, 0), (9, 3)], 0, {3}, 5, id="a deleted predecessor older than the holder"),
        pytest.param([(5, 0), (9, 12)], 0, {12}, 5, id="a predecessor that never was"),
        pytest.param([(9, 0), (12, 10)], 10, (), 12, id="from the fence on"),
        pytest.param([(9, 0), (12, 0)], 10, (), 10, id="nothing new since the fence"),
    ],
)
def test_who_holds(chain: list[tuple[int, int]], anchor: int, deleted: set[int], holder: int) -> None:
    assert fold([ack(id, prev) for id, prev in chain], anchor, deleted=deleted) == holder
