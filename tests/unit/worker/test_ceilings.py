"""Ceilings over all agents: what counts as in work and as an open pull request; without one nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from fakes.unasked import UnaskedFences

from shared.git.fences import AgentSeen
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, write_fence
from shared.scheduling.account_work import KNOWN_SECONDS, AccountWork
from shared.workflow import Role, Stage
from worker_agent.intake.ceilings import AGAIN_SECONDS, AccountCeiling, CeilingCheck, Ceilings

AT = datetime(2026, 11, 1, tzinfo=UTC)


def fence(number: int, stage: Stage, pr: int = 0) -> Fence:
    return Fence(ItemKey(Role.WORKER, number), 1, "a" * 32, "worker-1", stage, AT, epoch=1, pr=pr)


WRITTEN, IN_CI = fence(1, Stage.IMPLEMENTING), fence(2, Stage.TESTING, 12)
REVIEWED, FAILED, DONE = fence(3, Stage.REVIEWING, 13), fence(4, Stage.FAILED, 14), fence(5, Stage.DONE, 15)
ALL = (WRITTEN, IN_CI, REVIEWED, FAILED, DONE)


@pytest.mark.parametrize(
    ("ceilings", "told"),
    [
        (Ceilings(), ""),
        (Ceilings(in_work=3), ""),
        (Ceilings(in_work=2), "2 issues are in work, as many as `ceilings.in_work` allows"),
        (Ceilings(in_work=1), "2 issues are in work, as many as `ceilings.in_work` allows"),
        (Ceilings(open_pull_requests=3), ""),
        (Ceilings(open_pull_requests=2), "2 pull requests are open, as many as `ceilings.open_pull_requests` allows"),
    ],
)
def test_what_counts(ceilings: Ceilings, told: str) -> None:
    assert ceilings.reached(ALL) == told


@dataclass
class FakeFences(UnaskedFences):
    """The fences of a repository, and how often they were read."""

    fences: tuple[Fence, ...] = ALL
    asked: list[str] = field(default_factory=list)

    async def traces(self) -> tuple[AgentSeen, ...]:
        return (AgentSeen("worker-1", 2, AT), AgentSeen("worker-2", 9, AT))

    async def read_all(self, prefix: str = "refs/ack/") -> dict[str, tuple[str, str]]:
        self.asked.append(prefix)
        written = {one.key.ref: (f"{one.key.number:040x}", write_fence(one)) for one in self.fences}
        return written | {f"{prefix}8": ("8" * 40, "not one of ours"), f"{prefix}x": ("9" * 40, write_fence(ALL[0]))}


async def test_an_issue_does_not_keep_itself_back() -> None:
    fences = FakeFences()
    check = CeilingCheck(Ceilings(in_work=2), fences)
    skip = await check.skip(7)
    assert skip is not None
    assert skip.seconds == AGAIN_SECONDS
    assert await check.skip(1) is None
    assert fences.asked == ["refs/ack/worker/"] * 2


async def test_without_a_ceiling_nobody_is_asked() -> None:
    fences = FakeFences(tuple(replace(one, stage=Stage.TESTING) for one in ALL))
    assert await CeilingCheck(Ceilings(), fences).skip(7) is None
    assert fences.asked == []


@dataclass
class Office:
    """A process with two repositories, in which account 2 may have at most `most` issues in work."""

    most: int
    one: FakeFences = field(default_factory=FakeFences)
    other: FakeFences = field(default_factory=FakeFences)
    now: float = 0.0

    def __post_init__(self) -> None:
        work = AccountWork(lambda: self.now)
        self.checks = [
            CeilingCheck(Ceilings(), fences, AccountCeiling(self.most, 2, name, work))
            for name, fences in (("ada/one", self.one), ("ada/other", self.other))
        ]


@pytest.mark.parametrize(("most", "kept"), [(4, True), (5, False)])
async def test_an_account_s_issues_are_counted_over_all_repositories(most: int, kept: bool) -> None:
    skip = await Office(most).checks[0].skip(7)
    told = "this account has 4 issues in work, as many as `in_work_per_account` allows"
    assert (skip.reason if skip is not None else None) == (told if kept else None)


async def test_issues_of_other_accounts_do_not_count() -> None:
    foreign = tuple(replace(one, agent="worker-2") for one in ALL)
    office = Office(1, FakeFences(foreign), FakeFences(foreign))
    assert await office.checks[0].skip(7) is None


async def test_what_has_ended_in_another_repository_makes_room_at_once() -> None:
    office = Office(4)
    assert await office.checks[0].skip(7) is not None
    office.other.fences = ()
    assert await office.checks[0].skip(7) is None


async def test_a_count_is_believed_for_ten_minutes_while_there_is_room() -> None:
    office = Office(3, other=FakeFences(()))
    assert await office.checks[0].skip(7) is None
    office.other.fences = ALL
    assert await office.checks[0].skip(7) is None
    assert len(office.other.asked) == 1
    office.now = KNOWN_SECONDS
    assert await office.checks[0].skip(7) is not None
