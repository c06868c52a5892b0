"""The work that a request for changes begins: whose label asks for it, whether anything was said, and the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from shared.ci.ci_round import SENT_BACK
from shared.github.errors import NotShown
from shared.lock.claim import Intent
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import ReadFence, Reply
from shared.models import Account, Issue, LabelEvent, Permission, PullRequest
from shared.specification import body_sha256
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels
from worker_agent.branch.history import History
from worker_agent.decide import Head, NextStep
from worker_agent.feedback.items import Item
from worker_agent.feedback.reading import Feedback, FeedbackSnapshot
from worker_agent.intake.requests import Requests
from worker_agent.intake.trusted_accounts import OtherAccounts, TrustedWriters

AT = datetime(2026, 1, 5, tzinfo=UTC)
LATER = AT + timedelta(seconds=9)
MUCH_LATER = AT + timedelta(minutes=3)
BOT, ADA = Account(99, "engine-bot"), Account(7, "ada")
HEAD, CHANGES = "b" * 40, "status:changes-requested"
ISSUE = Issue(42, "Title", "Greet people.", frozenset(), ADA, AT, AT)
PULL = PullRequest(57, "Title", "", BOT, frozenset({CHANGES}), "auto/issue-42", HEAD, "main")
TEXT = body_sha256(ISSUE.title, ISSUE.body)
ROUND = Intent(Stage.IMPLEMENTING, NextStep.FEEDBACK, round=4, pr=57)
OVER = Intent(Stage.IMPLEMENTING, NextStep.ROUNDS, pr=57)


@dataclass
class Hub:
    """The pull request's label events, the reviewer's fence, and how many remarks are open."""

    actor: Account
    requested: Fence | None
    remarks: int = 0
    at: datetime = LATER
    stands: Head = Head.OURS
    behind: bool = False
    """The list of events ends with the round before."""

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        assert number == PULL.number
        old = LabelEvent(1, CHANGES, True, Account(5, "old"), AT - timedelta(days=1))
        if self.behind:
            return old, replace(old, added=False, actor=BOT)
        return old, LabelEvent(2, CHANGES.title(), True, self.actor, self.at), LabelEvent(3, "bug", True, ADA, LATER)

    async def request(self, operation: Any) -> Reply[Any]:
        assert isinstance(operation, ReadFence)
        assert operation.item == ItemKey(Role.REVIEWER, PULL.number)
        return Reply(self.requested, AT)

    async def read(self, number: int) -> FeedbackSnapshot:
        return FeedbackSnapshot(items=(cast(Item, None),) * self.remarks)

    async def relation(self, fence: Fence, head_sha: str) -> Head:
        assert (fence.work_head, head_sha) != (HEAD, HEAD), "git is asked about other heads only"
        return self.stands

    async def permission(self, login: str) -> Permission:
        raise AssertionError("whose label counts is asked elsewhere")


def reviewers(stage: Stage = Stage.CHANGES_REQUESTED, phase: str = SENT_BACK, head: str = HEAD) -> Fence:
    return Fence(ItemKey(Role.REVIEWER, 57), 3, "n", "reviewer-1", stage, AT, phase=phase, work_head=head, pr=57)


def workers(stage: Stage = Stage.REVIEWING, round: int = 3, text: str = TEXT) -> Fence:
    key = ItemKey(Role.WORKER, 42)
    return Fence(key, 2, "n", "worker-1", stage, AT, round=round, pr=57, work_head=HEAD, body_sha256=text)


async def refined(hub: Hub, intent: Intent, fence: Fence) -> Intent:
    siblings = OtherAccounts(cast(Any, hub).request, (), Keyring(1))
    requests = Requests(
        cast(Any, hub), cast(History, hub), siblings, TrustedWriters(hub, {BOT.id}), cast(Feedback, hub), Labels()
    )
    return await requests.refined(intent, ISSUE, PULL, fence)


@pytest.mark.parametrize(
    ("hub", "intent", "round", "comes_to"),
    [
        (Hub(BOT, reviewers()), ROUND, 3, replace(ROUND, phase=NextStep.CI, round=3)),
        (Hub(BOT, reviewers()), ROUND, 0, replace(ROUND, phase=NextStep.CI, round=1)),
        (Hub(BOT, reviewers()), OVER, 3, replace(OVER, phase=NextStep.CI, round=3)),
        (Hub(BOT, reviewers(), remarks=1), ROUND, 2, ROUND),
        (Hub(BOT, reviewers(), remarks=1), OVER, 3, replace(OVER, phase=NextStep.CI, round=3)),
        (Hub(BOT, reviewers(head="c" * 40)), ROUND, 3, ROUND),
        (Hub(BOT, reviewers(phase="")), ROUND, 3, ROUND),
        (Hub(BOT, reviewers(phase="")), OVER, 3, replace(OVER, phase=NextStep.FEEDBACK, round=4)),
        (Hub(BOT, None), OVER, 3, OVER),
        (Hub(ADA, reviewers(), at=MUCH_LATER), ROUND, 2, ROUND),
        (Hub(ADA, reviewers(), at=MUCH_LATER), OVER, 3, OVER),
        (Hub(ADA, reviewers(phase="")), OVER, 3, replace(OVER, phase=NextStep.FEEDBACK, round=4)),
    ],
    ids=[
        "its checks",
        "its checks, first round",
        "its checks, rounds used up",
        "its checks, and remarks",
        "its checks, and remarks, rounds used up",
        "another commit's",
        "its review",
        "its review, which counts its own rounds",
        "nobody's, rounds used up",
        "a person's hand",
        "a person's hand, rounds used up",
        "a reviewer with a token of its own, which counts its own rounds",
    ],
)
async def test_a_late_red_check_is_no_round_of_changes_unless_somebody_asks_for_one(
    hub: Hub, intent: Intent, round: int, comes_to: Intent
) -> None:
    assert await refined(hub, intent, workers(round=round)) == comes_to


RESTING = reviewers(Stage.IN_REVIEW, "")
NEW: Mapping[str, Any] = {"phase": NextStep.TEXT, "body_sha256": TEXT}


@pytest.mark.parametrize(
    ("hub", "text", "changed"),
    [
        (Hub(ADA, RESTING), "e" * 64, NEW),
        (Hub(BOT, RESTING), "e" * 64, NEW),
        (Hub(BOT, RESTING, at=AT - timedelta(seconds=1)), "e" * 64, {}),
        (Hub(BOT, reviewers(phase="")), "e" * 64, {}),
        (Hub(ADA, reviewers(phase=""), at=MUCH_LATER), "e" * 64, NEW),
        (Hub(ADA, reviewers(phase="")), "e" * 64, {}),
        (Hub(ADA, RESTING), TEXT, {}),
        (Hub(ADA, RESTING), "", {}),
    ],
    ids=[
        "a person",
        "who shares our account",
        "an old label of ours",
        "our reviewer",
        "a person beside it",
        "our reviewer with a token of its own",
        "the same text",
        "bound to none",
    ],
)
async def test_a_persons_label_is_consent_to_the_text_that_stands_there_and_the_engines_is_not(
    hub: Hub, text: str, changed: Mapping[str, Any]
) -> None:
    assert await refined(hub, ROUND, workers(text=text)) == replace(ROUND, **changed)


async def test_what_was_not_handed_over_is_left_as_it_is() -> None:
    for stage in (Stage.FAILED, Stage.READY, Stage.WITHDRAWN):
        assert await refined(Hub(ADA, RESTING), ROUND, workers(stage, text="e" * 64)) == ROUND
    goes_on = Intent(Stage.REVIEWING, "", pr=57)
    assert await refined(Hub(ADA, RESTING), goes_on, workers(text="e" * 64)) == goes_on


@pytest.mark.parametrize(
    ("hub", "counts"),
    [
        (Hub(ADA, RESTING, stands=Head.FOREIGN), True),
        (Hub(ADA, RESTING, stands=Head.AHEAD), False),
        (Hub(ADA, RESTING, stands=Head.BEHIND), False),
        (Hub(BOT, reviewers(phase=""), stands=Head.FOREIGN), False),
    ],
    ids=["rewritten", "built upon", "GitHub is late", "nobody has asked"],
)
async def test_a_head_that_was_rewritten_counts_for_who_asks_for_changes_of_it(hub: Hub, counts: bool) -> None:
    ours = replace(workers(), work_head="a" * 40)
    found = await refined(hub, ROUND, ours)
    assert found.work_head == (HEAD if counts else None)


async def test_events_that_do_not_show_who_has_set_the_label_are_asked_again() -> None:
    """By the round before it would be the engine's: a person's consent to the new text would be lost."""
    hub = Hub(ADA, RESTING, behind=True)
    with pytest.raises(NotShown, match="who set"):
        await refined(hub, ROUND, workers(text="e" * 64))
    hub.behind = False
    assert (await refined(hub, ROUND, workers(text="e" * 64))).phase == NextStep.TEXT
