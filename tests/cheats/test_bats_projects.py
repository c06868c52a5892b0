"""bats on one file: an honest cycle, with control tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolchain import Checkout, needed, outcomes

from worker_agent.tdd.runners.bats_runner import BatsRunner
from worker_agent.tdd.runners.registry import choose
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import FailureKind

FILE = "test/add.bats"
NAMED = f"{FILE}::adds two numbers"
TEST = '@test "adds two numbers" {\n  [ "$(sh ./add.sh 1 2)" -eq 3 ]\n}\n'


@pytest.fixture
def project(tmp_path: Path) -> Checkout:
    needed("bats")
    made = Checkout(tmp_path, BatsRunner(), "bats --tap test --recursive")
    made.write({FILE: TEST, "test/deep/other.bats": '@test "is there" {\n  [ -d test ]\n}\n'})
    return made


async def test_an_honest_cycle(project: Checkout) -> None:
    red = await project.run(selection=Selection(frozenset({FILE})))
    assert (red.finished, outcomes(red)) == (True, {NAMED: "failed"}), red.output_tail
    assert red.results[NAMED].kind is FailureKind.ASSERTION_OR_EXCEPTION

    green = await project.run({"add.sh": "echo $(($1 + $2))\n"})
    assert (green.finished, green.code) == (True, 0)
    assert green.passed == {NAMED, "test/deep/other.bats::is there"}

    left = await project.run({"test/deep/leaves.bats": '@test "leaves" {\n  exit 0\n}\n'})
    assert "test/deep/leaves.bats::leaves" not in left.passed
    project.write({"test/deep/leaves.bats": None})

    controlled = await project.controlled(FILE)
    assert (controlled.controlled, controlled.code, controlled.passed) == (True, 0, green.passed)


def test_the_runner_is_detected() -> None:
    choice = choose(None, None, [FILE, "test/deep/other.bats"], lambda _: None)
    assert (choice.runner.name, choice.test_command) == ("bats", "bats test --recursive")
