"""The text of a pull request, from what the item's notes prove; any machine can write it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shared.git.notes import Note, NoteError, Phase, ProofNote
from shared.git.patch_policy import Policy, flagged
from shared.lock.hold import Held
from shared.lock.record import Fence
from shared.marks import Keyring
from shared.models import Issue
from worker_agent import comments
from worker_agent.tdd import claim
from worker_agent.tdd.claim import Claim, digest
from worker_agent.tdd.evidence import Evidence, Proof, criterion_of, markdown
from worker_agent.tdd.phases import agenda
from worker_agent.tdd.renewed_evidence import is_renewed, renewed
from worker_agent.tdd.whole_proof import claimed, together
from worker_agent.workshop import Cost, Job, Workshop

Phases = Sequence[tuple[str, Note]]
"""The phase commits between the base and the head, oldest first, each with its note."""


async def pull_request_body(workshop: Workshop, held: Held, issue: Issue) -> str:
    """The body for the pull request of a green commit."""
    job = await workshop.open(held, issue)
    told, line = await _section(workshop, job)
    changed = await job.space.changes(held.fence.base, held.fence.work_head)
    return comments.pull_request_body(
        issue,
        job.specification.goal or issue.title,
        told,
        implied_criteria=_implied(job),
        flagged=flagged(changed, policy=Policy()),
        claim=line,
    )


def is_outdated(body: str, fence: Fence, keys: Keyring) -> bool:
    """Whether a body claims something of another commit than the fence's, or nothing."""
    try:
        return claim.read(body, keys)[0].head != fence.work_head
    except claim.NoClaim:
        return True


async def renewed_body(workshop: Workshop, held: Held, issue: Issue, body: str) -> str:
    """The body of an open pull request with the newest evidence there is; what else stands in it stays.

    Where nothing was proved since, or a person took the section out, it is what it was.
    """
    job = await workshop.open(held, issue)
    newest = renewed(await agenda.phases(workshop, job))
    if newest is None:
        return body
    told, line = await _section(workshop, job)
    return comments.with_evidence(body, told, implied_criteria=_implied(job), claim=line)


async def _section(workshop: Workshop, job: Job) -> tuple[str, str]:
    """The evidence for people, and the line for programs."""
    fence = job.held.fence
    phases = await agenda.phases(workshop, job)
    if renewed(phases) is None and fence.work_head not in dict(phases):
        return "No note was found for this commit.", ""
    shown, notes = _Shown.of(fence, phases), await workshop.worksite.notes(job.space, fence)
    evidence = _evidence(shown, _cost(notes.values()), _criteria(job))
    is_claimed = _is_claimed(shown.phases, evidence.tried)
    return markdown(evidence), claim.write(_claim(fence, shown, evidence), workshop.worksite.keys) if is_claimed else ""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown: the phases up to the commit `head`, and those of them that prove its tests."""

    base: str
    head: str
    phases: Phases
    proving: Phases

    @classmethod
    def of(cls, fence: Fence, phases: Phases) -> _Shown:
        """What was made anew goes before what was proved when the pull request was opened."""
        newest = renewed(phases)
        if newest is None:
            green = [(oid, note) for oid, note in phases if note.phase is Phase.GREEN]
            return cls(phases[0][1].base, fence.work_head, phases, green)
        upto = phases[: [oid for oid, _ in phases].index(newest[0]) + 1]
        return cls(newest[1].base, newest[0], upto, [newest])

    @property
    def is_renewed(self) -> bool:
        """Whether the evidence was made anew after the pull request was opened."""
        return any(is_renewed(note) for _, note in self.proving)


def _is_claimed(phases: Phases, tried: ProofNote | None) -> bool:
    """Whether there is something to repeat, a red or what became of old tests."""
    touched = tried is not None and (tried.changed_tests or tried.removed_tests or tried.pinned or tried.doubts)
    return bool(touched) or any(note.phase is Phase.RED for _, note in phases)


def _cost(notes: Iterable[Note]) -> Cost:
    """Of all phases together, wherever they were run."""
    costs = [(note.cost_usd, note.cost_source) for note in notes]
    known = [usd for usd, _ in costs if usd is not None]
    if len(known) < len(costs):
        return Cost(None, "unknown")
    return Cost(sum(known), ", ".join(sorted({source for _, source in costs if source})))


def _evidence(shown: _Shown, cost: Cost, criteria: Sequence[str]) -> Evidence:
    phases, last = shown.phases, shown.phases[-1][1]
    counted = [note.baseline for _, note in (shown.proving if shown.is_renewed else phases) if note.baseline]
    proofs = [note.proof for _, note in (shown.proving if shown.is_renewed else phases) if note.proof is not None]
    reds = [] if shown.is_renewed else [(oid, note) for oid, note in phases if note.phase is Phase.RED]
    return Evidence(
        base=shown.base,
        head=shown.head,
        proofs=tuple(row for _, note in shown.proving for row in _rows(note, criteria)),
        baseline=f"{counted[0].passed} passed, {counted[0].failed} failed" if counted else "unknown",
        result=last.test_result,
        attempts=max(note.attempts for _, note in phases),
        cost_usd=cost.usd,
        cost_source=cost.source,
        red_runs=tuple(_run(oid, note) for oid, note in reds),
        green_exit=last.exit_code,
        refused=tuple(_refused(phases)),
        criteria=tuple(criteria),
        set_aside=tuple(criterion for _, note in phases for criterion in note.set_aside),
        quality={command: ended for _, note in phases for command, ended in note.quality.items()},
        scanned=True,  # nothing gets into a fence without it
        tried=together(proofs),
    )


def _rows(note: Note, criteria: Sequence[str]) -> Iterator[Proof]:
    for test in note.new_tests:
        outcome, _, message = note.red.get(test, "absent").partition(": ")
        criterion = note.current_test if note.current_test in criteria else criterion_of(test, criteria)
        yield Proof(test, outcome, message, note.green.get(test, ""), criterion)


def _run(oid: str, note: Note) -> str:
    ended = "" if note.exit_code is None else f", exit code {note.exit_code}"
    return f"commit {oid[:12]} on {note.base[:12]}: {note.test_result}{ended}"


def _refused(phases: Phases) -> Iterator[str]:
    told: list[NoteError] = []
    for _, note in phases:
        yield from (f"{criterion} was set aside: {why}" for criterion, why in note.set_aside.items())
        for error in filter(None, (note.error, *note.rolled_back)):
            if error not in told:  # the last refused try stands in the note of both commits
                told.append(error)
                yield ": ".join(filter(None, (note.phase, error.type, error.message)))
                yield from error.details.splitlines()


def _claim(fence: Fence, shown: _Shown, evidence: Evidence) -> Claim:
    """The same for machines; how a test was red is only claimed of those that were red on the first base."""
    base, phases = evidence.base, shown.proving if shown.is_renewed else shown.phases
    elsewhere = {test for _, note in phases if note.base != base for test in note.new_tests}
    reds = [note for _, note in phases if note.phase is Phase.RED]
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


def _criteria(job: Job) -> tuple[str, ...]:
    return tuple(criterion.id for criterion in job.specification.criteria if not criterion.implied)


def _implied(job: Job) -> bool:
    return any(criterion.implied for criterion in job.specification.criteria)
