"""The text of a pull request, from what the item's notes prove; any machine can write it."""

from __future__ import annotations

from collections.abc import Iterable

from shared.git.notes import Note, Phase
from shared.lock.codec import Fence
from shared.lock.hold import Held
from shared.models import Issue
from worker_agent import comments
from worker_agent.tdd.evidence import Evidence, Proof, markdown
from worker_agent.workshop import Cost, Job, Workshop


async def pull_request_body(workshop: Workshop, held: Held, issue: Issue) -> str:
    """The body for the pull request of a green commit."""
    job = await workshop.open(held, issue)
    notes = await workshop.worksite.notes(job.space, held.fence)
    note = notes.get(held.fence.work_head)
    return comments.pull_request_body(
        issue,
        job.specification.goal or issue.title,
        markdown(_evidence(held.fence, note, _cost(notes.values()))) if note else "No note was found for this commit.",
        implied_criteria=_implied(job),
    )


def _cost(notes: Iterable[Note]) -> Cost:
    """Of all phases together, wherever they were run."""
    costs = [(note.cost_usd, note.cost_source) for note in notes]
    known = [usd for usd, _ in costs if usd is not None]
    if len(known) < len(costs):
        return Cost(None, "unknown")
    return Cost(sum(known), ", ".join(sorted({source for _, source in costs})))


def _evidence(fence: Fence, note: Note, cost: Cost) -> Evidence:
    rows = []
    for test in note.new_tests:
        outcome, _, message = note.red.get(test, "absent").partition(": ")
        rows.append(Proof(test, outcome, message, note.green.get(test, "")))
    baseline = note.baseline
    counted = f"{baseline.passed} passed, {baseline.failed} failed" if baseline else "unknown"
    return Evidence(
        base=note.base,
        head=fence.work_head,
        proofs=tuple(rows) if note.phase is Phase.GREEN else (),
        baseline=counted,
        result=note.test_result,
        attempts=note.attempts,
        cost_usd=cost.usd,
        cost_source=cost.source,
    )


def _implied(job: Job) -> bool:
    return any(criterion.implied for criterion in job.specification.criteria)
