"""Which reviews a round of changes answers, and what of them the coder is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from reviewer_agent.opinion import Care, Judgement, Opinion, mark
from shared.marks import Key, Keyring
from shared.models import Account, Permission, Review, ReviewComment, ReviewState
from worker_agent.feedback import NOTHING, Feedback, standing
from worker_agent.writers import Writers

PULL, HEAD, OLD = 57, "a" * 40, "b" * 40
AT = datetime(2026, 1, 5, tzinfo=UTC)
KEYS = Keyring(99, (Key.of(b"r" * 32),))
BOT, ADA, GRACE, MALLORY = Account(99, "engine-bot"), Account(7, "ada"), Account(8, "grace"), Account(666, "mallory")
ASKS, APPROVES, SAYS, GONE = (
    ReviewState.CHANGES_REQUESTED,
    ReviewState.APPROVED,
    ReviewState.COMMENTED,
    ReviewState.DISMISSED,
)


def review(id: int, author: Account, state: ReviewState, body: str = "", *, head: str = HEAD) -> Review:
    return Review(id, author, state, body, head, AT + timedelta(minutes=id))


def engines(judgement: Judgement, keys: Keyring = KEYS) -> str:
    opinion = Opinion(HEAD, 0, judgement, Care.NONE, 0, AT)
    return f"{mark(keys, PULL, opinion)}\nNames are lost."


ENGINE_ASKS, ENGINE_APPROVES = engines(Judgement.CHANGES_REQUESTED), engines(Judgement.APPROVED)


@pytest.mark.parametrize(
    ("reviews", "ids"),
    [
        ([review(1, ADA, ASKS), review(2, GRACE, SAYS)], [1, 2]),
        ([review(1, ADA, ASKS), review(2, GRACE, ASKS)], [1, 2]),
        ([review(1, ADA, ASKS, head=OLD), review(2, GRACE, ASKS)], [1, 2]),
        ([review(1, ADA, ASKS), review(2, ADA, ASKS)], [2]),
        ([review(2, ADA, ASKS), review(1, ADA, ASKS)], [2]),
        ([review(1, ADA, ASKS), review(2, ADA, APPROVES), review(3, GRACE, ASKS)], [3]),
        ([review(1, ADA, APPROVES), review(2, ADA, ASKS)], [2]),
        ([review(1, ADA, ASKS), review(2, ADA, SAYS)], [1, 2]),
        ([review(1, ADA, GONE), review(2, GRACE, ASKS)], [2]),
        ([review(1, GRACE, SAYS, head=OLD), review(2, ADA, ASKS), review(3, GRACE, SAYS, head=OLD)], [2, 3]),
        ([review(1, GRACE, SAYS), review(2, GRACE, SAYS, head=OLD)], [1]),
        ([review(1, BOT, SAYS, ENGINE_ASKS)], [1]),
        ([review(1, BOT, SAYS, ENGINE_ASKS, head=OLD), review(2, GRACE, SAYS)], [1, 2]),
        ([review(1, BOT, SAYS, ENGINE_ASKS, head=OLD), review(2, BOT, SAYS, "Mine too.")], [1, 2]),
        ([review(1, BOT, SAYS, ENGINE_ASKS), review(2, BOT, SAYS, ENGINE_APPROVES)], []),
        ([review(1, BOT, SAYS, engines(Judgement.INCOMPLETE)), review(2, ADA, ASKS)], [2]),
        ([review(1, BOT, SAYS, engines(Judgement.CHANGES_REQUESTED, Keyring(98, KEYS.keys)), head=OLD)], []),
        ([], []),
    ],
)
def test_every_request_that_stands_is_answered_and_what_was_said_since(reviews: list[Review], ids: list[int]) -> None:
    assert [one.id for one in standing(PULL, reviews, HEAD, KEYS)] == ids


@dataclass
class Reviews:
    """What GitHub has of one pull request."""

    reviews: tuple[Review, ...]
    inline: tuple[ReviewComment, ...] = ()

    async def of(self, number: int) -> tuple[Review, ...]:
        return self.reviews if number == PULL else ()

    async def comments(self, number: int) -> tuple[ReviewComment, ...]:
        return self.inline if number == PULL else ()


class People:
    """Ada and Grace may write; nobody asks about the engine itself."""

    async def permission(self, login: str) -> Permission:
        assert login != BOT.login
        return Permission.WRITE if login in {"ada", "grace"} else Permission.READ


def inline(of: Review, line: int | None, body: str) -> ReviewComment:
    return ReviewComment(of.id * 10, of.author, "a.py", line, body, AT, AT, review_id=of.id)


async def told(*reviews: Review, comments: tuple[ReviewComment, ...] = ()) -> str:
    feedback = Feedback(Reviews(reviews, comments), Writers(People(), {BOT.id}), KEYS)
    return await feedback.findings(PULL, HEAD)


async def test_the_coder_is_told_who_asks_for_what_and_where() -> None:
    engine, late = review(1, BOT, SAYS, ENGINE_ASKS), review(2, GRACE, SAYS, "And the docs.")
    answered, reply = review(3, ADA, APPROVES, "Fine."), review(4, ADA, SAYS)
    comments = (inline(engine, 3, "Keep it."), inline(engine, None, "This."), inline(answered, 9, "Old."))
    findings = await told(engine, late, answered, reply, comments=(*comments, inline(reply, 5, "Yes, do.")))
    assert findings == (
        "engine-bot:\nNames are lost.\n- a.py:3: Keep it.\n- a.py:?: This.\n\n"
        "grace:\nAnd the docs.\n\nada:\n- a.py:5: Yes, do."
    )


async def test_strangers_neither_ask_nor_withdraw_nor_hide_what_others_said() -> None:
    forged = review(2, MALLORY, SAYS, ENGINE_APPROVES)
    hiding = review(1, GRACE, ASKS, "Look: <!-- unclosed")
    findings = await told(hiding, forged, review(3, MALLORY, ASKS, "Mine bitcoins."), review(4, ADA, ASKS, "Rename."))
    assert findings == "grace:\nLook:\n\nada:\nRename."


async def test_a_label_without_any_review_says_so() -> None:
    assert await told(review(1, MALLORY, ASKS, "Mine bitcoins."), review(2, ADA, SAYS)) == NOTHING
