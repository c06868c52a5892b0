"""The rules of the slots: never too many are held, whoever waited longest is next, and nobody holds up the others."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from fakes.clock import HandClock

from shared.scheduling.slots import LOOK_SECONDS, MOST_LOOKS, PATIENCE_SECONDS, Slot, Slots


class Repository:
    """A repository as the slots see it."""

    def __init__(self, slots: Slots) -> None:
        self.calls = 0
        self.turn = slots.join(self._call)

    def _call(self) -> None:
        self.calls += 1

    def begins(self) -> Slot | None:
        """Return the slot of an item that the repository begins at once if it may."""
        slot = Slot(self.turn)
        with self.turn.looking():
            return slot if self.turn.ask() and slot.take() else None

    def item(self) -> Slot:
        """Return the slot of an item that has begun."""
        slot = self.begins()
        assert slot is not None
        return slot

    def looks_for_long(self) -> Slot:
        """Return the slot of an item whose look after a wait counts as work from now on."""
        slot = Slot(self.turn)
        slot.look()
        slot.held_from -= LOOK_SECONDS
        return slot


class Item:
    """An item that comes back from a wait."""

    def __init__(self, repository: Repository) -> None:
        self.wakes = 0
        self.slot = Slot(repository.turn)
        self.slot.look()

    def goes_on(self) -> bool:
        return self.slot.go_on(self._wake)

    def _wake(self) -> None:
        self.wakes += 1


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def three(clock: HandClock, limit: int = 1, **more: int) -> tuple[Repository, Repository, Repository]:
    slots = Slots(limit, clock, **more)
    return Repository(slots), Repository(slots), Repository(slots)


def test_a_repository_with_endless_work_does_not_keep_the_others_from_theirs(clock: HandClock) -> None:
    eager, calm, last = three(clock)
    item = eager.item()
    assert not calm.begins()
    assert not last.begins()
    assert not eager.begins()
    item.give()
    assert (calm.calls, last.calls, eager.calls) == (1, 0, 0), "who waited longest is told, nobody else"
    assert not eager.begins(), "although it asks first"
    calm.item().give()
    assert not eager.begins()
    assert last.begins()


def test_who_does_not_come_when_it_is_its_turn_is_passed_over_and_keeps_its_place(clock: HandClock) -> None:
    eager, slow, last = three(clock)
    item = eager.item()
    assert not slow.begins()
    item.give()
    clock.seconds += PATIENCE_SECONDS - 1
    assert not eager.begins()
    assert not last.begins()
    clock.seconds += 1
    item = eager.item()
    assert not slow.begins(), "it comes late"
    item.give()
    assert not last.begins(), "it is not ahead of who has come late"
    slow.item().give()
    assert last.begins()


def test_who_comes_late_is_waited_for_again(clock: HandClock) -> None:
    eager, slow, _ = three(clock)
    item = eager.item()
    assert not slow.begins()
    item.give()
    clock.seconds += PATIENCE_SECONDS
    item = eager.item()
    assert not slow.begins()
    item.give()
    assert slow.calls == 2
    assert not eager.begins()


def test_who_was_called_and_finds_no_slot_any_more_reads_nothing(clock: HandClock) -> None:
    first, called, third = three(clock)
    item = first.item()
    with called.turn.looking():
        assert not called.turn.ask()
    item.give()
    item = third.looks_for_long()
    with called.turn.looking():
        assert not called.turn.ask()
    item.give()
    assert called.calls == 2
    assert called.begins()


def test_those_behind_one_that_does_not_come_keep_their_order(clock: HandClock) -> None:
    first, away, second = three(clock)
    item = first.item()
    assert not away.begins()
    assert not second.begins()
    item.give()
    clock.seconds += PATIENCE_SECONDS
    assert not first.begins(), "it asks first, and is the last"
    assert (away.calls, second.calls) == (1, 1)
    assert second.begins()


def test_many_that_ask_while_the_next_one_is_on_its_way_do_not_pass_it_over(clock: HandClock) -> None:
    slots = Slots(1, clock)
    item = Repository(slots).item()
    waiting = [Repository(slots) for _ in range(200)]
    assert not any(one.begins() for one in waiting)
    item.give()
    assert not any(one.begins() for one in reversed(waiting[1:]))
    assert waiting[0].begins()


def test_who_wants_no_slot_when_it_is_its_turn_passes_it_on(clock: HandClock) -> None:
    eager, calm, last = three(clock)
    item = eager.item()
    assert not calm.begins()
    assert not last.begins()
    item.give()
    calm.turn.leave()
    assert last.calls == 1
    calm.turn.leave()
    assert last.calls == 1, "who does not wait has nothing to pass on"
    assert last.begins()


def test_a_repository_that_has_its_share_is_told_when_one_of_its_items_has_ended(clock: HandClock) -> None:
    full, other, _ = three(clock, 3, per_repository=2)
    item, _ = full.item(), full.item()
    assert not full.begins()
    other.item().give()
    assert full.calls == 0, "and is in nobody's way"
    item.give()
    assert full.calls == 1


def test_a_long_look_does_not_keep_the_others_from_theirs_for_ever(clock: HandClock) -> None:
    long, second, third = three(clock)
    with long.turn.looking(), second.turn.looking():
        assert long.turn.ask()
        clock.seconds += PATIENCE_SECONDS - 1
        assert not second.turn.ask()
        clock.seconds += 1
        assert second.turn.ask()
        assert long.turn.ask(), "it goes on"
        assert not third.begins(), "one look more for each that takes long"


def test_while_all_slots_are_taken_no_look_takes_long(clock: HandClock) -> None:
    reading, working, asking = three(clock)
    with reading.turn.looking():
        assert reading.turn.ask()
        item = working.looks_for_long()
        clock.seconds += 2 * PATIENCE_SECONDS
        assert not asking.begins()
        item.give()
        assert not asking.begins()
        clock.seconds += PATIENCE_SECONDS
        assert asking.begins()


def test_a_slot_that_was_free_all_the_while_makes_no_look_shorter(clock: HandClock) -> None:
    reading, working, asking = three(clock, 3)
    with reading.turn.looking():
        assert reading.turn.ask()
        item, _ = working.item(), working.item()
        assert not asking.begins()
        clock.seconds += PATIENCE_SECONDS
        item.give()
        assert asking.begins()
        assert asking.begins(), "nobody waits for the one that reads"


def test_a_claim_without_a_slot_was_not_in_vain_and_is_the_next_one(clock: HandClock) -> None:
    first, second, third = three(clock)
    with third.turn.looking():
        assert third.turn.ask()
    with second.turn.looking(), first.turn.looking():
        assert first.turn.ask()
        assert second.turn.ask(), "a look led to nothing"
        assert not third.begins()
        won, lost = Slot(first.turn), Slot(second.turn)
        assert won.take()
        assert not lost.take()
        lost.give()
    assert (second.calls, third.calls) == (0, 0)
    won.give()
    assert (second.calls, third.calls) == (1, 0), "who has read everything is ahead"
    assert not third.begins()
    with second.turn.looking():
        assert second.turn.ask()
        assert not third.begins(), "there was work: one look is enough for one slot"


def test_a_claim_that_took_long_and_finds_no_slot_is_told_of_the_next_one(clock: HandClock) -> None:
    long, second, third = three(clock)
    with long.turn.looking():
        assert long.turn.ask()
        clock.seconds += PATIENCE_SECONDS
        item = second.item()
        assert not third.begins()
        assert not Slot(long.turn).take()
    item.give()
    assert (long.calls, third.calls) == (1, 0)


def test_with_room_for_all_nobody_waits_for_anybody(clock: HandClock) -> None:
    assert all(one.begins() for one in three(clock, 3))


def test_a_slot_that_a_claim_did_not_win_is_the_next_ones(clock: HandClock) -> None:
    first, second, _ = three(clock)
    with first.turn.looking():
        assert first.turn.ask()
        slot = Slot(first.turn)
        assert slot.take()
        assert not second.begins(), "what it would read for nothing is not read"
        slot.give()
        assert second.calls == 1
        assert not first.turn.ask(), "it has had its turn"
    assert second.begins()


def test_looks_that_lead_to_nothing_let_more_repositories_look(clock: HandClock) -> None:
    """Thousands of blocked issues in many repositories are not looked at one after the other."""
    first, second, third = three(clock)
    with first.turn.looking():
        assert first.turn.ask()
        assert first.turn.ask(), "it goes on to its next candidate"
        assert not second.turn.ask()
        assert not third.turn.ask()
    assert (second.calls, third.calls) == (1, 1)
    with second.turn.looking(), third.turn.looking():
        assert second.turn.ask()
        assert third.turn.ask()


def test_however_many_looks_lead_to_nothing_only_so_many_repositories_look(clock: HandClock) -> None:
    slots = Slots(1, clock)
    repositories = [Repository(slots) for _ in range(3 * MOST_LOOKS)]
    for one in repositories:
        with one.turn.looking():
            assert one.turn.ask()
    with ExitStack() as stack:
        for one in repositories:
            stack.enter_context(one.turn.looking())
        assert sum(one.turn.ask() for one in repositories) == 1 + MOST_LOOKS


def test_who_reads_on_when_no_slot_is_left_waits_for_the_next_one(clock: HandClock) -> None:
    reading, working, third = three(clock)
    with reading.turn.looking():
        assert reading.turn.ask()
        item = working.looks_for_long()
        assert not reading.turn.ask(), "it would read for nothing"
        item.give()
        assert reading.calls == 1
        assert third.begins(), "its look had led to nothing"


def test_a_claim_keeps_to_the_share_of_its_repository_when_items_have_come_back_meanwhile(clock: HandClock) -> None:
    repository, *_ = three(clock, 5, per_repository=2)
    repository.item()
    with repository.turn.looking():
        assert repository.turn.ask()
        repository.looks_for_long()
        assert not Slot(repository.turn).take()


def test_a_claim_that_has_no_room_in_its_repository_lets_another_one_have_its_turn(clock: HandClock) -> None:
    full, other, _ = three(clock, 2, per_repository=1)
    with full.turn.looking():
        assert full.turn.ask()
        full.looks_for_long()
        assert not other.begins()
        assert not Slot(full.turn).take()
        assert other.calls == 1


def test_nothing_is_left_of_what_has_ended(clock: HandClock) -> None:
    one, other, _ = three(clock)
    slots, item, work = one.turn.slots, Item(one), other.item()
    assert not item.goes_on()
    work.give()
    item.slot.give()
    with one.turn.looking():
        assert one.turn.ask()
    assert (slots.holders, slots.returning, slots.queue, slots.reading, slots.free) == (set(), [], [], [], 1)


def test_an_item_that_never_waited_keeps_its_slot(clock: HandClock) -> None:
    one, other, third = three(clock)
    item, back = one.item(), Item(other)
    assert not back.goes_on()
    assert not third.begins()
    assert item.go_on(lambda: None)
    assert (back.wakes, third.calls) == (0, 0)


def test_a_woken_item_holds_a_slot_as_soon_as_it_goes_on_or_looks_for_long(clock: HandClock) -> None:
    one, other, _ = three(clock, 3)
    going, looking = Item(one), Item(one)
    assert going.goes_on()
    other.item().give()
    held = []
    for seconds in (LOOK_SECONDS - 1, 1):
        clock.seconds += seconds
        held.append(looking.slot.is_held)
    assert held == [False, True]
    assert other.begins()
    assert not other.begins()


def test_an_item_whose_slot_was_taken_goes_on_before_every_repository_once_one_is_free(clock: HandClock) -> None:
    one, other, third = three(clock)
    item, work = Item(one), other.item()
    assert not third.begins(), "it waits since before"
    assert not item.goes_on()
    work.give()
    assert (item.wakes, item.slot.is_held) == (1, True)
    assert third.calls == 0
    assert not third.begins()
    item.slot.give()
    assert third.calls == 1
    assert third.begins()


def test_items_that_come_back_go_on_in_their_order_and_one_by_one(clock: HandClock) -> None:
    one, other, _ = three(clock)
    work = other.item()
    items = [Item(one), Item(other), Item(one)]
    assert not any(item.goes_on() for item in items)
    work.give()
    assert [item.wakes for item in items] == [1, 0, 0]
    items[1].slot.give()
    items[0].slot.give()
    assert [item.wakes for item in items] == [1, 0, 1], "who has ended meanwhile wants none any more"


def test_a_look_that_took_long_is_not_interrupted_but_the_next_step_waits(clock: HandClock) -> None:
    one, other, third = three(clock)
    item = Item(one)
    work = other.item()
    clock.seconds += LOOK_SECONDS
    assert item.slot.is_held, "on top of the limit"
    assert not item.goes_on()
    assert not third.begins()
    work.give()
    assert item.slot.is_held
    assert not third.begins()


def test_an_item_of_a_repository_that_has_its_share_holds_up_no_other(clock: HandClock) -> None:
    full, other, third = three(clock, 3, per_repository=1)
    item, work = Item(full), full.item()
    elsewhere = Item(other)
    assert not item.goes_on()
    assert elsewhere.goes_on()
    assert third.begins()
    work.give()
    assert item.wakes == 1
