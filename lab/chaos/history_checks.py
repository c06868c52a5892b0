"""Judgement of a trial's history, by the server's log of refs, its git objects and the writes to its API.

Nothing here asks the engine what it did: the two logs and the commits are the evidence.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.chaos.evidence import ACTIVE, FENCE, AckWrite, FenceMove, Post
from lab.github.repositories.ref_log import RefChange

BRANCH = re.compile(r"refs/(?:heads/auto/issue-|notes/workflow/issue-)(?P<number>[0-9]+)(?:-[a-z0-9-]+)?")
"""Refs that move with the fence of their issue alone, where the engine moves them."""

HOUR_SECONDS = 3600.0
POSTS_PER_HOUR = 500
"""GitHub's limit of an account's content."""

END = "done"


@dataclass(frozen=True)
class Evidence:
    """Records of a trial: `engine` are the logins of its agents, `free_after` seconds without a sign free a lock."""

    changes: Sequence[RefChange]
    fences: Mapping[str, Sequence[FenceMove]]
    acks: Sequence[AckWrite]
    posts: Sequence[Post]
    engine: frozenset[str]
    free_after: float


@dataclass(frozen=True, slots=True)
class Allowance:
    """Number of unavoidable errors that are allowed, by the troubles that were made.

    `pauses`: agents that stood still for longer than a lock lasts. `interruptions`: everything that ends a paid run
    before its result is recorded. `lost_posts`: comments of which nobody learned that they were posted.
    """

    pauses: int
    interruptions: int
    lost_posts: int


@dataclass
class HistoryReport:
    """Errors of a trial, and counts of what may happen."""

    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def judge(evidence: Evidence, allowed: Allowance) -> HistoryReport:
    """Judge the whole history."""
    report = HistoryReport()
    for line in evidence.fences.values():
        report.wrong += [*_check_chain(line), *_check_epochs(line), *_check_early(line, evidence)]
    report.wrong += [*_check_recreated(evidence.changes), *_check_unfenced(evidence)]
    _count_paid_runs(report, evidence, allowed)
    _count_overlaps(report, evidence, allowed)
    _count_ack_comments(report, evidence, allowed)
    _count_posts(report, evidence)
    return report


def _check_chain(line: Sequence[FenceMove]) -> Iterator[str]:
    for move in line:
        if move.parent != move.old and not (move.old is None and move.parent is None):
            yield f"{move.ref}: {move.new[:12]} is built on {move.parent}, not on {move.old} that it replaced."


def _check_epochs(line: Sequence[FenceMove]) -> Iterator[str]:
    """An epoch is one run of moves with one nonce of one agent, and its number is above those before."""
    ended: set[str] = set()
    for before, move in zip([None, *line], line, strict=False):
        if not move.nonce:
            yield f"{move.ref}: {move.new[:12]} names no epoch."
        if before is None or before.nonce == move.nonce:
            if before is not None and before.agent != move.agent:
                yield f"{move.ref}: the epoch {move.nonce[:8]} has two agents, {before.agent} and {move.agent}."
            continue
        ended.add(before.nonce)
        if move.nonce in ended:
            yield f"{move.ref}: the epoch {move.nonce[:8]} went on after another had begun."
        if _went_back(before, move):
            yield f"{move.ref}: epoch {move.number} came after {before.number}."


def _went_back(before: FenceMove, move: FenceMove) -> bool:
    """The second format counts: one more for each claim. The first one has ids, and keeps one that goes on."""
    if "Epoch" in move.trailers and "Epoch" in before.trailers:
        return move.number != before.number + 1
    return "Epoch" not in move.trailers and ("Epoch" in before.trailers or move.number < before.number)


def _check_recreated(changes: Sequence[RefChange]) -> Iterator[str]:
    gone: set[str] = set()
    for change in changes:
        for ref, _, new in change.moves:
            if FENCE.fullmatch(ref):
                if new is not None and ref in gone:
                    yield f"{ref} was made anew after it had been deleted."
                (gone.add if new is None else gone.discard)(ref)


def _check_unfenced(evidence: Evidence) -> Iterator[str]:
    """Yield each move of a work branch or its notes that came without a fence that says so."""
    for change in evidence.changes:
        if change.by not in evidence.engine:
            continue
        fences = {ref: new for ref, _, new in change.moves if FENCE.fullmatch(ref)}
        for ref, _, new in change.moves:
            found = BRANCH.fullmatch(ref)
            if found is None:
                continue
            fence = fences.get(f"refs/ack/worker/{found['number']}")
            if fence is None:
                yield f"{ref} was moved to {new} by {change.by} without the fence of its issue."
            elif new is not None and ref.startswith("refs/heads/"):
                work_head = _trailers(evidence, fence).get("Work-Head")
                if work_head != new:
                    yield f"{ref} was moved to {new}, and its fence says {work_head}."


def _trailers(evidence: Evidence, commit: str) -> Mapping[str, str]:
    every = (move for line in evidence.fences.values() for move in line)
    return next((move.trailers for move in every if move.new == commit), {})


def _count_paid_runs(report: HistoryReport, evidence: Evidence, allowed: Allowance) -> None:
    """Count paid runs that were made again; more of them than interruptions from outside are an error."""
    again: Counter[str] = Counter()
    for ref, line in evidence.fences.items():
        made: Counter[tuple[str, ...]] = Counter()
        for before, move in itertools.pairwise(line):
            if move.runs > before.runs and move.progress == before.progress:
                report.counts["paid runs"] += 1
                made[move.progress] += 1
        again[ref] = sum(count - 1 for count in made.values())
    report.counts["paid runs made again"] = again.total()
    if again.total() > allowed.interruptions:
        worst = ", ".join(f"{ref} {count}" for ref, count in again.most_common(3) if count)
        report.wrong.append(
            f"{again.total()} paid runs were made again, {allowed.interruptions} were interrupted: {worst}."
        )


def _epoch_ends(line: Sequence[FenceMove]) -> Iterator[tuple[FenceMove, FenceMove]]:
    """Return the last move of each epoch, with the first of the next one."""
    return ((before, move) for before, move in itertools.pairwise(line) if before.nonce != move.nonce)


def _count_overlaps(report: HistoryReport, evidence: Evidence, allowed: Allowance) -> None:
    """Count agents that still said "active" after another agent's epoch had begun; only a pause explains one."""
    found: list[str] = []
    for ref, line in evidence.fences.items():
        for before, move in _epoch_ends(line):
            active = [one for one in evidence.acks if one.nonce == before.nonce and one.state == ACTIVE]
            late = [one.at for one in active if one.at > move.at]
            if late and before.agent != move.agent:
                found.append(f"{ref}: {before.agent} until {max(late) - move.at:.0f} s after {move.agent} began")
    report.counts["overlapping holders"] = len(found)
    if len(found) > allowed.pauses:
        report.wrong.append(f"{len(found)} holders overlapped, {allowed.pauses} were paused: {'; '.join(found[:3])}.")


def _check_early(line: Sequence[FenceMove], evidence: Evidence) -> Iterator[str]:
    """Yield each takeover of a lock whose holder has shown to be alive and has not released it."""
    for before, move in _epoch_ends(line):
        if before.agent == move.agent or before.released or before.trailers.get("Stage") == END:
            continue
        signs = [one for one in evidence.acks if one.nonce == before.nonce and one.at <= move.at]
        if any(one.state != ACTIVE for one in signs):
            continue
        last = max([before.at, *(one.at for one in signs)])
        if move.at - last < evidence.free_after:
            yield f"{move.ref}: {move.agent} took over {move.at - last:.1f} s after a sign of {before.agent}."


def _count_ack_comments(report: HistoryReport, evidence: Evidence, allowed: Allowance) -> None:
    """Count ACK comments: one for each kind and thread, and one more for each post that was lost."""
    made = Counter((one.number, one.kind) for one in evidence.acks if one.posted and one.shared)
    more = {where: count - 1 for where, count in made.items() if count > 1}
    report.counts["ACK comments"] = made.total()
    report.counts["ACK comments beyond one"] = sum(more.values())
    if sum(more.values()) > allowed.lost_posts:
        worst = ", ".join(f"#{number} {kind} {count}" for (number, kind), count in made.most_common(3))
        report.wrong.append(
            f"{sum(more.values())} threads got ACK comments beyond the first, "
            f"{allowed.lost_posts} posts were lost: {worst}."
        )


def _count_posts(report: HistoryReport, evidence: Evidence) -> None:
    """Count the posts of each account within any hour; more than GitHub's limit are an error."""
    times_of: dict[str, list[float]] = {}
    for post in evidence.posts:
        times_of.setdefault(post.author, []).append(post.at)
    name = "most posts of an account in an hour"
    for author, times in times_of.items():
        most = max(sum(at <= one < at + HOUR_SECONDS for one in times) for at in times)
        report.counts[name] = max(most, report.counts[name])
        if most > POSTS_PER_HOUR:
            report.wrong.append(f"{author} posted {most} times within an hour.")
