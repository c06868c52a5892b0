"""What a repository asks of a merge beside the verdict: a size, a time to object, another's word, no such label."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fake_server import BOT, EPOCH
from reviewer_fakes import FakeHub, auto, look, reviewer, tick
from reviewer_lock import HandClock
from reviewer_strikes import Calls, watched
from reviewer_world import ADA, DIFF, HEAD, KEYS, MALLORY, NEXT, OPENED, SPECIFICATION, SPECIFIED, World, answer

from reviewer_agent.decide import Bounds, Merge
from reviewer_agent.merge.consent import Consent, Look, Word
from reviewer_agent.review.opinion import Care, Judgement, Opinion, Reader
from reviewer_agent.review.patch import read
from shared.items import Result, Skip
from shared.loop import Loop
from shared.models import Account, CheckOutcome, Issue, ReviewState
from shared.specification import Specification, write
from shared.workflow import Stage

BREAKING = answer(breaking_change={"breaks": True, "why": "search() is gone"})
GRACE = Account(8, "grace")
HENRY = Account(9, "henry")
CI = Account(41_898_282, "ci[bot]")
MOVED = "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"
OURS = Opinion(HEAD, 0, Judgement.APPROVED, Care.BREAKING, 1, EPOCH)
GONE = (
    "diff --git a/old.py b/old.py\ndeleted file mode 100644\nindex 1111111..0000000\n"
    "--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
)
CHANGED = (
    "diff --git a/x.py b/x.py\nindex 1111111..2222222 100644\n--- a/x.py\n+++ b/x.py\n"
    "@@ -1,3 +1,3 @@\n context\n--- old\n+++ new\n context\n\\ No newline at end of file\n"
)


def merges(world: World) -> int:
    return sum(deed.startswith("merge ") for deed in world.done)


@pytest.mark.parametrize(
    ("diff", "size"), [(DIFF, 2), (MOVED, 0), (GONE, 0), (CHANGED, 2), (DIFF + GONE + CHANGED, 4), ("", 0)]
)
def test_the_size_of_a_change_is_what_somebody_has_to_read(diff: str, size: int) -> None:
    assert read(diff, 100_000).size == size
    assert read(diff, 1).size == size, "what is not shown to the model counts as well"


@pytest.mark.parametrize(("lines", "merged"), [(1, False), (2, True), (None, True)])
async def test_a_change_of_more_lines_waits_for_a_persons_word(lines: int | None, merged: bool) -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=Bounds(lines=lines)))
    assert merges(world) == merged
    if merged:
        return
    assert "changes 2 lines, more than 1: comment `/merge`" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    await tick(world, **auto(bounds=Bounds(lines=lines)))
    assert merges(world) == 1


async def test_the_lines_are_those_of_the_diff_that_was_reviewed() -> None:
    world = World(answers=[answer()], checks={HEAD: CheckOutcome.FAILED})
    await tick(world, **auto())
    world.diff, world.checks[HEAD] = "", CheckOutcome.PASSED
    world.server.seconds += 3600
    await tick(world, **auto(bounds=Bounds(lines=1)))
    assert merges(world) == 0, "another process knows it by the review's mark"


COOL = Bounds(cooling_seconds=7200)


async def test_a_merge_waits_for_its_time_which_the_fence_and_the_comment_say() -> None:
    world = World(answers=[answer()])
    (ended,) = await tick(world, **auto(bounds=COOL))
    until = world.reviews[-1].submitted_at + timedelta(hours=2)
    assert (ended.result, merges(world)) == (Result.PARKED, 0)
    assert world.fence is not None
    assert world.fence.wait is not None
    assert (world.fence.wait.reason, world.fence.wait.until) == ("cooling", until)
    assert f"merged at {until:%H:%M} UTC on {until:%Y-%m-%d}" in world.statuses[-1].sentence
    assert world.statuses[-1].data["waiting"] == {"why": "cooling", "until": until.isoformat()}
    told, acks = len(world.statuses), len(world.server.comments())
    world.server.seconds += 3600
    skip = await look(reviewer(world, **auto(bounds=COOL)))
    assert isinstance(skip, Skip)
    assert 0 < skip.seconds <= 3600
    assert (len(world.statuses), len(world.server.comments())) == (told, acks)
    world.server.seconds += skip.seconds + 1
    (ended,) = await tick(world, **auto(bounds=COOL))
    assert (ended.result, merges(world)) == (Result.FINISHED, 1)
    assert len(world.requests) == 1


async def test_a_short_wait_keeps_the_lease() -> None:
    world = World(answers=[answer()])
    loop = Loop(reviewer(world, **auto(bounds=Bounds(cooling_seconds=600))), HandClock(world.server))
    async with loop.open():
        await loop.tick()
        await loop.quiet()
        assert [rest.reason for rest in loop.resting] == ["cooling"]
        await loop.tick()
        await loop.quiet()
        assert merges(world) == 0
        world.server.seconds += 601
        await loop.tick()
        await loop.quiet()
    assert merges(world) == 1
    assert len(world.server.comments()) == 1


async def test_an_order_does_not_wait_for_the_time() -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=COOL))
    world.say(MALLORY, "/merge")
    assert isinstance(await look(reviewer(world, **auto(bounds=COOL))), Skip)
    world.say(ADA, "/merge")
    await tick(world, **auto(bounds=COOL))
    assert merges(world) == 1


@pytest.mark.parametrize("deed", ["objects", "label", "red"])
async def test_what_speaks_against_it_before_its_time_is_obeyed(deed: str) -> None:
    world = World(answers=[answer()])
    await tick(world, **auto(bounds=COOL))
    if deed == "objects":
        world.review(ADA, ReviewState.CHANGES_REQUESTED)
        await tick(world, **auto(bounds=COOL))  # it need not wait for the time of the merge
        assert world.stage is Stage.CHANGES_REQUESTED
    elif deed == "label":
        world.change(labels=world.pull.labels | {"do-not-merge"})
    else:
        world.checks[HEAD] = CheckOutcome.FAILED
    world.server.seconds += 7201
    await tick(world, **auto(bounds=COOL))
    assert merges(world) == 0


@pytest.mark.parametrize("text", ["do-not-merge", "DO-NOT-MERGE", "hold"])
@pytest.mark.parametrize("where", ["pull request", "issue"])
async def test_a_label_keeps_it_from_being_merged_whatever_was_ordered(text: str, where: str) -> None:
    policy = auto(barring=frozenset({"do-not-merge", "Hold"}))
    world = World(answers=[answer()])
    if where == "issue":
        world.issue = replace(SPECIFIED, labels=SPECIFIED.labels | {text})
    else:
        world.change(labels=world.pull.labels | {text})
    await tick(world, **policy)
    assert (merges(world), len(world.requests)) == (0, 1), "it is reviewed all the same"
    assert f"carries the excluded label '{text}'" in world.statuses[-1].sentence
    world.say(ADA, "/merge")
    assert isinstance(await look(reviewer(world, **policy)), Skip)
    world.issue = SPECIFIED
    world.change(labels=world.pull.labels - {text})
    await tick(world, **policy)
    assert merges(world) == 1


STRICT: dict[str, Any] = {"by_requester": False}


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
        assert world.statuses[-1].sentence.endswith("somebody else has to, by `/merge` or at the button.")
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


@pytest.mark.parametrize("at", [1, -1])
async def test_a_label_that_is_set_right_after_the_verdict_or_before_the_merge_stops_it(at: int) -> None:
    undisturbed = Calls()
    world = World(answers=[answer()])
    await tick(world, watched(world, undisturbed, **auto()))
    path = undisturbed.made[: undisturbed.made.index("pulls.merge")]
    last = len(path) - path[::-1].index("pulls.pull_request")
    world = World(answers=[answer()])
    calls = Calls(lambda: world.change(labels=world.pull.labels | {"do-not-merge"}, by=ADA), 1 if at == 1 else last)
    await tick(world, watched(world, calls, **auto()))
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
    word = await Consent(hub, hub, look_in(issues), Reader(KEYS, {BOT.id}), by_requester=False).of(OPENED, OURS, ())
    assert (word is Word.GIVEN) is counts
    assert (word is Word.OWN) is (not counts and bool(set(said) - {MALLORY}))


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
    consent = Consent(hub, hub, look_in(issues), Reader(KEYS, {ADA.id}), by_requester=False)
    assert await consent.of(replace(OPENED, author=ADA), OURS, ()) is word


def look_in(issues: dict[int, Issue]) -> Look:
    async def look(number: int) -> Issue | None:
        return issues.get(number)

    return look
