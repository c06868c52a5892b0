"""The test time of proving one change: whole runs of a slow suite, and what the damaged runs add.

The tests of the project sleep, so that the figures are ratios of waiting and do not depend on the machine.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from benchmarks.table import Row
from config.environment import child_environment
from shared import process
from shared.git.command import Git
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from worker_agent.policy import SuitePolicy
from worker_agent.tdd.proof.subject import Rules
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.verify.clone import brought, cloned
from worker_agent.verify.repeat import Ask, Repeat, Repeated

FILES, CASES = 8, 12
"""Number of test files and of cases in each; the suite takes as many seconds as there are cases in all files."""

DEADLINE_SECONDS = 600.0

_AUTHOR = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

_SLOW = """import time

import pytest

from shop.prices import total


@pytest.mark.parametrize("price", range({cases}))
def test_total(price):
    time.sleep(1)
    assert total([price, 1]) == price + 1
"""

_DISCOUNTS = """def discounted(price, percent):
    if percent < 0 or percent > 100:
        raise ValueError("A discount is between 0 and 100 percent.")
    return price - price * percent / 100


def best(price, discounts):
    if not discounts:
        return price
    return min(discounted(price, each) for each in discounts)
"""

_TESTS = """import time

import pytest

from shop.discounts import best, discounted


@pytest.mark.parametrize(("price", "percent", "result"), [(100, 10, 90), (50, 50, 25), (7, 0, 7)])
def test_a_discount_lowers_a_price(price, percent, result):
    time.sleep(1)
    assert discounted(price, percent) == result


@pytest.mark.parametrize("percent", [-1, 101])
def test_no_other_discount_is_possible(percent):
    with pytest.raises(ValueError, match="between 0 and 100"):
        discounted(100, percent)


def test_the_best_discount_is_taken():
    time.sleep(1)
    assert best(100, [5, 20, 10]) == 80
    assert best(100, []) == 100
"""


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure one change in a suite of more than a minute, with and without damages."""
    git, base, head = await _repository(root / "repository")
    with_damages, result = await _prove(git, root / "with", Ask(base, head, _suites()))
    without, _ = await _prove(git, root / "without", Ask(base, head, _suites(), rules=Rules(damages=0)))
    suite = with_damages.seconds["whole"] / with_damages.runs["whole"]
    whole, partial = with_damages.seconds["whole"], with_damages.seconds["partial"]
    added = (whole + partial) / sum(without.seconds.values()) - 1
    rows = [
        Row("the suite once", suite, "s"),
        Row("whole runs of the suite", with_damages.runs["whole"], "runs", 2),
        Row("test time besides them", partial, "s", 120, "so a suite of ten minutes costs 22"),
        Row("what damages add", added, "of the rest", 0.25, f"{result.proof.damages} damages of the code"),
    ]
    details: dict[str, object] = {"partial runs": with_damages.runs["partial"], "damages noticed": result.proof.noticed}
    return rows, details


def _suites() -> tuple[SuitePolicy, ...]:
    return (SuitePolicy("", f"{shlex.quote(sys.executable)} -m pytest -q"),)


async def _prove(git: Git, place: Path, ask: Ask) -> tuple[CountingBench, Repeated]:
    mirror, space = await cloned(git, str(git.git_dir), place)
    for commit in (ask.base, ask.head):
        await brought(mirror, commit)
    bench = CountingBench(child_environment(), DEADLINE_SECONDS)
    result = await Repeat(mirror, space, bench, ask).examined()
    if not result.green_verdict.ok:
        verdicts = (result.baseline, result.red_verdict, result.green_verdict)
        reasons = (*(detail for verdict in verdicts for detail in verdict.details), *result.proof.weak)
        raise RuntimeError(f"The change was not proven: {reasons}")
    return bench, result


async def _repository(place: Path) -> tuple[Git, str, str]:
    """Make a repository with a slow suite; return it, its base, and a change with quick tests."""
    files = {f"tests/test_slow_{number}.py": _SLOW.format(cases=CASES) for number in range(FILES)}
    files |= {"shop/__init__.py": "", "shop/prices.py": "def total(prices):\n    return sum(prices)\n"}
    change = {"shop/discounts.py": _DISCOUNTS, "tests/test_discounts.py": _TESTS}
    _write(place, files)
    await _git(place, "init", "--quiet", "--initial-branch=main")
    commits = []
    for written in (files, change):
        _write(place, written)
        await _git(place, "add", "--all")
        await _git(place, "commit", "--quiet", "--message", "Change")
        commits.append(await _git(place, "rev-parse", "HEAD"))
    return Git(place / ".git", child_environment()), commits[0], commits[1]


def _write(place: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")


async def _git(place: Path, *words: str) -> str:
    ended = await process.check(("git", *words), cwd=place, env=child_environment() | _AUTHOR | {"HOME": str(place)})
    return ended.stdout.decode().strip()


class CountingBench(TestBench):
    """A bench that counts its `runs`, `whole` and `partial`, and the `seconds` of each; copies of it share both."""

    def __init__(
        self, environment: Mapping[str, str], limit_seconds: float, *, confinement: Confinement | None = None
    ) -> None:
        super().__init__(environment, limit_seconds, confinement=confinement)
        self.runs: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    async def run(self, what: Tests, where: Path, scratch: Path) -> TestRun:
        """Run tests of a checkout, and count that."""
        clock, kind = RealClock(), "whole" if what.selection is None else "partial"
        began = clock.boot()
        try:
            return await super().run(what, where, scratch)
        finally:
            self.runs[kind] += 1
            self.seconds[kind] += clock.boot() - began
