"""Signals that begin work besides `status:ready`: the issues that show one, and the signal that is still unanswered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from command_world import World
from fakes.clock import HandClock
from fakes.unasked import UnaskedComments, UnaskedInbox, UnaskedIssues

from shared.commands.command import asks_for_work
from shared.commands.command_reader import LATE_SECONDS
from shared.commands.recovery import Recovery
from shared.commands.start_signals import NewIssues, Signal, StartRules, StartSignals, StartSources, newest
from shared.models import Account, Assignment, Comment, Issue, LabelEvent
from shared.workflow.labels import Labels

AT = datetime(2026, 11, 1, tzinfo=UTC)
ADA, BOT, BEA = Account(1, "ada"), Account(9, "engine-bot"), Account(2, "bea")
ISSUE = Issue(7, "Search", "", frozenset({"Good First Issue"}), ADA, AT, AT)
RULES = StartRules(labels=frozenset({"good first issue"}), assignee=BOT)
ASSIGNED = replace(ISSUE, labels=frozenset(), assignees=(BEA, BOT))


def test_a_label_in_any_case_and_an_assignment_beside_others_are_signals() -> None:
    assert RULES.shown(ISSUE, Labels())
    assert RULES.shown(ASSIGNED, Labels())
    renamed = replace(ASSIGNED, assignees=(Account(9, "engine-bot-2"),))
    assert RULES.shown(renamed, Labels()), "trust goes by the id"


@pytest.mark.parametrize(
    "issue",
    [
        replace(ISSUE, labels=frozenset({"bug"})),
        replace(ASSIGNED, assignees=(BEA, Account(3, "engine-bot"))),
        replace(ISSUE, open=False),
        replace(ISSUE, locked=True),
        replace(ISSUE, is_pull_request=True),
        *(
            replace(ISSUE, labels=ISSUE.labels | {label})
            for label in ("status:ready", "status:failed", "story", "flag:paused", "flag:spec-review-needed", "Blocked")
        ),
    ],
)
def test_what_shows_no_signal(issue: Issue) -> None:
    assert not replace(RULES, exclude=frozenset({"blocked"})).shown(issue, Labels())


def test_only_what_the_filter_takes_shows_a_signal() -> None:
    filtered = replace(RULES, include=frozenset({"Team-A"}))
    assert not filtered.shown(ISSUE, Labels())
    assert filtered.shown(replace(ISSUE, labels=ISSUE.labels | {"team-a"}), Labels())


def labelled(minutes: int, label: str, by: Account = ADA, *, added: bool = True) -> LabelEvent:
    return LabelEvent(minutes, label, added, by, AT + timedelta(minutes=minutes))


def test_the_newest_signal_counts_until_ready_was_set_or_removed() -> None:
    label, assigned = labelled(1, "GOOD first issue"), Assignment(2, BOT, BEA, AT + timedelta(minutes=2))
    assert newest(RULES, [label], [], "status:ready") == Signal(ADA, label.at, "GOOD first issue")
    assert newest(RULES, [label], [assigned], "status:ready") == Signal(BEA, assigned.at)
    assert newest(RULES, [label, labelled(3, "status:ready")], [assigned], "status:ready") is None
    assert newest(RULES, [labelled(3, "Status:Ready", added=False), label], [assigned], "status:ready") is None
    again = Assignment(4, BOT, ADA, AT + timedelta(minutes=4))
    assert newest(RULES, [labelled(3, "status:ready", added=False)], [assigned, again], "status:ready") is not None


def test_no_signal_comes_of_a_removal_or_of_another_persons_assignment() -> None:
    assert newest(RULES, [labelled(1, "good first issue", added=False)], [], "status:ready") is None
    assert newest(RULES, [labelled(1, "bug")], [Assignment(2, BEA, ADA, AT)], "status:ready") is None


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("@engine-bot please do this", True),
        ("Thanks!\n\n@Engine-Bot: go on.", True),
        ("@engine-bot can you do this?", False),
        ("请@engine-bot看一下", True),
        ("@engine-bot 这个怎么样\uff1f", False),
        ("@engine-bot هل يمكنك ذلك\u061f", False),
        ("> @engine-bot please do this", False),
        ("`@engine-bot` would do it", False),
        ("@engine-bot-2 please do this", False),
        ("please do this", False),
    ],
)
def test_a_mention_asks_for_work_unless_it_is_a_question(body: str, asks: bool) -> None:
    said = Comment(5, 7, ADA, body, AT, AT)
    assert asks_for_work(said, "engine-bot") is asks
    assert not asks_for_work(replace(said, updated_at=AT + timedelta(seconds=5)), "engine-bot"), "it was edited"
    assert not asks_for_work(said, ""), "an account that is a person's is mentioned for other reasons"


class NewestComments(UnaskedComments):
    """The newest comments, as far as the replica that was asked shows them."""

    def __init__(self, *shown: Comment) -> None:
        self.shown = shown
        self.readings = 0

    async def newest(self) -> tuple[Comment, ...]:
        self.readings += 1
        return self.shown


class Followed(UnaskedInbox):
    """The items that are followed."""

    def __init__(self) -> None:
        self.items: dict[int, Issue] = {}

    @property
    def known(self) -> Mapping[int, Issue]:
        return self.items

    def follow(self, listed: Issue) -> None:
        self.items[listed.number] = listed


@dataclass
class Repository:
    """A repository in which people comment, with the items that the agent follows."""

    comments: NewestComments = field(default_factory=NewestComments)
    lists: Followed = field(default_factory=Followed)
    clock: HandClock = field(default_factory=HandClock)
    listed: NewIssues = field(default_factory=NewIssues)

    def signals(self) -> StartSignals:
        world = World()
        sources = StartSources(UnaskedIssues(), self.comments, world.thread, self.listed, self.lists, self.clock.boot)
        recovery = Recovery(world, world, world, world, Labels())  # type: ignore[arg-type]
        return StartSignals(StartRules(), sources, world, recovery, (world, world))  # type: ignore[arg-type]


NEW = replace(ISSUE, labels=frozenset(), comments=2)
START, THANKS = (Comment(n, 7, ADA, body, AT, AT) for n, body in ((5, "/start"), (4, "Thanks!")))


async def test_an_order_that_the_newest_comments_do_not_show_yet_is_looked_for_again() -> None:
    """The list of issues counts it already; the list of comments comes from a replica that is behind."""
    there = Repository(NewestComments(THANKS))
    signals = there.signals()
    there.listed.note([NEW])
    await signals.look()
    assert not there.lists.items
    there.comments.shown, there.clock.seconds = (START, THANKS), there.clock.seconds + 30
    await signals.look()
    assert there.lists.items == {7: NEW}


@pytest.mark.parametrize(("shown", "seconds"), [((THANKS, replace(THANKS, id=6)), 1.0), ((THANKS,), LATE_SECONDS)])
async def test_comments_that_are_all_shown_or_are_late_for_too_long_are_not_asked_for_again(
    shown: tuple[Comment, ...], seconds: float
) -> None:
    """A thread that is longer than the list of the newest comments never shows as many as it counts."""
    there = Repository(NewestComments(*shown))
    signals = there.signals()
    there.listed.note([NEW])
    await signals.look()
    there.clock.seconds += seconds
    await signals.look()
    readings = there.comments.readings
    await signals.look()
    assert (there.comments.readings, there.lists.items) == (readings, {})
    there.listed.note([replace(NEW, comments=3)])
    there.comments.shown = (START, *shown)
    await signals.look()
    assert there.lists.items
