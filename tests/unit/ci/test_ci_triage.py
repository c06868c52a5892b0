"""Blame for a red commit: the change, the base or the infrastructure, by what is known of it."""

from __future__ import annotations

import pytest

from shared.ci.triage import Cause, Failure, triage
from shared.models import Check, CheckOutcome

BASE, MACHINES, FLAKY, TESTS, QUALITY = Cause
TOUCHED = frozenset({"shop/cart.py", "tests/test_cart.py", "src/cart.test.ts"})


def failure(said: str = "", *, name: str = "check", conclusion: str = "failure") -> Failure:
    return Failure(Check(name, CheckOutcome.FAILED, job_id=1, conclusion=conclusion, run_id=1), said)


PYTEST = "FAILED tests/test_cart.py::test_total - assert 1 == 2\n1 failed, 9 passed in 0.10s"
ELSEWHERE = PYTEST.replace("cart", "clock")


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("one", "first", "again"),
    [
        (failure(), FLAKY, TESTS),
        (failure("##[error]Process completed with exit code 1."), FLAKY, TESTS),
        (failure(PYTEST), TESTS, TESTS),
        (failure(ELSEWHERE), FLAKY, TESTS),
        (failure("FAIL  src/cart.test.ts"), TESTS, TESTS),
        (failure("--- FAIL: TestTotal (0.00s)"), FLAKY, TESTS),
        (failure("E   AssertionError: connection refused is what it says"), FLAKY, TESTS),
        (failure("shop/cart.py:3:1: F401 `os` imported but unused\nFound 1 error."), QUALITY, QUALITY),
        (failure("shop/cart.py:3: error: Incompatible types  [assignment]"), QUALITY, QUALITY),
        (failure("src/cart.ts(3,7): error TS2322: Type 'string'"), QUALITY, QUALITY),
        (failure("would reformat shop/cart.py"), QUALITY, QUALITY),
        (failure("something is wrong", name="lint (3.12)"), QUALITY, QUALITY),
        (failure("shop/cart.py:3:1: F401 unused\n" + ELSEWHERE), FLAKY, TESTS),
        (failure(conclusion="cancelled"), MACHINES, MACHINES),
        (failure(PYTEST, conclusion="timed_out"), MACHINES, MACHINES),
        (failure(conclusion="startup_failure"), MACHINES, MACHINES),
        (failure("Build failed", conclusion="error"), MACHINES, MACHINES),
        (failure("The hosted runner lost communication with the server."), MACHINES, MACHINES),
        (failure("##[error]No space left on device"), MACHINES, MACHINES),
        (failure("curl: (6) Could not resolve host: pypi.example"), MACHINES, MACHINES),
        (failure("429 Too Many Requests: toomanyrequests"), MACHINES, MACHINES),
        (failure(PYTEST + "\nConnection reset by peer"), TESTS, TESTS),
    ],
)
def test_why_one_check_failed(one: Failure, first: Cause, again: Cause) -> None:
    assert triage([one], touched=TOUCHED).cause is first
    assert triage([one], touched=TOUCHED, again=True).cause is again


@pytest.mark.parametrize(
    ("outcome", "cause"), [(CheckOutcome.FAILED, BASE), (CheckOutcome.RUNNING, TESTS), (CheckOutcome.PASSED, TESTS)]
)
def test_what_the_base_fails_as_well_is_not_ours(outcome: CheckOutcome, cause: Cause) -> None:
    base = [Check("check", outcome), Check("other", CheckOutcome.FAILED)]
    assert triage([failure(PYTEST)], base, touched=TOUCHED).cause is cause


@pytest.mark.parametrize(
    ("causes", "decides"),
    [
        ((BASE, MACHINES), MACHINES),
        ((BASE, FLAKY, QUALITY), QUALITY),
        ((QUALITY, TESTS, BASE), TESTS),
        ((MACHINES, FLAKY), FLAKY),
        ((BASE,), BASE),
    ],
)
def test_of_several_causes_the_one_that_needs_most_decides(causes: tuple[Cause, ...], decides: Cause) -> None:
    examples = {
        BASE: failure(name="base"),
        MACHINES: failure(conclusion="cancelled"),
        FLAKY: failure(),
        QUALITY: failure(name="lint"),
        TESTS: failure(PYTEST),
    }
    base = [Check("base", CheckOutcome.FAILED)]
    for order in (causes, causes[::-1]):
        diagnosis = triage([examples[cause] for cause in order], base, touched=TOUCHED)
        assert diagnosis.cause is decides
        assert {finding.cause for finding in diagnosis.findings} == set(causes)
        assert diagnosis.of(decides) == (examples[decides],)
