"""Later rounds converge: what was listed is judged, what is new is judged, and nothing else holds a merge back."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.reviewer_forge import auto, tick
from fakes.reviewer_world import ADA, DIFF, HEAD, NEXT, World, answer, changes, finding

from reviewer_agent.review.draft import divided
from reviewer_agent.review.patch import read
from reviewer_agent.review.previous_findings import EarlierRounds
from reviewer_agent.snapshot import Bounds
from shared.github.errors import Refused
from shared.models import ReviewState
from shared.scheduling.agent_contract import Ended
from shared.workflow import Stage

SINCE = """\
diff --git a/directory/search.py b/directory/search.py
--- a/directory/search.py
+++ b/directory/search.py
@@ -7,1 +7,2 @@ def search_users(directory, text):
-    return []
+    wanted = text.casefold()
+    return [user for user in directory if wanted in user.name]
"""
WHOLE = DIFF.replace("+1,2", "+1,8").replace("+    return", "+    a = 1\n" * 6 + "+    return")
"""Eight lines of which two are new since the round before: 7 and 8."""


async def second_round(world: World, sha: str = NEXT, **policy: Any) -> list[Ended]:
    """Push as the worker and ask for another review."""
    world.server.seconds += 3600
    world.checks[sha] = world.checks[HEAD]
    world.change(head_sha=sha, labels=frozenset({"status:reviewing"}))
    return await tick(world, **policy)


async def after_one_round(*answers: Any) -> World:
    """Return a world in which one finding was listed, and two lines have changed since."""
    world = World(answers=[changes(), *answers], diff=WHOLE)
    await tick(world)
    world.diffs[HEAD, NEXT] = SINCE
    return world


@pytest.mark.parametrize(
    ("path", "line", "counts"),
    [
        ("directory/search.py", 7, True),
        ("directory/search.py", 2, False),
        ("directory/search.py", None, True),
        ("directory/search.py", 99, True),
        ("directory/other.py", None, False),
        ("directory/other.py", 7, False),
    ],
)
def test_which_findings_of_a_later_round_count(path: str, line: int | None, counts: bool) -> None:
    from reviewer_agent.review.answer import FindingAnswer

    one = FindingAnswer.model_validate(finding(path=path, line=line))
    counting, late = divided([one], read(WHOLE, 9999), read(SINCE, 9999))
    assert (counting, late) == (((one,), ()) if counts else ((), (one,)))
    assert divided([one], read(WHOLE, 9999), None) == ((one,), ())


async def test_the_prompt_of_a_later_round_carries_the_findings_by_id_and_what_is_new() -> None:
    world = await after_one_round(answer())
    world.review(ADA, ReviewState.CHANGES_REQUESTED, body="Please add a docstring.")
    await second_round(world)
    first, second = world.requests
    assert "F1 directory/search.py:2: **major:** Case is not ignored." in second.prompt
    assert "F2 ada asks: Please add a docstring." in second.prompt
    assert "wanted = text.casefold()" in second.prompt.partition("## New since the last round")[2]
    assert "(none)" in first.prompt.partition("## New since the last round")[2][:40]
    assert "earlier" not in (first.schema or {})["required"]
    assert (second.schema or {})["$defs"]["EarlierAnswer"]["properties"]["id"]["enum"] == ["F1", "F2"]


async def test_an_approval_resolves_our_own_threads_and_nobody_elses() -> None:
    world = await after_one_round(answer())
    world.review(ADA, ReviewState.CHANGES_REQUESTED, body="Please add a docstring.")
    own = [one.id for one in world.remarks]
    assert (len(own), world.resolved) == (1, [])
    await second_round(world)
    assert world.resolved == [frozenset(own)]


async def test_what_github_does_not_resolve_stays_open_and_stops_nothing() -> None:
    world = await after_one_round(answer())
    world.resolving = Refused("GraphQL Resolve", 422, "Resource not accessible by integration", ())
    await second_round(world)
    assert len(world.resolved) == 1
    assert world.stage is Stage.APPROVED


@pytest.mark.parametrize(
    ("resolved", "approved", "settled"),
    [((), False, set()), (("F1", "F9"), False, {7}), ((), True, {5, 7}), (("F2",), False, set())],
)
def test_a_finding_that_is_judged_resolved_settles_its_thread(
    resolved: tuple[str, ...], settled: set[int], *, approved: bool
) -> None:
    earlier = EarlierRounds(threads={"F1": 7}, own=frozenset({5, 7}))
    assert earlier.settled(resolved, approved=approved) == settled


async def test_a_late_finding_asks_for_no_further_round_and_only_a_person_merges_over_it() -> None:
    late = answer("changes_requested", finding(why="This was always there.", line=3))
    world = await after_one_round(late | {"earlier": [{"id": "F1", "resolved": True, "note": "done"}]})
    (ended,) = await second_round(world, **auto())
    assert world.stage is Stage.APPROVED
    assert "had let pass" in ended.sentence
    assert not [done for done in world.done if done.startswith("merge")]
    assert len(world.remarks) == 1  # that of the first round
    assert "This was always there." in world.reviews[-1].body
    world.say(ADA, "/merge")
    world.server.seconds += 3600
    await tick(world, **auto())
    assert [done for done in world.done if done.startswith("merge")]


async def test_a_late_remark_is_counted_and_not_posted() -> None:
    world = await after_one_round(answer("approved", finding("remark", 3, why="Taste.")))
    await second_round(world, **auto())
    assert "**Not counted:** 1 finding about lines that an earlier round let pass." in world.reviews[-1].body
    assert "Taste." not in world.reviews[-1].body
    assert [done for done in world.done if done.startswith("merge")]


@pytest.mark.parametrize(
    ("given", "stage"),
    [
        (answer("changes_requested", finding(line=8)), Stage.CHANGES_REQUESTED),
        (answer("changes_requested", unmet=("AC2",)), Stage.CHANGES_REQUESTED),
        (answer("changes_requested", finding(line=3)), Stage.CHANGES_REQUESTED),
        (answer(), Stage.APPROVED),
    ],
    ids=["new line", "criterion", "unresolved", "resolved"],
)
async def test_what_still_holds_a_merge_back_in_a_later_round(given: Any, stage: Stage) -> None:
    """The fake coder says that F1 is resolved only where it approves."""
    world = await after_one_round(given)
    await second_round(world)
    assert world.stage is stage


async def test_findings_that_are_not_judged_make_an_answer_unusable() -> None:
    silent = answer() | {"earlier": []}
    world = await after_one_round(silent, answer())
    await second_round(world)
    assert "- earlier: F1 not judged" in world.requests[-1].prompt
    assert world.stage is Stage.APPROVED


async def test_a_commit_that_is_gone_says_nothing_of_what_is_new() -> None:
    world = await after_one_round(answer("changes_requested", finding(line=3)))
    world.gone.add(HEAD)
    await second_round(world)
    assert world.stage is Stage.CHANGES_REQUESTED
    assert len(world.remarks) == 2


@pytest.mark.parametrize(("reviews", "taken_up"), [(2, 2), (3, 3)])
async def test_how_many_commits_are_taken_up_is_configured(reviews: int, taken_up: int) -> None:
    world = World(answers=[changes() for _ in range(reviews)])
    policy: dict[str, Any] = {"bounds": Bounds(rounds=9, reviews=reviews)}
    await tick(world, **policy)
    for number in range(reviews):
        await second_round(world, f"{number}" * 40, **policy)
    assert len(world.requests) == taken_up
    assert world.stage is Stage.FAILED
