"""People's words on an approved pull request: a request for changes wins, `/merge` is bound to its commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_server import BOT, EPOCH
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_world import ADA, HEAD, ISSUE, MALLORY, NEXT, OPENED, World, answer

from reviewer_agent.links import issue_closed_by
from reviewer_agent.snapshot import Merge
from shared.lock.lease import Lease
from shared.models import Account, CheckOutcome, Review, ReviewState
from shared.scheduling.agent_contract import Result, Skip
from shared.workflow import Stage

APPROVE: dict[str, Any] = {"merge": Merge.APPROVE}
BREAKING = answer(breaking_change={"breaks": True, "why": "search() is gone"})
MERGE = f"merge {HEAD} squash [auto] Search users (#57)"
OLD_REQUEST = Review(90, ADA, ReviewState.CHANGES_REQUESTED, "Do not log the token.", NEXT, EPOCH)
TIDIED = [MERGE, f"close {ISSUE}", f"delete auto/issue-{ISSUE} {HEAD}"]


async def approved(world: World, **policy: Any) -> World:
    """Run the review to its end and release the lease, then let some time pass."""
    await tick(world, **policy)
    assert world.stage is Stage.APPROVED
    world.server.seconds += 3600
    return world


@pytest.mark.parametrize("first", [answer(), BREAKING], ids=["plain", "breaking"])
async def test_merge_approve_waits_for_a_persons_order(first: Any) -> None:
    world = World(answers=[first])
    (parked,) = await tick(world, **APPROVE)
    assert parked.result is Result.PARKED
    assert "`/merge`" in world.statuses[-1].sentence
    world.server.seconds += 3600
    world.say(ADA, "/merge")
    (ended,) = await tick(world, **APPROVE)
    assert ended.result is Result.FINISHED
    assert world.merges() == TIDIED


@pytest.mark.parametrize(
    ("author", "text"),
    [
        (MALLORY, "/merge"),
        (ADA, "> /merge"),
        (ADA, "```\n/merge\n```"),
        (ADA, "please /merge"),
        (ADA, "/retry"),
        (BOT, "/merge <!-- engine-status/1 kind=worker mac=none -->"),
    ],
)
async def test_what_is_no_order_to_merge(author: Account, text: str) -> None:
    world = await approved(World(answers=[answer()]), **APPROVE)
    world.say(author, text)
    assert isinstance(await look(reviewer(world, **APPROVE)), Skip)


async def test_the_owner_of_a_shared_account_may_order_the_merge() -> None:
    world = await approved(World(answers=[answer()]), **APPROVE)
    world.say(BOT, "/merge")
    assert isinstance(await look(reviewer(world, **APPROVE)), Lease)


async def test_an_order_given_before_the_approval_of_this_commit_does_not_count() -> None:
    world = World(answers=[answer(), answer()])
    world.say(ADA, "/merge")
    await tick(world, **APPROVE)
    assert world.merges() == []
    world.server.seconds += 3600
    world.say(ADA, "/merge")
    world.push(NEXT, by_worker=True)
    (ended,) = await tick(world, **APPROVE)
    assert ended.result is Result.PARKED
    assert world.merges() == []


async def test_an_ordered_merge_still_waits_for_green() -> None:
    world = await approved(World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED}), **APPROVE)
    world.say(ADA, "/merge")
    for _ in range(3):
        await tick(world, **APPROVE)
    assert [one.sentence for one in world.statuses if "checks fail" in one.sentence] == [
        f"Approved at {HEAD[:12]}. Its checks fail; it is merged when they pass."
    ]
    assert world.merges() == []
    world.checks[HEAD] = CheckOutcome.PASSED
    await tick(world, **APPROVE)
    assert world.merges() == TIDIED


@pytest.mark.parametrize(
    ("author", "state", "sha", "wins"),
    [
        (ADA, ReviewState.CHANGES_REQUESTED, HEAD, True),
        (ADA, ReviewState.CHANGES_REQUESTED, NEXT, True),
        (BOT, ReviewState.CHANGES_REQUESTED, HEAD, True),
        (ADA, ReviewState.COMMENTED, HEAD, False),
        (ADA, ReviewState.APPROVED, HEAD, False),
        (MALLORY, ReviewState.CHANGES_REQUESTED, HEAD, False),
    ],
)
async def test_a_persons_request_for_changes_wins(author: Account, state: ReviewState, sha: str, wins: bool) -> None:
    world = await approved(World(answers=[answer()]))
    world.review(author, state, sha=sha)
    assert isinstance(await look(reviewer(world)), Lease) is wins


async def test_a_persons_request_goes_to_the_worker() -> None:
    world = await approved(World(answers=[answer()]))
    world.review(ADA, ReviewState.CHANGES_REQUESTED)
    (ended,) = await tick(world)
    assert ended.result is Result.HANDED_OVER
    assert world.stage is Stage.CHANGES_REQUESTED
    assert world.statuses[-1].sentence == "A maintainer requested changes. A worker will address them."


@pytest.mark.parametrize("policy", [APPROVE, auto()], ids=["approve", "auto"])
async def test_a_request_for_changes_of_an_earlier_commit_stands_until_its_author_says_otherwise(
    policy: dict[str, Any],
) -> None:
    world = await approved(World(answers=[answer()], reviews=[OLD_REQUEST]), **policy)
    assert world.merges() == []
    assert "Changes are still requested" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    skip = await look(reviewer(world, **policy))
    assert isinstance(skip, Skip)
    assert "still stands" in skip.reason
    assert skip.seconds == 300  # GitHub need not show a dismissal as a change
    world.review(ADA, ReviewState.APPROVED)
    await tick(world, **policy)
    assert world.merges() == TIDIED


@pytest.mark.parametrize(
    "answered",
    [
        replace(OLD_REQUEST, author=MALLORY),
        replace(OLD_REQUEST, state=ReviewState.DISMISSED),
        replace(OLD_REQUEST, state=ReviewState.COMMENTED),
    ],
    ids=["stranger", "dismissed", "comment"],
)
async def test_what_is_no_standing_request(answered: Review) -> None:
    world = World(answers=[answer()], reviews=[answered])
    await tick(world, **auto())
    assert world.merges() == TIDIED


async def test_what_people_asked_for_before_the_first_review_is_in_its_prompt() -> None:
    world = World(answers=[answer()], reviews=[OLD_REQUEST, replace(OLD_REQUEST, author=MALLORY, body="Let me in.")])
    await tick(world)
    (request,) = world.requests
    assert request.round == 0
    assert "Do not log the token." in request.prompt
    assert "Let me in." not in request.prompt


async def test_a_request_that_its_author_took_back_does_not_win() -> None:
    world = await approved(World(answers=[answer()]))
    world.review(ADA, ReviewState.CHANGES_REQUESTED)
    world.review(ADA, ReviewState.APPROVED)
    assert isinstance(await look(reviewer(world)), Skip)


async def test_an_old_comment_that_becomes_an_order_by_an_edit_does_not_count() -> None:
    world = World(answers=[answer()])
    old = world.say(ADA, "looks good")
    await approved(world, **APPROVE)
    assert world.server.edit(old.id, "/merge") is not None
    assert isinstance(await look(reviewer(world, **APPROVE)), Skip)


@pytest.mark.parametrize(
    ("body", "number"),
    [
        ("Closes #42", 42),
        ("It fixes: #42 at last.", 42),
        ("Text\nresolved #42, closes #43", 42),
        ("<!-- Closes #41 --> CLOSE #42", 42),
        ("<!-- Closes #41", None),
        ("It encloses #42", None),
        ("See #42", None),
    ],
)
def test_which_issue_a_pull_request_closes(body: str, number: int | None) -> None:
    assert issue_closed_by(replace(OPENED, body=body)) == number
