"""The end of a specification: what is said of it, which boxes are ticked, and which labels come off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.lock_port import KEYS as SIGNING
from fakes.lock_server import BOT
from fakes.unasked import UnaskedComments, UnaskedIssues, UnaskedStatus

from shared.errors import Gone
from shared.git.proof_claim import Claim
from shared.github.errors import Refused
from shared.github.item_changes import ItemChange
from shared.github.status import Status
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.write_permit import OperatorPermit, WritePermit
from shared.models import Account, Comment, Issue, PullRequest
from shared.outgoing.outbound_filter import Outgoing
from shared.reconcile.end_message import Closing, Sources, merged
from shared.specification import body_sha256
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels
from worker_agent.tdd import claim_writing

KEYS = replace(SIGNING, outgoing=Outgoing())
NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
FENCE = Fence(ItemKey(Role.WORKER, 42), 7, "n" * 32, "worker-1", Stage.REVIEWING, NOW, pr=9, attempt=2)
BODY = "## Acceptance criteria\n- [ ] AC1: by name\n- [ ] AC2: by login\n"
LABELS = frozenset({"Status:Reviewing", "flag:manual-intervention", "flag:problematic-test", "bug", "status:mine"})
PULL = PullRequest(
    9, "T", "", BOT, LABELS, "auto/issue-42", "a" * 40, "main", open=False, merged=True, merge_sha="abc1234" + "0" * 33
)
ADA = Account(1, "ada")
BY = OperatorPermit("a test")


@dataclass
class World(UnaskedIssues, UnaskedComments, UnaskedStatus):
    """One issue, its thread, and what was done to them."""

    body: str = BODY
    labels: frozenset[str] = LABELS
    refuses: bool = False
    is_open: bool = False
    gone: bool = False
    said: Sequence[Comment] = ()
    statuses: list[Status] = field(default_factory=list)
    removed: list[tuple[int, str]] = field(default_factory=list)

    async def issue(self, number: int) -> Issue:
        return Issue(number, "T", self.body, self.labels, ADA, NOW, NOW, open=self.is_open)

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        if self.gone:
            raise Gone(f"#{number} is gone.")
        return tuple(self.said)

    async def carry_out(self, changes: Sequence[ItemChange], permit: WritePermit) -> None:
        permit.check()
        if self.refuses:
            raise Refused("DELETE", 403, "no")
        for one in changes:
            self.body = self.body if one.body is None else one.body
            self.is_open = self.is_open and not one.close
            self.removed += [(one.number, name) for name in one.off]

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        self.statuses.append(status)

    def closing(self, usd: float | None = 0.09) -> Closing:
        async def spent(number: int) -> float | None:
            return usd

        return Closing(
            self, self, self.carry_out, lambda accounts: self, Labels(), Sources(KEYS, {BOT.id}, spent, lambda: NOW)
        )


def ack(author: Account, minutes: int) -> Comment:
    text = f"ACK:worker:worker-a1b2c3d4:{1706123456789 + minutes}"
    at = NOW - timedelta(minutes=minutes)
    return Comment(minutes, 42, author, text, at, at)


def proved(*criteria: str) -> PullRequest:
    return replace(PULL, body=claim_writing.write(Claim(42, "b" * 40, "a" * 40, cost_usd=0.5, criteria=criteria), KEYS))


async def test_the_whole_end() -> None:
    world = World(said=[ack(ADA, 500), ack(BOT, 41), ack(BOT, 5)])
    await world.closing().merged(FENCE, proved("AC2"), BY)
    (status,) = world.statuses
    assert status.sentence == "Merged in #9 as `abc1234`: 2 attempts, $0.09, 41 min."
    assert status.data["stage"] is Stage.DONE
    assert world.body == BODY.replace("- [ ] AC2", "- [x] AC2")
    flags = ["flag:manual-intervention", "flag:problematic-test"]
    assert world.removed == [(number, name) for number in (9, 42) for name in (*flags, "Status:Reviewing")]


@pytest.mark.fault(11)
async def test_a_label_that_only_the_fence_shows_comes_off_as_well() -> None:
    world = World()
    world.labels = frozenset({"status:testing"})  # a reading from before the worker's last label
    await world.closing().merged(FENCE, proved(), BY)
    assert [name for number, name in world.removed if number == 42] == ["status:testing", "status:reviewing"]


@pytest.mark.parametrize("body", [BODY + "cc @bea\n", BODY + "Thanks @bea!", "no boxes"])
async def test_a_text_in_which_the_gate_would_change_more_is_left_alone(body: str) -> None:
    world = World(body)
    await world.closing().merged(FENCE, proved("AC1", "AC2"), BY)
    assert world.body == body


async def test_only_a_signed_claim_of_this_issue_ticks_anything() -> None:
    forged = proved("AC1")
    for pull in (
        PULL,
        replace(forged, body=forged.body.replace("AC1", "AC2")),
        replace(PULL, body=claim_writing.write(Claim(41, "b" * 40, "a" * 40, criteria=("AC1",)), KEYS)),
    ):
        world = World()
        await world.closing().merged(FENCE, pull, BY)
        assert world.body == BODY


async def test_without_a_ledger_the_pull_request_says_what_it_has_cost() -> None:
    world = World()
    await world.closing(None).merged(FENCE, proved(), BY)
    assert world.statuses[0].sentence == "Merged in #9 as `abc1234`: 2 attempts, $0.50."


async def test_a_refusal_undoes_nothing_and_raises_nothing() -> None:
    world = World(refuses=True)
    await world.closing().merged(FENCE, PULL, BY)
    assert len(world.statuses) == 1


async def test_an_issue_that_cannot_be_read_keeps_no_label_on_the_pull_request() -> None:
    world = World(gone=True)
    await world.closing().merged(FENCE, PULL, BY)
    assert {number for number, _ in world.removed} == {9}


async def test_a_story_is_closed_and_shows_no_stage() -> None:
    world = World(is_open=True)
    await world.closing().close(await world.issue(42), BY)
    assert (world.is_open, len(world.removed)) == (False, 3)


async def test_a_story_that_stays_open_is_no_end() -> None:
    world = World(is_open=True, refuses=True)
    with pytest.raises(Refused):
        await world.closing().close(await world.issue(42), BY)
    world = World(is_open=False, refuses=True)
    await world.closing().close(replace(await world.issue(42), open=True), BY)  # closed: only its labels stay


@pytest.mark.parametrize(
    ("fence", "usd", "taken", "told"),
    [
        (replace(FENCE, attempt=1), None, None, ": 1 attempt."),
        (replace(FENCE, attempt=0), None, None, "."),
        (
            replace(FENCE, attempt=1, round=2),
            1.0,
            timedelta(seconds=9),
            ": 1 attempt, 2 rounds of changes, $1.00, less",
        ),
        (FENCE, 0.0, timedelta(hours=5), ": 2 attempts, $0.00, 5 h."),
        (FENCE, None, timedelta(days=3), ": 2 attempts, 3 days."),
    ],
)
def test_the_sentence(fence: Fence, usd: float | None, taken: timedelta | None, told: str) -> None:
    assert merged(fence, PULL, usd, taken).sentence.startswith(f"Merged in #9 as `abc1234`{told}")
    assert merged(fence, replace(PULL, merge_sha=None), usd, taken).sentence.startswith(f"Merged in #9{told}")


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("", False),
        (BODY, False),
        (BODY.replace("[ ]", "[x]"), False),
        (f"{BODY}- [ ] AC3: by number\n", True),
    ],
)
async def test_a_text_that_was_edited_after_the_work_is_told_with_the_way_on(bound: str, said: bool) -> None:
    world = World()
    fence = replace(FENCE, body_sha256=bound and body_sha256("T", bound))
    await world.closing().merged(fence, proved(), BY)
    (told,) = world.statuses
    assert ("open the issue again and set `status:ready`" in told.notes) is said
