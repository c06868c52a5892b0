"""Commands that are offered after a failed review: none leads back to the failure that it was offered for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_server import EPOCH
from fakes.recovery_world import REVIEWER, WORKER, Scene, comment
from fakes.reviewer_forge import tick
from fakes.reviewer_world import HEAD, NAMES, World, answer

from reviewer_agent.candidates import find_intent
from reviewer_agent.decide import Action, decide
from reviewer_agent.review.verdict import Judgement, PersonOnly, ReviewVerdict
from reviewer_agent.snapshot import Bounds, Snapshot
from shared.commands.command import Verb
from shared.commands.command_rules import fitting, reviewed_again
from shared.lock.fence import Fence
from shared.lock.port import AdvanceFence
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage, Track

GIVEN = EPOCH + timedelta(minutes=5)
CHANGES, INCOMPLETE = (
    ReviewVerdict(HEAD, 2, judgement, PersonOnly.NONE, 1, EPOCH)
    for judgement in (Judgement.CHANGES_REQUESTED, Judgement.INCOMPLETE)
)
ABORTS: Mapping[Action, tuple[Fence, ReviewVerdict | None]] = {
    Action.GIVE_UP_ON_ROUNDS: (replace(REVIEWER, round=2), CHANGES),
    Action.GIVE_UP_ON_SIZE: (replace(REVIEWER, round=2), INCOMPLETE),
    Action.GIVE_UP_ON_REVIEWS: (replace(REVIEWER, attempt=10), None),
}
ON_THE_REVIEW = [Verb.RETRY, Verb.RESET_ATTEMPTS]


async def ordered(verb: Verb, fence: Fence) -> tuple[Scene, str]:
    """Return the world and the recorded sentence after `verb` on a pull request that failed in review."""
    world = Scene(fences={(Role.REVIEWER, 57): fence, (Role.WORKER, 42): WORKER})
    (told,) = await world.order(comment(f"/{verb}", GIVEN, 57), Role.REVIEWER)
    return world, told


def reviewing(world: Scene, fence: Fence, verdict: ReviewVerdict | None, rounds: int = 3) -> Snapshot:
    """Begin the review as the next claim does, by the labels that the command has set."""
    shown = replace(world.pull, labels=frozenset({"status:reviewing"}))
    intent = find_intent(shown, fence, NAMES)
    assert not isinstance(intent, str)
    begun = replace(fence, stage=intent.stage, phase=intent.phase)
    assert decide(Snapshot(begun, shown), now=GIVEN) is Action.BEGIN
    return Snapshot(replace(begun, stage=Stage.IN_REVIEW), shown, verdict=verdict, bounds=Bounds(rounds=rounds))


@pytest.mark.parametrize("action", ABORTS)
@pytest.mark.parametrize("verb", ON_THE_REVIEW)
@pytest.mark.parametrize("rounds", [1, 3])
async def test_a_review_that_was_given_up_goes_on(action: Action, verb: Verb, rounds: int) -> None:
    fence, verdict = ABORTS[action]
    before = Snapshot(replace(fence, stage=Stage.IN_REVIEW), Scene().pull, verdict=verdict)
    assert decide(before, now=GIVEN) is action, "positive control"
    world, told = await ordered(verb, fence)
    moved = world.fences[Role.REVIEWER, 57]
    seen = reviewing(world, moved, verdict, rounds)
    leads_to = Action.REQUEST_CHANGES if verdict is CHANGES else Action.REVIEW
    assert decide(seen, now=GIVEN) is leads_to
    assert told == "it goes on" + (" with all rounds again" if verb is Verb.RESET_ATTEMPTS else "")
    assert moved.round == (0 if verb is Verb.RESET_ATTEMPTS else fence.round)
    assert world.fences[Role.WORKER, 42] == WORKER
    assert (57, Stage.REVIEWING) in world.shown


async def test_it_is_for_one_head_and_one_review_only() -> None:
    fence, verdict = ABORTS[Action.GIVE_UP_ON_ROUNDS]
    world, _ = await ordered(Verb.RETRY, fence)
    seen = reviewing(world, world.fences[Role.REVIEWER, 57], verdict)
    later = replace(seen.pull_request, head_sha="e" * 40)
    moved = replace(seen, fence=replace(seen.fence, work_head=later.head_sha), pull_request=later)
    assert decide(moved, now=GIVEN) is Action.GIVE_UP_ON_ROUNDS
    assert decide(replace(seen, fence=replace(seen.fence, phase="")), now=GIVEN) is Action.GIVE_UP_ON_ROUNDS


@pytest.mark.parametrize("verb", sorted(set(fitting(Track.PULL_REQUEST, Stage.FAILED)) - set(ON_THE_REVIEW)))
async def test_what_ends_the_pull_request_leaves_nothing_to_give_up(verb: Verb) -> None:
    world, told = await ordered(verb, REVIEWER)
    assert told.startswith("#57 is closed, ")
    stage = Stage.READY if verb is Verb.CLOSE_AND_RESET else Stage.FAILED
    assert world.fences[Role.WORKER, 42].stage is stage
    assert decide(Snapshot(REVIEWER, world.pull), now=GIVEN) is Action.WITHDRAW
    asked = [number for number, text in world.posted if "then comment `/close-and-reset` here" in text]
    assert asked == ([42] if verb is Verb.SPEC_REVIEW else []), "where it is heard: no agent reads a closed thread"


async def test_one_more_review_of_the_same_commit_is_paid_once_and_is_the_last_word() -> None:
    world = World(answers=[answer(), answer()])
    await tick(world, diff_bytes=10)
    fence = world.fence
    assert fence is not None
    again = replace(fence, stage=Stage.REVIEWING, phase=reviewed_again(HEAD), attempt=0, oid="")
    world.server.carry_out(AdvanceFence(again, fence.oid), None)
    world.server.seconds += 3600
    world.change(labels=frozenset({"status:reviewing"}))
    (ended,) = await tick(world, diff_bytes=10)
    assert (ended.result, world.stage, len(world.requests)) == (Result.FAILED, Stage.FAILED, 2)
