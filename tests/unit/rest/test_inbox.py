"""The inbox: which lists it believes, what it reads singly, and that no change is lost to a failed read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.clock import HandClock
from fakes.unasked import UnaskedIssues

from shared.errors import Gone, Transient
from shared.github.inbox import DOUBT_SECONDS, PAGE, SWEEP_SECONDS, Inbox, Ties
from shared.models import Account, Issue

AT = datetime(2026, 1, 5, tzinfo=UTC)
READY = "status:ready"


def issue(number: int, *labels: str, open: bool = True) -> Issue:
    return Issue(number, "", "", frozenset(labels), Account(1, "ada"), AT, AT, open)


FULL = tuple(issue(number) for number in range(100, 100 + PAGE))
"""A page behind which there may be more."""


@dataclass
class FakeIssues(UnaskedIssues):
    """A repository's items and the lists that were made of them."""

    items: dict[int, Issue]
    changed: bool = True
    asked: list[str] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    failing: set[int] = field(default_factory=set)
    page: tuple[Issue, ...] | None = None
    failing_lists: int = 0
    shown: dict[int, Issue] = field(default_factory=dict)
    """The versions of items that sweeps show instead of the current ones."""
    meanwhile: Callable[[], object] = lambda: None
    """The callback that runs while an item is read."""

    async def recent(self) -> tuple[Issue, ...] | None:
        self.asked.append("recent")
        if not self.changed:
            return None
        self.changed = False
        shown = (one for one in self.items.values() if one.open and one.number not in self.hidden)
        return self.page or tuple(shown)

    async def open(self) -> tuple[Issue, ...]:
        self.asked.append("open")
        every = (self.items | self.shown).values()
        return tuple(found for found in every if found.open and found.number not in self.hidden)

    async def labelled(self, label: str) -> tuple[Issue, ...]:
        self.asked.append(label)
        if self.failing_lists:
            self.failing_lists -= 1
            raise Transient("502")
        every = (self.items | self.shown).values()
        shown = [found for found in every if found.open and found.number not in self.hidden]
        return tuple(found for found in shown if label.casefold() in {name.casefold() for name in found.labels})

    async def assigned(self, login: str) -> tuple[Issue, ...]:
        self.asked.append(f"@{login}")
        return tuple(found for found in self.items.values() if login in {one.login for one in found.assignees})

    async def issue(self, number: int) -> Issue:
        self.asked.append(f"#{number}")
        self.meanwhile()
        if number in self.failing:
            raise Transient("502")
        if number not in self.items:
            raise Gone
        return self.items[number]

    def put(self, *issues: Issue) -> None:
        """Put issues, as after a change."""
        self.items |= {found.number: found for found in issues}
        self.changed = True


def inbox(issues: FakeIssues, clock: HandClock | None = None) -> Inbox:
    return Inbox(issues, [READY, "status:testing"], clock or HandClock())


async def test_a_first_list_that_is_not_full_is_all_that_is_asked_for() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, "bug")})
    box = inbox(issues)
    assert set(await box.look()) == {1}
    assert issues.asked == ["recent"]
    assert box.known[1].labels == {READY}


async def test_beside_a_full_list_the_first_look_sweeps_by_label() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, "bug")}, page=FULL)
    box = inbox(issues)
    assert set(await box.look()) == {1}
    assert issues.asked == ["recent", READY, "status:testing"]
    assert box.known[1].labels == {READY}


async def test_what_is_assigned_to_the_agent_is_followed_whatever_its_labels() -> None:
    us, them = Account(9, "engine-bot"), Account(3, "ada")
    both, another = replace(issue(2), assignees=(them, us)), replace(issue(3), assignees=(them,))
    issues = FakeIssues({1: issue(1, "bug"), 2: both, 3: another})
    assert set(await Inbox(issues, [READY], HandClock(), ties=Ties(assignee=us)).look()) == {2}
    assert issues.asked == ["recent"]
    full = FakeIssues(issues.items, page=FULL)
    assert set(await Inbox(full, [READY], HandClock(), ties=Ties(assignee=us)).look()) == {2}
    assert full.asked == ["recent", READY, "@engine-bot"]


async def test_an_item_that_was_named_is_followed_until_it_is_closed() -> None:
    box = inbox(issues := FakeIssues({1: issue(1, "bug")}))
    await box.look()
    box.follow(issue(1, "bug"))
    assert box.known == {1: issue(1, "bug")}
    issues.put(issue(1, "docs"))
    assert (await box.look())[1].labels == {"docs"}
    issues.put(replace(issue(1), open=False))
    assert await box.look() == {}


@pytest.mark.fault(9)
async def test_a_sweep_that_fails_loses_no_list() -> None:
    issues = FakeIssues({number: issue(number, READY) for number in range(1, PAGE + 1)}, failing_lists=1)
    box = inbox(issues)
    with pytest.raises(Transient):
        await box.look()
    assert len(await box.look()) == PAGE
    assert issues.asked == ["recent", READY, "recent", READY, "status:testing"]


async def test_an_unchanged_list_costs_one_request_and_changes_nothing() -> None:
    issues = FakeIssues({1: issue(1, READY)})
    box = inbox(issues)
    await box.look()
    issues.asked.clear()
    assert set(await box.look()) == {1}
    assert issues.asked == ["recent"]


async def test_every_ten_minutes_it_sweeps_again() -> None:
    issues, clock = FakeIssues({}), HandClock()
    box = inbox(issues, clock)
    await box.look()
    clock.seconds += SWEEP_SECONDS - 1
    issues.items |= {3: issue(3, "STATUS:Testing"), 4: issue(4, "bug")}
    assert not await box.look()
    assert issues.asked == ["recent", "recent"]
    clock.seconds += 1
    known = await box.look()
    assert set(known) == {3}, "whatever the change list said"
    assert issues.asked[2:] == ["recent", "open"]
    clock.seconds += SWEEP_SECONDS
    assert await box.look() is known


async def test_beside_a_full_list_it_sweeps_by_label_every_ten_minutes() -> None:
    issues, clock = FakeIssues({}, page=FULL), HandClock()
    box = inbox(issues, clock)
    await box.look()
    clock.seconds += SWEEP_SECONDS - 1
    await box.look()
    assert issues.asked.count(READY) == 1
    clock.seconds += 1
    issues.items[3] = issue(3, "STATUS:Testing")
    assert set(await box.look()) == {3}
    assert issues.asked.count(READY) == 2


async def test_new_labels_arrive_and_a_known_item_is_followed_when_it_loses_them() -> None:
    issues = FakeIssues({})
    box = inbox(issues)
    await box.look()
    issues.put(issue(1, "Status:Ready"), issue(2, "bug"))
    assert set(await box.look()) == {1}
    issues.put(issue(1))
    assert (await box.look())[1].labels == frozenset()


@pytest.mark.fault(11)
@pytest.mark.parametrize(
    ("now", "known"), [(issue(1, READY), {1}), (issue(1, READY, open=False), set()), (None, set())]
)
async def test_an_item_missing_from_a_short_list_is_read_before_anything_is_concluded(
    now: Issue | None, known: set[int]
) -> None:
    issues = FakeIssues({1: issue(1, READY)})
    box = inbox(issues)
    await box.look()
    issues.hidden = {1}
    if now is None:
        del issues.items[1]
    else:
        issues.items[1] = now
    issues.changed = True
    assert set(await box.look()) == known
    assert issues.asked[-1] == "#1"


@pytest.mark.fault(11)
async def test_an_item_that_a_list_lacks_is_read_again_while_its_reading_may_be_the_old_one() -> None:
    issues, clock = FakeIssues({1: issue(1, READY)}), HandClock()
    box = inbox(issues, clock)
    await box.look()
    issues.hidden, issues.changed = {1}, True
    known = await box.look()
    assert set(known) == {1}
    assert await box.look() is known, "nothing has changed"
    issues.items[1] = issue(1, READY, open=False)  # its list is not sent once more
    clock.seconds += DOUBT_SECONDS - 1
    assert set(await box.look()) == set()
    assert set(box.gone) == {1}


@pytest.mark.fault(11)
async def test_an_old_list_is_not_doubted_for_ever() -> None:
    issues, clock = FakeIssues({1: issue(1, READY)}), HandClock()
    box = inbox(issues, clock)
    await box.look()
    issues.hidden, issues.changed = {1}, True
    await box.look()
    clock.seconds += DOUBT_SECONDS
    assert set(await box.look()) == {1}
    issues.asked.clear()
    assert set(await box.look()) == {1}
    assert issues.asked == ["recent"]


async def test_a_full_page_concludes_nothing() -> None:
    issues = FakeIssues({1: issue(1, READY)})
    box = inbox(issues)
    await box.look()
    issues.page = FULL
    issues.changed = True
    assert set(await box.look()) == {1}
    assert issues.asked[-1] == "recent"


@pytest.mark.parametrize(
    ("seconds", "read"), [(-1, []), (0, []), (1, ["#1"])], ids=["older than the last row", "as old", "newer"]
)
async def test_a_full_page_lacks_only_what_is_newer_than_its_last_row(seconds: int, read: list[str]) -> None:
    held = replace(issue(1, READY), updated_at=AT + timedelta(seconds=seconds))
    issues = FakeIssues({1: held})
    box = inbox(issues)
    await box.look()
    issues.put(replace(held, open=False))
    later = AT + timedelta(hours=1)
    issues.page = (*(replace(issue(n), updated_at=later) for n in range(101, 100 + PAGE)), issue(100))
    issues.asked.clear()
    assert set(await box.look()) == (set() if read else {1})
    assert issues.asked == ["recent", *read]
    assert set(box.gone) == ({1} if read else set())


@pytest.mark.fault(11)
async def test_an_item_that_a_sweep_lacks_is_read_singly() -> None:
    issues, clock = FakeIssues({1: issue(1, READY)}), HandClock()
    box = inbox(issues, clock)
    await box.look()
    issues.hidden, clock.seconds = {1}, clock.seconds + SWEEP_SECONDS
    assert set(await box.look()) == {1}
    assert issues.asked[-1] == "#1"


@pytest.mark.fault(9)
async def test_a_failed_single_read_loses_no_change_and_is_repeated() -> None:
    issues = FakeIssues({1: issue(1, READY)})
    box = inbox(issues)
    await box.look()
    issues.put(replace(issues.items[1], open=False), issue(2, READY))
    issues.failing = {1}
    with pytest.raises(Transient):
        await box.look()
    assert set(box.known) == {1, 2}  # the list is not sent a second time
    issues.failing = set()
    assert set(await box.look()) == {2}
    issues.asked.clear()
    await box.look()
    assert issues.asked == ["recent"]


@pytest.mark.parametrize("is_open", [True, False])
async def test_what_ends_by_our_own_hand_while_it_is_read_is_known_no_more(is_open: bool) -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, READY)})
    box = inbox(issues)
    await box.look()
    issues.hidden = {1}
    issues.put(issue(1, READY, open=is_open))
    issues.meanwhile = lambda: box.dismiss(1)
    assert set(await box.look()) == {2}
    assert box.gone == {}
    issues.changed = True
    issues.asked.clear()
    await box.look()
    assert issues.asked == ["recent"], "and nobody looks for it again"


async def test_what_cannot_concern_an_agent_is_neither_followed_nor_read() -> None:
    issues, clock = FakeIssues({1: issue(1, READY), 2: replace(issue(2, READY), is_pull_request=True)}), HandClock()
    box = Inbox(issues, [READY], clock, concerns=lambda item: not item.is_pull_request)
    assert set(await box.look()) == {1}
    issues.put(replace(issue(3, READY), is_pull_request=True))
    assert set(await box.look()) == {1}
    issues.put(replace(issues.items[3], open=False), replace(issues.items[2], open=False))
    issues.asked.clear()
    assert set(await box.look()) == {1}
    assert issues.asked == ["recent"]


async def test_versions_are_those_of_the_last_list_and_unknown_beyond_it() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, "bug")})
    box = inbox(issues)
    assert box.version(2) is None
    await box.look()
    assert (box.version(1), box.version(2), box.version(9)) == (issue(1).updated_at, issue(2).updated_at, None)


async def test_what_a_look_finds_closed_is_told_once() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, READY), 3: issue(3, READY)})
    box = inbox(issues)
    await box.look()
    assert box.gone == {}
    issues.put(closed := issue(1, READY, open=False))
    del issues.items[2]
    await box.look()
    assert box.gone == {1: closed}
    await box.look()
    assert box.gone == {}


@pytest.mark.fault(9)
async def test_what_was_found_closed_is_told_although_the_look_failed() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, READY)})
    box = inbox(issues)
    await box.look()
    issues.put(closed := issue(1, READY, open=False), issue(2, READY, open=False))
    issues.failing = {2}
    with pytest.raises(Transient):
        await box.look()
    issues.failing = set()
    await box.look()
    assert box.gone == {1: closed, 2: issues.items[2]}


@pytest.mark.parametrize(("mourned", "read"), [(True, ["#2"]), (False, [])])
async def test_what_matters_to_nobody_is_forgotten_unread_and_comes_back_with_a_list(
    mourned: bool, read: list[str]
) -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2, READY)})
    told: list[tuple[int, set[int]]] = []

    def needs_followup(one: Issue, listed: Mapping[int, Issue]) -> bool:
        told.append((one.number, set(listed)))
        return mourned

    box = Inbox(issues, [READY], HandClock(), ties=Ties(needs_followup))
    await box.look()
    issues.asked.clear()
    issues.hidden = {2}
    issues.changed = True
    assert set(await box.look()) == ({1, 2} if mourned else {1})
    assert told == [(2, {1})]
    assert issues.asked == ["recent", *read]
    assert not box.gone
    issues.hidden = set()
    issues.changed = True
    assert set(await box.look()) == {1, 2}


async def test_what_belongs_to_a_known_item_is_followed_without_a_label() -> None:
    issues = FakeIssues({1: issue(1, READY), 2: issue(2), 3: issue(3)})
    box = Inbox(issues, [READY], HandClock(), ties=Ties(belongs=lambda one, known: one.number == 2 and 1 in known))
    assert set(await box.look()) == {1, 2}
    assert set(await Inbox(issues, [READY], HandClock()).look()) == {1}, "as a rule it is not"


@pytest.mark.fault(11)
@pytest.mark.parametrize("full", [False, True], ids=["by one other list", "by label"])
async def test_a_sweep_that_shows_what_was_does_not_take_the_place_of_what_is(full: bool) -> None:
    issues, clock = FakeIssues({1: replace(issue(1, READY), updated_at=AT + timedelta(hours=1))}), HandClock()
    issues.page = (issues.items[1], *FULL[1:]) if full else None
    box = Inbox(issues, [READY, "bug"], clock)
    await box.look()
    now = issues.items[1]
    issues.shown = {1: issue(1, "bug")}
    for _ in range(3):
        clock.seconds += SWEEP_SECONDS
        assert (await box.look())[1].labels == {READY}
        assert issues.asked[-1] == "#1", "the item is read"
    issues.shown = {1: replace(issue(1, "bug"), updated_at=AT + timedelta(hours=2))}
    issues.items[1] = issues.shown[1]
    clock.seconds += SWEEP_SECONDS
    assert (await box.look())[1].labels == {"bug"} != now.labels, "whatever the change list said"
