"""The facts about a change for its pull request, from the item's signed notes; any machine can collect them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.git.notes import Baseline, CommitKind, Note, ProofNote
from shared.git.patch_policy import flagged
from shared.git.proof_claim import Claim, digest
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.models import Issue
from worker_agent.attempt_history import RefusedAttempts
from worker_agent.phase_tools import Cost, PhaseTools
from worker_agent.pull_request_body import ChangeSummary
from worker_agent.tdd import claim_writing
from worker_agent.tdd.claim_writing import claimed, together
from worker_agent.tdd.evidence import Evidence, Proof, criterion_of, markdown
from worker_agent.tdd.phases import next_phase
from worker_agent.tdd.renewed_evidence import is_renewed, renewed
from worker_agent.work_context import WorkContext

Phases = Sequence[tuple[str, Note]]
"""The phase commits between the base and the head, oldest first, each with its note."""


async def described(tools: PhaseTools, held: Held, issue: Issue) -> ChangeSummary | None:
    """Return the facts about the fence's commit for its pull request; None if no note was found for it."""
    work = await tools.open(held, issue)
    phases = await next_phase.phases(tools, work)
    if renewed(phases) is None and held.fence.work_head not in dict(phases):
        return None
    notes, shown = await tools.phase_commits.notes(work.space, held.fence), _Shown.of(held.fence, phases)
    evidence = _evidence(shown, phases, _cost(notes.values()), _criteria(work))
    claimed_ = _is_claimed(shown.phases, evidence.tried)
    changed = await work.space.changes(held.fence.base, held.fence.work_head)
    return ChangeSummary(
        issue,
        held.fence,
        work.specification.goal or issue.title,
        markdown(evidence),
        summary=_summary(phases),
        part_of=work.specification.part_of,
        implied_criteria=any(criterion.implied for criterion in work.specification.criteria),
        flagged=flagged(changed),
        test_commands=work.test_commands,
        claim=claim_writing.write(_claim(held.fence, shown, evidence), tools.phase_commits.keys) if claimed_ else "",
        merges=tools.policy.pulls.merge,
        documentation=tools.policy.pulls.documentation,
        set_aside=evidence.set_aside,
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """The phases that the pull request shows, up to the commit `head`, and those of them that prove its tests."""

    base: str
    head: str
    phases: Phases
    proving: Phases

    @classmethod
    def of(cls, fence: Fence, phases: Phases) -> _Shown:
        """Select the phases to show: evidence renewed after the pull request was opened replaces the earlier proof."""
        newest = renewed(phases)
        if newest is None:
            green = [(oid, note) for oid, note in phases if note.phase is CommitKind.GREEN]
            return cls(phases[0][1].base, fence.work_head, phases, green)
        upto = phases[: [oid for oid, _ in phases].index(newest[0]) + 1]
        return cls(newest[1].base, newest[0], upto, [newest])

    @property
    def is_renewed(self) -> bool:
        """True if the evidence was renewed after the pull request was opened."""
        return any(is_renewed(note) for _, note in self.proving)

    @property
    def counted(self) -> Phases:
        """The phases whose figures count: all, or only the one that renewed the evidence."""
        return self.proving if self.is_renewed else self.phases


def unproven(held: Held, issue: Issue) -> ChangeSummary:
    """Return the facts about a commit for which there is no note."""
    return ChangeSummary(issue, held.fence, issue.title, "No test results were found for this commit.")


def _summary(phases: Phases) -> str:
    """Return the summaries that the coders of all cycles wrote about the change."""
    return " ".join(note.summary for _, note in phases if note.phase is CommitKind.GREEN and note.summary)


def _is_claimed(phases: Phases, tried: ProofNote | None) -> bool:
    """Return whether a claim is made: there is a red phase, or a change of old tests, that can be repeated."""
    touched = tried is not None and (tried.changed_tests or tried.removed_tests or tried.pinned or tried.doubts)
    return bool(touched) or any(note.phase is CommitKind.RED for _, note in phases)


def _cost(notes: Iterable[Note]) -> Cost:
    """Return the cost of all phases together, on whichever machines they ran."""
    costs = [(note.cost_usd, note.cost_source) for note in notes]
    known = [usd for usd, _ in costs if usd is not None]
    if len(known) < len(costs):
        return Cost(None, "unknown")
    return Cost(sum(known), ", ".join(sorted({source for _, source in costs if source})))


def _evidence(shown: _Shown, every: Phases, cost: Cost, criteria: Mapping[str, str]) -> Evidence:
    phases, last = shown.phases, shown.phases[-1][1]
    covers = {test: criterion for _, note in every for test, criterion in note.covers.items()}
    green = [place for place, (_, note) in enumerate(every) if note.phase is CommitKind.GREEN]
    baseline = next((note.baseline for _, note in shown.counted if note.baseline), None)
    return Evidence(
        base=shown.base,
        head=shown.head,
        proofs=tuple(row for _, note in shown.proving for row in _rows(note, criteria, covers)),
        baseline=_before(baseline) if baseline else "not run",
        result=last.test_result,
        attempts=max(note.attempts for _, note in phases),
        cost_usd=cost.usd,
        cost_source=cost.source,
        green_exit=last.exit_code,
        refused=tuple(_refused_attempts(phases)),
        criteria=criteria,
        set_aside=tuple(criterion for _, note in phases for criterion in note.set_aside),
        quality={command: ended for _, note in phases for command, ended in note.quality.items()},
        later=tuple(_later(every[green[-1] + 1 :] if green else ())),
        tried=together([note.proof for _, note in shown.counted if note.proof is not None]),
    )


def _before(baseline: Baseline) -> str:
    return f"{baseline.passed} passed" + (f", {baseline.failed} failed" if baseline.failed else "")


def _rows(note: Note, criteria: Collection[str], covers: Mapping[str, str]) -> Iterator[Proof]:
    for test in note.new_tests:
        outcome, _, message = note.red.get(test, "absent").partition(": ")
        told = covers.get(test, "")
        criterion = note.current_test if note.current_test in criteria else criterion_of(test, criteria)
        yield Proof(test, outcome, message, note.green.get(test, ""), criterion or (told if told in criteria else ""))


def _later(phases: Phases) -> Iterator[tuple[str, str]]:
    """Yield the commit and one line of text for each phase after the first green commit."""
    for oid, note in phases:
        answered = [one.said for one in note.answers if one.done and one.said]
        said = " ".join(filter(None, [_DID.get(note.phase, ""), note.summary or " ".join(answered)]))
        yield oid, said or "Changed after the first version."


_DID = {CommitKind.REFACTOR: "Refactored.", CommitKind.SYNC: "Merged the base branch."}


def _refused_attempts(phases: Phases) -> Iterator[str]:
    refused = RefusedAttempts()
    for _, note in phases:
        yield from (f"{criterion} was set aside: {why}" for criterion, why in note.set_aside.items())
        for error in refused.of(note):
            yield f"{error.message[:1].upper()}{error.message[1:]}"
            yield from error.details.splitlines()


def _claim(fence: Fence, shown: _Shown, evidence: Evidence) -> Claim:
    """Return the evidence for machines; red results are claimed only for tests that were red on the first base."""
    base, phases = evidence.base, shown.counted
    elsewhere = {test for _, note in phases if note.base != base for test in note.new_tests}
    reds = [note for _, note in phases if note.phase is CommitKind.RED]
    rows = evidence.proofs
    return Claim(
        issue=fence.key.number,
        base=base,
        head=evidence.head,
        count=len(rows),
        ids_sha=digest(row.test for row in rows),
        tests={row.test: "" if row.test in elsewhere else row.red for row in rows},
        baseline=next((note.baseline for _, note in phases if note.baseline), None),
        result=evidence.result,
        red_exit=reds[0].exit_code if len(reds) == 1 else None,
        green_exit=evidence.green_exit,
        attempts=evidence.attempts,
        cost_usd=evidence.cost_usd,
        proof=claimed(evidence.tried) if evidence.tried else None,
        criteria=tuple(sorted({row.criterion for row in rows if row.criterion})),
    )


def _criteria(work: WorkContext) -> dict[str, str]:
    return {criterion.id: criterion.text for criterion in work.specification.criteria if not criterion.implied}
