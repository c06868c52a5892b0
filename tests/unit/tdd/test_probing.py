"""Branches of a change that nobody takes: one run for all of them, one for each where that fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from worker_agent.tdd.damage.code_branches import branches
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof import behaviour_probes
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.damage_detection import Noticed
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import TestRun

PATH = "shop/fees.py"
CODE = b"""def fee(amount, member):
    if member:
        amount = amount - 1
        if amount > 9:
            return 9
        return 0
    elif amount > 5:
        return 5
    return amount
"""


@dataclass(frozen=True)
class Known(behaviour_probes.Probe):
    """A probe of one new file, whose tests take the branches that begin in the lines `taken`."""

    taken: frozenset[int] = frozenset()
    runs: list[int] = field(default_factory=list)

    def changes(self) -> tuple[FileChange, ...]:
        return changes({}, {PATH: CODE})

    async def fails(self, over: Mapping[str, bytes | None]) -> bool:
        content = (over[PATH] or b"").decode().splitlines()
        raised = {at for at, line in enumerate(content) if "damaged" in line}
        inserted = [at - number for number, at in enumerate(sorted(raised))]  # lines of the undamaged file, from 0
        self.runs.append(len(inserted))
        return any(at in self.taken for at in inserted)


async def never(*_: object) -> TestRun:
    raise AssertionError("nothing is run but by the probe")


def probe(*taken: int, found: Noticed | None = None, seconds: float = 0.0) -> Known:
    found = found or Noticed()
    found.begun -= seconds
    return Known(ProofSubject(Change("a", "b"), never), (), TestRun(), found, frozenset(taken))


async def test_where_no_test_fails_one_run_tells_of_all_and_the_outer_ones_are_named() -> None:
    one = probe()
    found = await behaviour_probes.untaken(one)
    assert [branch.sentence for branch in found] == [
        f"{PATH}:2: no test of the change takes the branch `if member`",
        f"{PATH}:7: no test of the change takes the branch `elif amount > 5`",
    ]
    assert one.runs == [3]


async def test_where_one_fails_each_is_tried() -> None:
    one = probe(2, 3)
    assert [branch.condition for branch in await behaviour_probes.untaken(one)] == ["if amount > 9", "elif amount > 5"]
    assert one.runs == [3, 1, 1, 1]


async def test_what_was_noticed_inside_and_functions_that_nobody_tests_are_not_tried() -> None:
    damage = Damage(PATH, 3, DamageKind.BOUND, b"", "`amount - 1` became `amount + 1`", "fee")
    one = probe(found=Noticed(noticed=[damage]))
    assert [branch.condition for branch in await behaviour_probes.untaken(one)] == ["if amount > 9", "elif amount > 5"]
    assert await behaviour_probes.untaken(one, {(PATH, "fee")}) == ()
    assert one.runs == [2]


async def test_when_the_time_is_over_no_more_is_tried() -> None:
    one = probe(2, found=Noticed(tried=3), seconds=10_000)
    assert await behaviour_probes.untaken(one) == ()
    assert len(one.runs) == 1
    assert len(branches(one.changes()[0])) == 3
