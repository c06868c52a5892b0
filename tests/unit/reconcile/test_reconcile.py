"""The reconciler's tables: what labels say beside a fence, which labels were lost, what becomes of an orphan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from fakes.unasked import UnaskedIssues, UnaskedLabels
from reconcile_scene import ADA, BOT, IMPLEMENTING, NAMES, NOW, READY, REVIEWING, TESTING, item

from reviewer_agent.candidates import before as before_of_reviewer
from shared.errors import Transient
from shared.models import Account, Issue, LabelEvent
from shared.reconcile.label_drift import Sign, sign, unknown, was_taken_off
from shared.reconcile.lost import LostLabels
from shared.workflow import Stage
from shared.workflow.labels import Labels
from worker_agent.expected_labels import before as before_of_worker


def event(label: str, added: bool, actor: Account = ADA) -> LabelEvent:
    return LabelEvent(1, label, added, actor, NOW)


@pytest.mark.fault(16)
@pytest.mark.parametrize(
    ("shown", "recorded", "before", "said"),
    [
        ({TESTING}, TESTING, before_of_worker, Sign.AGREES),
        ({IMPLEMENTING}, TESTING, before_of_worker, Sign.LAGS),
        ({TESTING, READY}, TESTING, before_of_worker, Sign.LAGS),
        ({TESTING, Stage.FAILED}, TESTING, before_of_worker, Sign.LAGS),
        ({Stage.FAILED}, TESTING, before_of_worker, Sign.MOVED),
        ({READY}, TESTING, before_of_worker, Sign.MOVED),
        (set(), TESTING, before_of_worker, Sign.BARE),
        ({Stage.FAILED}, REVIEWING, before_of_worker, Sign.LAGS),  # a person leads on by the pull request
        ({REVIEWING}, Stage.IN_REVIEW, before_of_reviewer, Sign.LAGS),
        ({Stage.CHANGES_REQUESTED}, Stage.IN_REVIEW, before_of_reviewer, Sign.MOVED),
        ({Stage.APPROVED}, Stage.CHANGES_REQUESTED, before_of_reviewer, Sign.LAGS),
    ],
)
def test_what_stage_labels_say_beside_the_fence(
    shown: set[Stage], recorded: Stage, before: Callable[[Stage], frozenset[Stage]], said: Sign
) -> None:
    assert sign(frozenset(shown), recorded, before(recorded)) is said


@pytest.mark.fault(16)
def test_a_label_that_only_looks_like_a_stage_is_named() -> None:
    shown = ["status:redy", "STATUS:Ready", "status:new", "bug", "flag:paused", "Status:Foo"]
    assert unknown(NAMES, shown) == {"status:redy", "status:new", "Status:Foo"}
    assert unknown(Labels(status_prefix=""), shown) == frozenset()


@pytest.mark.parametrize(
    ("events", "taken"),
    [
        ([event("status:testing", True)], False),
        ([event("Status:Testing", True), event("bug", False)], False),
        ([event("status:testing", True), event("status:testing", False)], True),
        ([event("status:testing", False), event("status:testing", True)], False),
        ([event("status:ready", True)], True),
        ([], True),
    ],
)
def test_a_label_was_taken_off_when_its_removal_is_the_last_that_happened_to_it(
    events: list[LabelEvent], taken: bool
) -> None:
    assert was_taken_off(events, "status:testing") is taken


@dataclass
class FakeGitHub(UnaskedIssues, UnaskedLabels):
    """One item, its events and the label definitions."""

    issue_now: Issue
    events: list[LabelEvent] = field(default_factory=lambda: [event("status:testing", True)])
    defined: bool = False
    asked: list[str] = field(default_factory=list)

    async def issue(self, number: int) -> Issue:
        self.asked.append("issue")
        return self.issue_now

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        self.asked.append("events")
        return tuple(self.events)

    async def is_defined(self, stage: Stage) -> bool:
        self.asked.append("definition")
        return self.defined


async def restored(github: FakeGitHub, stage: Stage | None = TESTING) -> frozenset[str]:
    lost = LostLabels(github, github, NAMES, {BOT.id}, before_of_worker)
    return (await lost.restored(github.issue_now, stage, NOW)).labels


@pytest.mark.fault(15)
@pytest.mark.parametrize("defined", [False, True])
async def test_a_label_that_nobody_took_off_was_lost(defined: bool) -> None:
    assert await restored(FakeGitHub(item("bug"), defined=defined)) == {"bug", "status:testing"}


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    "github",
    [
        FakeGitHub(item(), [event("status:testing", True), event("status:testing", False)]),
        FakeGitHub(item(), []),
        FakeGitHub(replace(item(), updated_at=NOW - timedelta(seconds=5)), defined=True),
        FakeGitHub(item(open=False)),
    ],
    ids=["taken off", "never set", "changed just now", "closed"],
)
async def test_a_doubt_counts_for_the_person(github: FakeGitHub) -> None:
    assert await restored(github) == frozenset()


LATE = event("status:implementing", False, BOT)
"""The removal that ends our move from implementing to testing: it leaves a label unless another write came late."""


@pytest.mark.fault(15)
async def test_a_label_that_only_a_late_write_of_ours_took_off_was_lost() -> None:
    assert await restored(FakeGitHub(item(), [LATE], defined=True)) == {"status:testing"}


@pytest.mark.parametrize(
    "events",
    [
        [event("status:implementing", False)],
        [event("status:testing", True, BOT), event("status:testing", False, BOT)],
        [LATE, event("status:testing", True, BOT), event("status:testing", False)],
        [event("status:ready", True)],
    ],
    ids=["a person's", "by the shared account, what it shows", "a person's after ours", "never shown"],
)
async def test_any_other_removal_is_a_person_s_order(events: list[LabelEvent]) -> None:
    assert await restored(FakeGitHub(item(), events, defined=True)) == frozenset()


async def test_a_late_write_is_believed_only_when_its_events_have_settled() -> None:
    just_now = replace(item(), updated_at=NOW - timedelta(seconds=5))
    with pytest.raises(Transient, match="in a minute"):
        await restored(FakeGitHub(just_now, [LATE], defined=True))


@pytest.mark.parametrize(("labels", "stage"), [((TESTING,), TESTING), ((READY,), TESTING), ((), None)])
async def test_an_item_with_a_stage_label_costs_no_question(labels: tuple[Stage, ...], stage: Stage | None) -> None:
    github = FakeGitHub(item(*labels))
    await restored(github, stage)
    assert github.asked == []
