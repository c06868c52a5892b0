"""New tests that never end on the base: run one by one, red when they end on the head, and no excuse for others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.specification import Specification
from worker_agent.tdd.evidence import proofs
from worker_agent.tdd.judging.judge import judge_green
from worker_agent.tdd.proof import endless_tests, examination
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun

FILE = "tests/test_steps.py"
OLD, LOOPS, FAILS = (f"{FILE}::test_{word}" for word in ("old", "loops", "fails"))
BEFORE = b"def test_old():\n    assert steps(4, 2) == [0, 2]\n"
AFTER = BEFORE + (
    b"\n\n@pytest.mark.parametrize('step', [0, -1])\ndef test_loops(step):\n"
    b"    with pytest.raises(ValueError):\n        steps(4, step)\n"
    b"\n\ndef test_fails():\n    assert steps(4, 0) is None\n"
)
SHUT = TestRun(finished=False, code=-1, seconds=70.0)
MEMORY = replace(SHUT, limit="memory (more than 4.0 GiB)")
TIME = replace(SHUT, timed_out=True)


def ran(*, passed: tuple[str, ...] = (), failed: tuple[str, ...] = (), seconds: float = 1.0) -> TestRun:
    good = {test: TestResult(test, FILE, CaseOutcome.PASSED) for test in passed}
    bad = {
        test: TestResult(test, FILE, CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "no") for test in failed
    }
    return TestRun(good | bad, seconds=seconds)


class Base:
    """A base whose tests are run: together they are stopped, alone each as it is told."""

    def __init__(self, together: TestRun, **alone: TestRun) -> None:
        self.alone = {f"{FILE}::test_{word}": run for word, run in alone.items()}
        self.together = together
        self.asked: list[tuple[str, ...]] = []

    async def run(self, tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        assert selection is not None
        self.asked.append(tuple(selection.tests))
        assert (limit is None) is (not selection.tests), "alone there is a limit of its own"
        return self.alone[next(iter(selection.tests))] if selection.tests else self.together

    async def red(self, after: bytes = AFTER, *, has_code: bool = True) -> examination.Red:
        change = Change("base", "head", old={FILE: BEFORE}, new={FILE: after}, support={FILE: BEFORE})
        subject = ProofSubject.of(change, self.run, Rules(), Specification(""))
        return await examination.red(subject, ran(passed=(OLD,)), "tree", has_code=has_code)


@pytest.mark.parametrize(("stopped", "kind"), [(MEMORY, FailureKind.LIMIT), (TIME, FailureKind.ENDLESS)])
async def test_what_is_stopped_alone_is_red_and_its_cases_are_proven_by_the_head(
    stopped: TestRun, kind: FailureKind
) -> None:
    base = Base(stopped, loops=stopped, fails=ran(failed=(FAILS,)))
    before = await base.red()
    assert base.asked == [(), (LOOPS,), (FAILS,)], "the old test is not run again"
    assert before.verdict.ok
    assert before.verdict.red == (FAILS, LOOPS)
    assert before.run.results[LOOPS].kind is kind
    cases = (f"{LOOPS}[-1]", f"{LOOPS}[0]")
    head = ran(passed=(OLD, FAILS, *cases))
    verdict = judge_green(ran(passed=(OLD,)), before.run, head, files=[FILE])
    assert (verdict.ok, verdict.proven) == (True, (FAILS, *cases))
    assert {proof.red for proof in proofs(before.run, head, cases)} == {CaseOutcome.FAILED}


async def test_a_head_on_which_it_does_not_end_either_is_refused() -> None:
    before = await Base(TIME, loops=TIME, fails=ran(failed=(FAILS,))).red()
    assert not judge_green(ran(passed=(OLD,)), before.run, TIME, files=[FILE]).ok


async def test_before_there_is_code_it_is_refused_and_nothing_is_run_alone() -> None:
    base = Base(TIME)
    assert not (await base.red(has_code=False)).verdict.worth_implementing
    assert base.asked == [()]


async def test_a_test_that_ends_alone_is_judged_as_it_ended() -> None:
    before = await Base(TIME, loops=ran(passed=(f"{LOOPS}[0]",)), fails=TIME).red()
    assert (before.verdict.passing, before.verdict.red) == ((f"{LOOPS}[0]",), (FAILS,))


@pytest.mark.parametrize("crashed", [SHUT, replace(SHUT, code=2)])
async def test_a_run_that_ends_for_another_reason_is_no_evidence(crashed: TestRun) -> None:
    base = Base(crashed)
    assert not (await base.red()).verdict.worth_implementing
    assert base.asked == [()]
    base = Base(TIME, loops=crashed, fails=TIME)
    assert not (await base.red()).verdict.worth_implementing


async def test_many_new_tests_are_not_run_one_by_one() -> None:
    many = b"".join(b"\n\ndef test_%d():\n    steps(0)\n" % number for number in range(endless_tests.SINGLY + 1))
    base = Base(TIME)
    assert not (await base.red(BEFORE + many)).verdict.worth_implementing
    assert base.asked == [()]


def test_a_test_that_is_slow_on_the_head_may_only_be_slow() -> None:
    quick, slow = ran(seconds=30.0), ran(seconds=31.0)
    stopped = TestRun({LOOPS: TestResult(LOOPS, FILE, CaseOutcome.FAILED, FailureKind.ENDLESS, "")})
    full = TestRun({LOOPS: TestResult(LOOPS, FILE, CaseOutcome.FAILED, FailureKind.LIMIT, "")})
    (told,) = endless_tests.undecided(ran(), stopped, slow)
    assert "it may only be slow" in told
    assert endless_tests.undecided(ran(), stopped, quick) == endless_tests.undecided(ran(), full, slow) == ()
    assert endless_tests.undecided(ran(seconds=20.0), stopped, slow) == (), "a slow suite has more time"
    assert [endless_tests.counts_so(run, LOOPS) for run in (stopped, full, slow)] == [True, True, False]
