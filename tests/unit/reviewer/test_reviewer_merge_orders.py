"""The people who may order a merge: anybody with write access, or anybody but the requester."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes.lock_server import BOT, EPOCH
from fakes.reviewer_forge import auto, look, reviewer, tick
from fakes.reviewer_github import FakeHub
from fakes.reviewer_world import ADA, HEAD, KEYS, MALLORY, NEXT, OPENED, SPECIFICATION, SPECIFIED, World, answer
from reviewer_merge_scene import merges

from reviewer_agent.merge.approval import Look, MergeApproval, Word
from reviewer_agent.review.verdict import Judgement, PersonOnly, Reader, ReviewVerdict
from reviewer_agent.snapshot import Merge
from shared.models import Account, Issue, ReviewState
from shared.scheduling.agent_contract import Skip
from shared.specification import Specification, write

BREAKING = answer(breaking_change={"breaks": True, "why": "search() is gone"})
STRICT: dict[str, Any] = {"by_requester": False}

GRACE = Account(8, "grace")


HENRY = Account(9, "henry")


CI = Account(41_898_282, "ci[bot]")


OURS = ReviewVerdict(HEAD, 0, Judgement.APPROVED, PersonOnly.BREAKING, 1, EPOCH)


@pytest.mark.parametrize(
    ("policy", "author", "merged"),
    [
        (auto(), ADA, 1),
        (auto(**STRICT), ADA, 0),
        (auto(**STRICT), GRACE, 1),
        ({"merge": Merge.APPROVE}, ADA, 1),
        ({"merge": Merge.APPROVE, **STRICT}, ADA, 0),
        ({"merge": Merge.APPROVE, **STRICT}, GRACE, 1),
    ],
    ids=["auto", "auto, own", "auto, another's", "approve", "approve, own", "approve, another's"],
)
async def test_whose_order_counts(policy: dict[str, Any], author: Account, merged: int) -> None:
    world = World(answers=[BREAKING])
    world.writers |= {"grace"}
    await tick(world, **policy)
    world.server.seconds += 3600
    world.say(author, "/merge")
    await tick(world, **policy)
    assert merges(world) == merged
    if not merged:
        assert world.statuses[-1].sentence.endswith("somebody else has to comment `/merge` or press the button.")
        acks = len(world.server.comments())
        assert isinstance(await look(reviewer(world, **policy)), Skip), "that is said once"
        assert len(world.server.comments()) == acks
        world.say(GRACE, "/merge")
        await tick(world, **policy)
        assert merges(world) == 1


@pytest.mark.parametrize(("author", "merged"), [(ADA, 0), (GRACE, 1)])
async def test_of_a_persons_own_branch_its_author_is_a_requester(author: Account, merged: int) -> None:
    world = World(answers=[BREAKING], pull=replace(OPENED, head_branch="fix", author=ADA, body=SPECIFICATION))
    world.writers |= {"grace"}
    await tick(world, **auto(**STRICT))
    world.say(author, "/merge")
    await tick(world, **auto(**STRICT))
    assert merges(world) == merged


@pytest.mark.parametrize(
    ("author", "state", "sha", "merged"),
    [
        (ADA, ReviewState.APPROVED, HEAD, 1),
        (ADA, ReviewState.APPROVED, NEXT, 0),
        (ADA, ReviewState.COMMENTED, HEAD, 0),
        (ADA, ReviewState.DISMISSED, HEAD, 0),
        (MALLORY, ReviewState.APPROVED, HEAD, 0),
        (CI, ReviewState.APPROVED, HEAD, 0),
    ],
    ids=["approved", "another commit", "comment", "dismissed", "stranger", "an App"],
)
async def test_a_persons_approving_review_of_this_commit_is_an_order(
    author: Account, state: ReviewState, sha: str, merged: int
) -> None:
    world = World(answers=[BREAKING])
    world.writers |= {"ci[bot]"}
    await tick(world, **auto())
    world.review(author, state, sha=sha)
    await tick(world, **auto())
    assert merges(world) == merged


async def test_where_every_merge_is_ordered_a_review_alone_orders_none() -> None:
    world = World(answers=[answer()])
    await tick(world, merge=Merge.APPROVE)
    world.review(ADA, ReviewState.APPROVED)
    await tick(world, merge=Merge.APPROVE)
    assert merges(world) == 0


async def test_a_review_from_before_ours_cannot_know_what_ours_says() -> None:
    world = World(answers=[BREAKING])
    world.review(ADA, ReviewState.APPROVED)
    await tick(world, **auto())
    assert merges(world) == 0


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ([ADA], False),
        ([GRACE], False),
        ([ADA, GRACE], False),
        ([HENRY], True),
        ([ADA, HENRY], True),
        ([BOT], True),
        ([MALLORY], False),
        ([], False),
    ],
)
async def test_who_wrote_the_issue_or_its_story_has_asked_for_it(said: list[Account], counts: bool) -> None:
    issues = {
        42: replace(SPECIFIED, author=ADA, body=f"{SPECIFICATION}\nPart of #12\n"),
        12: replace(SPECIFIED, number=12, author=GRACE),
    }
    world = World()
    world.writers |= {"grace", "henry"}
    for one in said:
        world.say(one, "/merge")
    hub = FakeHub(world)
    found = await MergeApproval(hub, hub, look_in(issues), Reader(KEYS, {BOT.id}), by_requester=False).of(
        OPENED, OURS, ()
    )
    assert (found.word is Word.GIVEN) is counts
    assert (found.word is Word.OWN) is (not counts and bool(set(said) - {MALLORY}))
    whose = [one.login for one in said if one in {HENRY, BOT}]
    assert found.by.partition(" ")[0] == (whose[0] if counts else ""), "nobody else's word is recorded"


PLANNED = write(Specification("Greet people.", part_of=12), keys=KEYS, parent=12, key="12-1", plan_sha="a" * 64)


@pytest.mark.parametrize(
    ("body", "author", "by", "word"),
    [
        (PLANNED, ADA, ADA, Word.GIVEN),
        (PLANNED, ADA, GRACE, Word.OWN),
        (PLANNED.replace("Greet", "Rob"), ADA, ADA, Word.OWN),
        (PLANNED, HENRY, HENRY, Word.OWN),
        ("Greet people.\nPart of #12\n", ADA, ADA, Word.OWN),
    ],
    ids=["the account's owner", "the story's author", "edited", "copied by a person", "by hand"],
)
async def test_what_the_planner_wrote_its_story_has_asked_for_and_not_the_accounts_owner(
    body: str, author: Account, by: Account, word: Word
) -> None:
    issues = {42: replace(SPECIFIED, author=author, body=body), 12: replace(SPECIFIED, number=12, author=GRACE)}
    world = World()
    world.writers |= {"grace", "henry"}
    world.say(by, "/merge")
    hub = FakeHub(world)
    consent = MergeApproval(hub, hub, look_in(issues), Reader(KEYS, {ADA.id}), by_requester=False)
    assert (await consent.of(replace(OPENED, author=ADA), OURS, ())).word is word


def look_in(issues: dict[int, Issue]) -> Look:
    async def look(number: int) -> Issue | None:
        return issues.get(number)

    return look
