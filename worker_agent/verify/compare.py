"""The false statements of a claim, by its repetition, and by its notes in what no run can repeat (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from shared.git.notes import Note
from shared.git.proof_claim import Claim, digest
from worker_agent.tdd.evidence import Proof, proofs
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.runners.test_run import TestId
from worker_agent.verify.repeat import Repeated, counts

CENT = 0.005
"""US dollars; a smaller difference is rounding."""


@dataclass(frozen=True, slots=True)
class Falsehood:
    """One thing that is not as claimed.

    `what` is one of claim, signature, history, baseline, red, green, weak, regression, result, tests, table, issue,
    attempts and cost.
    """

    what: str
    sentence: str


@dataclass(frozen=True, slots=True)
class History:
    """Relations of a claim's commits to each other and to the base branch; `why` is empty if they fit."""

    why: tuple[str, ...] = ()
    same_base: bool = True
    """True if the claimed base is the examined commit; only then its counts can be compared."""
    same_head: bool = True
    """True if the claimed head is still the head."""


def unproven(seen: Repeated) -> tuple[Falsehood, ...]:
    """Return the evidence against "red on the base, green on the head, and it means something", for any claim."""
    if not seen.baseline.ok:
        return tuple(Falsehood("baseline", line) for line in seen.baseline.details)
    red, green = seen.red_verdict, seen.green_verdict
    if not (red.worth_implementing or red.error is None):
        return tuple(Falsehood("red", line) for line in red.details or ("No test is red on the base.",))
    if green.ok:
        return ()
    kind = "weak" if green.error is ErrorType.TEST_UNEXPECTED_PASS else "green"
    if green.error is ErrorType.REGRESSION:
        kind = "regression"
    return tuple(Falsehood(kind, line) for line in green.details)


def false(claim: Claim, seen: Repeated, history: History) -> tuple[Falsehood, ...]:
    """Return everything that is not as claimed, and everything that speaks against any such claim."""
    found = [*(Falsehood("history", why) for why in history.why), *unproven(seen)]
    if not seen.baseline.ok:
        return tuple(found)
    found += _counts(claim, seen, history)
    found += _tests(claim, seen, history)
    return tuple(dict.fromkeys(found))


def _counts(claim: Claim, seen: Repeated, history: History) -> Iterator[Falsehood]:
    """Yield false counts; each is compared only if measured on the same commits, with any one of the runs."""
    if history.same_base and claim.baseline is not None:
        counted = [counts(run) for run in seen.baselines]
        if (claim.baseline.passed, claim.baseline.failed, claim.baseline.ids_sha) not in counted:
            claimed = f"{claim.baseline.passed} passed and {claim.baseline.failed} failed"
            run = seen.baselines[0]
            sentence = f"On the base {claimed} by the claim; {run.one_line()} when run again."
            if counted[0][:2] == (claim.baseline.passed, claim.baseline.failed):
                sentence = f"On the base {claimed}, but not the tests that the claim's digest says."
            yield Falsehood("baseline", sentence)
    if history.same_base and claim.red_exit not in {None, seen.red.code}:
        yield Falsehood("red", f"The tests ended with {seen.red.code} on the base, not with {claim.red_exit}.")
    if history.same_head and claim.green_exit not in {None, seen.green.code}:
        yield Falsehood("green", f"The tests ended with {seen.green.code} on the head, not with {claim.green_exit}.")
    if history.same_head and claim.result and claim.result != seen.green.one_line():
        yield Falsehood("result", f"On the head {claim.result} by the claim; {seen.green.one_line()} when run again.")


def _tests(claim: Claim, seen: Repeated, history: History) -> Iterator[Falsehood]:
    """Yield false statements about each claimed test, then whether the claim lists all tests."""
    rows = {proof.test: proof for proof in proofs(seen.red, seen.green, seen.green_verdict.proven)}
    hollow = dict.fromkeys(seen.red_verdict.vacuous, "proves nothing")
    hollow |= dict.fromkeys(seen.red_verdict.duplicates, "repeats another test")
    each = (_test(test, red, seen, rows, hollow, history) for test, red in claim.tests.items())
    yield from chain.from_iterable(each)
    if len(claim.tests) < claim.count and digest(rows) != claim.ids_sha:
        yield Falsehood(
            "tests", f"{claim.count} tests are claimed; {len(rows)} were seen red and then green, or others."
        )
    if not claim.tests and seen.needs_tests and claim.proof is None:
        yield Falsehood("tests", "No test is claimed.")


def _test(
    test: TestId,
    red: str,
    seen: Repeated,
    rows: Mapping[TestId, Proof],
    vacuous: Mapping[TestId, str],
    history: History,
) -> Iterator[Falsehood]:
    row = rows.get(test)
    if test in seen.red.passed:
        yield Falsehood("red", f"{test} passes on the base.")
    elif test in vacuous:
        yield Falsehood("red", f"{test} {vacuous[test]}.")
    elif test not in seen.green.results:
        yield Falsehood("tests", f"{test} is not there on the head.")
    elif test not in seen.green.passed:
        yield Falsehood("green", f"{test}: {seen.green.results[test].outcome} on the head.")
    elif row is None:
        yield Falsehood("tests", f"{test} is no new test: it was not seen red and then green.")
    elif history.same_base and red not in {"", row.red}:
        yield Falsehood("red", f"{test}: {row.red} on the base, not {red}.")


def contradicted(claim: Claim, notes: Collection[Note]) -> Iterator[Falsehood]:
    """Yield attempts that differ from those of the notes, and a cost below theirs; nothing if there are no notes."""
    if not notes:
        return
    attempts = max(note.attempts for note in notes)
    if claim.attempts != attempts:
        told = f"{claim.attempts} attempts are claimed; the notes of its commits say {attempts}."
        yield Falsehood("attempts", told)
    costs = [note.cost_usd for note in notes]
    known = sum(cost for cost in costs if cost is not None)
    if claim.cost_usd is not None and (None in costs or claim.cost_usd < known - CENT):
        said = "is unknown" if None in costs else f"is ${known:.2f}"
        yield Falsehood("cost", f"${claim.cost_usd:.2f} is claimed; by the notes of its commits it {said}.")
