"""Between verdict and merge, whatever happens at whatever moment: what was seen is obeyed, and no other commit merged.

Each deed of a person or of CI strikes right before each of the reviewer's calls in turn. If the reviewer has read the
fact since, nothing is merged; if it was too late for any reading, exactly the reviewed commit is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

import anyio
import anyio.lowlevel
import pytest
from fakes.lock_server import EPOCH
from fakes.reviewer_forge import FakeSource, auto, tick
from fakes.reviewer_github import FakeRefs
from fakes.reviewer_strikes import Calls, opened, turn_of, watched
from fakes.reviewer_world import ADA, BASE, HEAD, NEXT, World

from reviewer_agent.merge.merge_turns import REF, MergeTurn, MergeTurns
from shared.ci.verdict import CiVerdict
from shared.github.errors import Refused
from shared.lock.hold import Held
from shared.models import CheckOutcome, ReviewState

MERGE = "pulls.merge"


def dismiss(world: World) -> None:
    """Dismiss our approval as a person."""
    world.reviews = [replace(review, state=ReviewState.DISMISSED) for review in world.reviews]


def red_base(world: World) -> None:
    """Push to the base so that it is red."""
    world.tips["refs/heads/main"] = "f" * 40
    world.checks["f" * 40] = CheckOutcome.FAILED


def stop_issue(world: World) -> None:
    """Close the issue as a person."""
    world.issue = replace(world.issue, open=False)


def bar_issue(world: World) -> None:
    """Label the issue as a person so that its change must not be merged."""
    world.issue = replace(world.issue, labels=world.issue.labels | {"do-not-merge"})


def flag_issue(world: World) -> None:
    """Flag the issue as a person or another agent does."""
    world.issue = replace(world.issue, labels=world.issue.labels | {"flag:manual-intervention"})


READ = {
    "labels": {"pulls.pull_request", "labels.add"},
    "checks": {f"checks.of {HEAD[:4]}"},
    "base": {f"checks.of {BASE[:4]}", "checks.of ffff"},
    "tip": {"source.refresh"},
    "reviews": {"reviews.of"},
    "issue": {"issues.issue"},
    "head": {MERGE},
}
"""Calls by which each fact is learned."""

DEEDS: dict[str, tuple[Callable[[World], object], str]] = {
    "push": (lambda w: w.change(head_sha=NEXT), "head"),
    "label taken off": (lambda w: w.change(labels=frozenset({"bug"}), by=ADA), "labels"),
    "label moved": (lambda w: w.change(labels=frozenset({"status:changes-requested"}), by=ADA), "labels"),
    "flag": (lambda w: w.change(labels=w.pull.labels | {"flag:had-conflict"}, by=ADA), "labels"),
    "barred": (lambda w: w.change(labels=w.pull.labels | {"do-not-merge"}, by=ADA), "labels"),
    "kept away": (lambda w: w.change(labels=w.pull.labels | {"blocked"}, by=ADA), "labels"),
    "another flag": (lambda w: w.change(labels=w.pull.labels | {"flag:budget-exceeded"}, by=ADA), "labels"),
    "issue barred": (bar_issue, "issue"),
    "issue flagged": (flag_issue, "issue"),
    "pause": (lambda w: w.change(labels=w.pull.labels | {"flag:paused"}, by=ADA), "labels"),
    "closed": (lambda w: w.change(open=False), "labels"),
    "other base": (lambda w: w.change(base_branch="gone"), "labels"),
    "check turns red": (lambda w: w.checks.update({HEAD: CheckOutcome.FAILED}), "checks"),
    "check runs again": (lambda w: w.checks.update({HEAD: CheckOutcome.RUNNING}), "checks"),
    "base moves and is red": (red_base, "tip"),
    "base turns red": (lambda w: w.checks.update({BASE: CheckOutcome.FAILED}), "base"),
    "approval dismissed": (dismiss, "reviews"),
    "maintainer requested changes": (lambda w: w.review(ADA, ReviewState.CHANGES_REQUESTED, seconds=1), "reviews"),
    "issue closed": (stop_issue, "issue"),
}


async def undisturbed() -> list[str]:
    """Return every call of the reviewer's from its verdict to the merge."""
    world, calls = opened(), Calls()
    await tick(world, watched(world, calls, **auto()))
    return calls.made[: calls.made.index(MERGE) + 1]


@pytest.mark.parametrize("name", DEEDS)
async def test_what_happens_right_after_the_verdict_or_with_the_turn_is_obeyed(name: str) -> None:
    path = await undisturbed()
    await strike(name, path, [1, path.index("turns.take") + 1])


@pytest.mark.long
@pytest.mark.parametrize("name", DEEDS)
async def test_what_happens_at_any_moment_between_verdict_and_merge_is_obeyed(name: str) -> None:
    path = await undisturbed()
    assert len(path) > 20
    merged = await strike(name, path, range(1, len(path) + 1))
    assert merged == LATE[DEEDS[name][1]](path)


LATE: dict[str, Callable[[list[str]], list[int]]] = {
    "head": lambda path: [],
    "labels": lambda path: [len(path)],
    "reviews": lambda path: after_last("reviews.of", path),
    "checks": lambda path: after_last(f"checks.of {HEAD[:4]}", path),
    "base": lambda path: after_last(f"checks.of {BASE[:4]}", path),
    "tip": lambda path: after_last("source.refresh", path),
    "issue": lambda path: after_last("issues.issue", path),
}
"""Before which calls a deed comes too late to be seen: after the last reading of its fact, all of them at the end."""


def after_last(call: str, path: list[str]) -> list[int]:
    last = len(path) - path[::-1].index(call)
    assert last > path.index("turns.take") + 1
    return [*range(last + 1, len(path) + 1)]


async def strike(name: str, path: list[str], points: Iterable[int]) -> list[int]:
    """Let the deed happen before each of these calls, in a world of its own; before which the merge went on."""
    deed, fact = DEEDS[name]
    late = []
    for at in points:
        world = opened()
        calls = Calls(lambda world=world: deed(world), at)  # type: ignore[misc]
        await tick(world, watched(world, calls, **auto()))
        merged = [done for done in world.done if done.startswith("merge")]
        assert world.answers == []
        read = calls.after[: calls.after.index(MERGE) if MERGE in calls.after else None]
        seen = bool(READ[fact] & {*read, *([MERGE] if fact == "head" else [])})
        if merged:
            late.append(at)
            assert not seen, f"merged although the {name} before {path[at - 1]} (call {at}) was read: {read}"
            assert merged == [f"merge {HEAD} squash [auto] Search users (#57)"]
    return late


def ask_again(world: World) -> None:
    """Ask for another review as a person."""
    world.server.seconds += 5
    world.change(labels=world.pull.labels | {"status:reviewing"}, by=ADA)


@pytest.mark.parametrize("deed", [ask_again, DEEDS["closed"][0]], ids=["asked again", "closed"])
async def test_what_is_put_off_is_labelled_by_the_next_look_alone(deed: Callable[[World], object]) -> None:
    """The labels that the first look has read are old by then: the second look has just seen others."""
    path = await undisturbed()
    world = opened()
    calls = Calls(lambda: deed(world), path.index("turns.take") + 2)
    await tick(world, watched(world, calls, **auto()))
    following = calls.after[calls.after.index("turns.give_back") + 1]
    assert following == "pulls.pull_request"
    if not world.pull.open and not world.pull.merged:
        assert "label status:approved" not in world.done


async def test_a_label_that_is_set_while_a_merge_is_refused_stays() -> None:
    path = await undisturbed()
    world = opened()
    world.refuse["merge"] = Refused("PUT /merge", 405, "At least 1 approving review is required.")
    await tick(world, watched(world, Calls(lambda: ask_again(world), len(path)), **auto()))
    assert "status:reviewing" in world.pull.labels
    assert "label status:approved" not in world.done


async def test_the_second_look_reads_everything_again_once_the_turn_is_taken() -> None:
    path = await undisturbed()
    turn = path.index("turns.take")
    assert {
        "pulls.pull_request",
        "reviews.of",
        f"checks.of {HEAD[:4]}",
        f"checks.of {BASE[:4]}",
        "issues.issue",
    } <= set(path[turn:])
    assert path[-1] == MERGE


async def test_while_another_merge_is_under_way_nothing_is_merged() -> None:
    world = opened()
    calls = Calls(lambda: turn_of(world), 1)
    await tick(world, watched(world, calls, **auto()))
    assert not [done for done in world.done if done.startswith("merge")]
    world.server.seconds += 121  # it has died
    await tick(world, **auto())
    assert [done for done in world.done if done.startswith("merge")]


@pytest.mark.parametrize(("base", "merged"), [(None, 0), (CheckOutcome.RUNNING, 0), (CheckOutcome.PASSED, 1)])
async def test_after_a_merge_the_base_is_waited_for(base: CheckOutcome | None, merged: int) -> None:
    world = opened()
    world.tips["refs/heads/main"] = "f" * 40
    if base is not None:
        world.checks["f" * 40] = base
    calls = Calls(lambda: turn_of(world), 1)
    await tick(world, watched(world, calls, **auto()))
    assert len([done for done in world.done if done.startswith("merge")]) == merged
    world.server.seconds += 601  # nobody waits for ever
    await tick(world, **auto())
    assert len([done for done in world.done if done.startswith("merge")]) == 1


@pytest.mark.parametrize(
    ("last", "seconds", "taken"),
    [
        (MergeTurn(57, "main", BASE, CiVerdict.GREEN, EPOCH), 0, True),
        (MergeTurn(58, "main", BASE, CiVerdict.GREEN, EPOCH), 0, False),
        (MergeTurn(58, "main", BASE, CiVerdict.GREEN, EPOCH), 119, False),
        (MergeTurn(58, "main", BASE, CiVerdict.GREEN, EPOCH), 120, True),
        (MergeTurn(58, "main", NEXT, CiVerdict.GREEN, EPOCH), 0, True),
        (MergeTurn(58, "gone", BASE, CiVerdict.GREEN, EPOCH), 0, False),
        (MergeTurn(58, "gone", NEXT, CiVerdict.GREEN, EPOCH), 0, True),
        (MergeTurn(58, "main", BASE, CiVerdict.GREEN, EPOCH, over=True), 0, True),
    ],
    ids=["own", "other", "still", "its time is over", "base moved", "other branch", "other branch moved", "given back"],
)
async def test_whose_turn_it_is(held: Held, last: MergeTurn, seconds: int, taken: bool) -> None:
    world = opened()
    world.turns[REF] = "1" * 40, last.write("n")
    wanted = MergeTurn(57, "main", BASE, CiVerdict.GREEN, EPOCH + timedelta(seconds=seconds))
    turns = MergeTurns(FakeRefs(world), FakeSource(world), lambda: world.now)
    assert await turns.take(held, wanted) is taken
    assert MergeTurn.read(world.turns[REF][1]) == (wanted if taken else last)


async def test_a_turn_is_given_back_by_who_has_it_and_by_nobody_else(held: Held) -> None:
    world = opened()
    mine, theirs = (MergeTurns(FakeRefs(world), FakeSource(world), lambda: world.now) for _ in range(2))
    wanted = MergeTurn(57, "main", BASE, CiVerdict.GREEN, EPOCH)
    assert await mine.take(held, wanted)
    await theirs.give_back(held, 57)
    assert MergeTurn.read(world.turns[REF][1]) == wanted
    await mine.give_back(held, 57)
    assert MergeTurn.read(world.turns[REF][1]) == replace(wanted, over=True)
    assert await theirs.take(held, replace(wanted, pull_request=58))
    await mine.give_back(held, 57)
    assert MergeTurn.read(world.turns[REF][1]) == replace(wanted, pull_request=58), "it was given back before"


async def test_a_turn_whose_merge_may_have_been_made_is_kept(held: Held) -> None:
    world = opened()
    turns = MergeTurns(FakeRefs(world), FakeSource(world), lambda: world.now)
    wanted = MergeTurn(57, "main", BASE, CiVerdict.GREEN, EPOCH)
    assert await turns.take(held, wanted)
    turns.keep(57)
    await turns.give_back(held, 57)
    assert MergeTurn.read(world.turns[REF][1]) == wanted


@dataclass
class Slow(FakeRefs):
    """Answers a reading only when `readers` have asked."""

    readers: int = 2

    async def read(self, ref: str) -> tuple[str, str] | None:
        found = await super().read(ref)
        self.readers -= 1
        while self.readers > 0:
            await anyio.lowlevel.checkpoint()
        return found


async def test_of_two_who_read_before_either_writes_one_gets_the_turn(held: Held) -> None:
    world, got = opened(), []
    turns = MergeTurns(Slow(world), FakeSource(world), lambda: world.now)

    async def take(number: int) -> None:
        got.append(await turns.take(held, MergeTurn(number, "main", BASE, CiVerdict.GREEN, EPOCH)))

    async with anyio.create_task_group() as both:
        both.start_soon(take, 57)
        both.start_soon(take, 58)
    assert sorted(got) == [False, True]


@pytest.mark.parametrize("text", ["", "ledger line", "Pr: x\nBranch: main\nBase: b\nChecks: green\nAt: yesterday"])
def test_what_is_no_turn_is_nobodys(text: str) -> None:
    assert MergeTurn.read(text) is None
