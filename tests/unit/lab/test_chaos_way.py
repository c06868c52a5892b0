"""Faults that chaos reports on the way: each is planted once and named; an orderly life has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.chaos.evidence import AckWrite, FenceMove, Post
from lab.chaos.history_checks import Allowance, Evidence, judge
from lab.github.repositories.ref_log import RefChange, RefMove

REF, BRANCH = "refs/ack/worker/7", "refs/heads/auto/issue-7"
FIRST, SECOND = "1" * 32, "2" * 32
NOTHING = Allowance(0, 0, 0)


def fence(at: float, old: str | None, new: str, nonce: str, agent: str, **trailers: str) -> FenceMove:
    said = {"Epoch": "1" if nonce == FIRST else "2", "Nonce": nonce, "Agent": agent, "Stage": "implementing"}
    return FenceMove(at, REF, old, new, old, said | {name.replace("_", "-"): text for name, text in trailers.items()})


def ack(at: float, nonce: str, state: str = "active", *, posted: bool = False) -> AckWrite:
    return AckWrite(at, 7, "worker", f"worker-{nonce[0]}", nonce, state, posted)


def change(at: float, *moves: tuple[str, str | None, str | None], by: str = "engine") -> RefChange:
    return RefChange(at, by, tuple(RefMove(*move) for move in moves))


LINE = [
    fence(0, None, "a", FIRST, "worker-1"),
    fence(1, "a", "b", FIRST, "worker-1", Runs="1"),
    fence(60, "b", "c", SECOND, "worker-2", Runs="1"),
    fence(80, "c", "d", SECOND, "worker-2", Stage="testing", Work_Head="w"),
]
"""worker-1 dies in its paid run; worker-2 takes over when the lock has run out, and pushes."""

CHANGES = [
    change(0, (REF, None, "a")),
    change(1, (REF, "a", "b")),
    change(60, (REF, "b", "c")),
    change(80, (REF, "c", "d"), (BRANCH, None, "w"), ("refs/notes/workflow/issue-7", None, "n")),
    change(90, (BRANCH, "w", "p"), by="ada"),
]

LIFE = Evidence(
    changes=CHANGES,
    fences={REF: LINE},
    acks=[ack(0.5, FIRST, posted=True), ack(20, FIRST), ack(60.5, SECOND)],
    posts=[Post(0.5, "engine", "comment")],
    engine=frozenset({"engine"}),
    free_after=18,
)


def with_fences(life: Evidence, *line: FenceMove) -> Evidence:
    return replace(life, fences={REF: line})


def test_an_orderly_life_has_nothing_wrong() -> None:
    found = judge(LIFE, NOTHING)
    assert found.wrong == []
    assert found.counts["paid runs"] == 1
    assert found.counts["overlapping holders"] == 0
    assert found.counts["ACK comments"] == 1


def forked(life: Evidence) -> Evidence:
    return with_fences(life, *LINE[:1], replace(LINE[1], parent="x"), *LINE[2:])


def old_epoch_again(life: Evidence) -> Evidence:
    return with_fences(life, *LINE, fence(95, "d", "e", FIRST, "worker-1", Epoch="3"))


def epoch_went_back(life: Evidence) -> Evidence:
    return with_fences(life, *LINE[:2], *(replace(one, trailers={**one.trailers, "Epoch": "1"}) for one in LINE[2:]))


def epoch_left_out(life: Evidence) -> Evidence:
    return with_fences(life, *LINE[:2], *(replace(one, trailers={**one.trailers, "Epoch": "3"}) for one in LINE[2:]))


def first_format_went_back(life: Evidence) -> Evidence:
    ids = {FIRST: "9", SECOND: "8"}
    return with_fences(life, *(replace(one, trailers={**without_epoch(one), "Ack-Id": ids[one.nonce]}) for one in LINE))


def without_epoch(one: FenceMove) -> dict[str, str]:
    return {name: text for name, text in one.trailers.items() if name != "Epoch"}


def older_format_after_newer(life: Evidence) -> Evidence:
    return with_fences(life, *LINE[:2], *(replace(one, trailers=without_epoch(one)) for one in LINE[2:]))


def two_agents(life: Evidence) -> Evidence:
    return with_fences(life, *LINE, fence(95, "d", "e", SECOND, "worker-3"))


def nameless(life: Evidence) -> Evidence:
    return with_fences(life, *LINE, replace(fence(95, "d", "e", "", "worker-2"), trailers={"Agent": "worker-2"}))


def made_anew(life: Evidence) -> Evidence:
    return replace(life, changes=[*CHANGES, change(95, (REF, "d", None)), change(96, (REF, None, "a"))])


def branch_alone(life: Evidence) -> Evidence:
    return replace(life, changes=[*CHANGES, change(95, (BRANCH, "p", "q"))])


def branch_deleted_alone(life: Evidence) -> Evidence:
    return replace(life, changes=[*CHANGES, change(95, (BRANCH, "p", None))])


def notes_alone(life: Evidence) -> Evidence:
    return replace(life, changes=[*CHANGES, change(95, ("refs/notes/workflow/issue-7", "n", "m"))])


def another_commit(life: Evidence) -> Evidence:
    pushed = change(80, (REF, "c", "d"), (BRANCH, None, "v"))
    return replace(life, changes=[*CHANGES[:3], pushed])


def fence_of_another_issue(life: Evidence) -> Evidence:
    return replace(life, changes=[*CHANGES, change(95, ("refs/ack/worker/8", None, "d"), (BRANCH, "p", "w"))])


def paid_again(life: Evidence) -> Evidence:
    return with_fences(
        life, *LINE[:3], fence(61, "c", "x", SECOND, "worker-2", Runs="2"), replace(LINE[3], old="x", parent="x")
    )


def still_active(life: Evidence) -> Evidence:
    return replace(life, acks=[*life.acks, ack(75, FIRST)])


def taken_early(life: Evidence) -> Evidence:
    return replace(life, acks=[*life.acks, ack(50, FIRST)])


def second_comment(life: Evidence) -> Evidence:
    return replace(life, acks=[*life.acks, ack(62, SECOND, posted=True)])


def flood(life: Evidence) -> Evidence:
    return replace(life, posts=[Post(float(at), "engine", "comment") for at in range(501)])


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (forked, "is built on x, not on a"),
        (old_epoch_again, "went on after another had begun"),
        (epoch_went_back, "epoch 1 came after 1"),
        (epoch_left_out, "epoch 3 came after 1"),
        (first_format_went_back, "epoch 8 came after 9"),
        (older_format_after_newer, "epoch 0 came after 1"),
        (two_agents, "has two agents, worker-2 and worker-3"),
        (nameless, "names no epoch"),
        (made_anew, "was made anew after it had been deleted"),
        (branch_alone, "without the fence of its issue"),
        (branch_deleted_alone, "without the fence of its issue"),
        (notes_alone, "without the fence of its issue"),
        (another_commit, "was moved to v, and its fence says w"),
        (fence_of_another_issue, "without the fence of its issue"),
        (paid_again, "1 paid runs were made again, 0 were interrupted"),
        (still_active, "1 holders overlapped, 0 were paused: refs/ack/worker/7: worker-1 until 15 s after"),
        (taken_early, "worker-2 took over 10.0 s after a sign of worker-1"),
        (second_comment, "1 threads got ACK comments beyond the first, 0 posts were lost: #7 worker 2"),
        (flood, "engine posted 501 times within an hour"),
    ],
)
def test_a_fault_on_the_way_is_named(plant: Callable[[Evidence], Evidence], words: str) -> None:
    assert any(words in sentence for sentence in judge(plant(LIFE), NOTHING).wrong)


@pytest.mark.parametrize(
    ("plant", "allowed", "count"),
    [
        (paid_again, Allowance(0, 1, 0), "paid runs made again"),
        (still_active, Allowance(1, 0, 0), "overlapping holders"),
        (second_comment, Allowance(0, 0, 1), "ACK comments beyond one"),
    ],
)
def test_what_trouble_explains_is_counted_and_not_wrong(
    plant: Callable[[Evidence], Evidence], allowed: Allowance, count: str
) -> None:
    found = judge(plant(LIFE), allowed)
    assert found.wrong == []
    assert found.counts[count] == 1


@pytest.mark.parametrize("freed", ["by its ACK", "by its fence", "by its end"])
def test_a_released_lock_is_free_at_once(freed: str) -> None:
    early = taken_early(LIFE)
    if freed == "by its ACK":
        early = replace(early, acks=[*early.acks, ack(55, FIRST, "released")])
    else:
        said = {"Released": FIRST} if freed == "by its fence" else {"Stage": "done"}
        early = with_fences(early, LINE[0], replace(LINE[1], trailers={**LINE[1].trailers, **said}), *LINE[2:])
    assert judge(early, NOTHING).wrong == []


def test_an_agent_may_go_on_with_its_own_lock() -> None:
    same = [replace(one, trailers={**one.trailers, "Agent": "worker-1"}) for one in LINE]
    assert judge(with_fences(taken_early(LIFE), *same), NOTHING).wrong == []


def test_a_persons_push_is_nobodys_business() -> None:
    assert judge(replace(LIFE, changes=[*CHANGES, change(95, (BRANCH, "p", None), by="ada")]), NOTHING).wrong == []
