"""Results of a trial: the state of each issue, and everything that must never be, one sentence each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from lab import locks
from lab.chaos.setup import TrialHost
from lab.github.world.issues import IssueRecord
from shared.lock.fence import Fence
from shared.workflow import TERMINAL, Stage

STAGE = "status:"
HALTED = frozenset({"status:failed", "status:ci-failed"})

_PART = re.compile(r"<!-- engine-spec/1 parent=(?P<parent>[0-9]+) key=(?P<key>\S+)")
_MARK = re.compile(r"<!-- (engine-[a-z]+/\d+)(?: kind=[a-z]+)?(?: sha=[0-9a-f]+)?")


@dataclass(frozen=True, slots=True)
class SpecificationResult:
    """One specification: its thread, its pull requests, whether people stopped it, and the seconds that it took."""

    number: int
    title: str
    pulls: int
    merged: int
    open: bool
    halted: bool
    seconds: int


def rows(host: TrialHost) -> list[SpecificationResult]:
    """Every specification, written by hand or made from a story."""
    threads = [one for one in host.repository.issues.records.values() if not one.is_pull]
    return [_result(host, one) for one in threads if "story" not in one.labels]


def _result(host: TrialHost, thread: IssueRecord) -> SpecificationResult:
    branch = f"auto/issue-{thread.number}"
    pulls = [one for one in host.repository.pulls.records.values() if one.head_branch == branch]
    ends = thread.closed_at or int(host.lab.clock.now())
    merged = sum(one.merged_at is not None for one in pulls)
    halted = bool(HALTED & set(thread.labels))
    return SpecificationResult(
        thread.number, thread.title, len(pulls), merged, thread.open, halted, ends - thread.created_at
    )


def finished(host: TrialHost) -> bool:
    """Return whether nothing more will happen: all is closed, and no lock is left."""
    return not any(one.open for one in host.repository.issues.records.values()) and not _list_locks(host)


async def at_rest(host: TrialHost) -> bool:
    """Return whether all is finished in the fences, too; late answers of a replica end two minutes after the change."""
    return finished(host) and all(fence.stage in TERMINAL for fence in await locks.fences(host.repository))


async def violations(host: TrialHost, pushed: Mapping[str, str]) -> list[str]:
    """Return everything that is not as it must be; `pushed` are a person's files and their branches."""
    return [
        *_find_unfinished(host),
        *(f"A lock is left: {one}." for one in _list_locks(host)),
        *_find_repeated(host),
        *_check_children(host),
        *[sentence async for sentence in _check_labels(host)],
        *[sentence async for sentence in _find_overwritten(host, pushed)],
    ]


def _parent(thread: IssueRecord) -> int:
    """The story that a specification was made from; 0 when people wrote it."""
    found = _PART.search(thread.body or "")
    return int(found["parent"]) if found else 0


def _list_locks(host: TrialHost) -> list[str]:
    return locks.held(host.repository, datetime.fromtimestamp(host.lab.clock.now(), UTC))


def _find_unfinished(host: TrialHost) -> Iterator[str]:
    for row in rows(host):
        if row.pulls != 1:
            yield f"#{row.number} has {row.pulls} pull requests."
        if row.open or row.merged != 1:
            yield f"#{row.number} is not finished: open {row.open}, merged {row.merged}, halted {row.halted}."
    if not finished(host):
        open_ones = [one.number for one in host.repository.issues.records.values() if one.open]
        yield f"Not everything has come to an end; open: {open_ones}."


def _find_repeated(host: TrialHost) -> Iterator[str]:
    repository = host.repository
    comments = Counter(
        (one.number, found[0]) for one in repository.comments.records.values() if (found := _MARK.search(one.body))
    )
    reviews = Counter((one.number, one.author, one.commit_id) for one in repository.pulls.reviews.values())
    for (number, mark), count in comments.items():
        if count > 1:
            yield f"#{number} has {count} comments '{mark}'."
    for (number, author, commit), count in reviews.items():
        if count > 1:
            yield f"#{number} was reviewed {count} times at {commit[:12]} by {author}."


def _check_children(host: TrialHost) -> Iterator[str]:
    threads = host.repository.issues.records.values()
    children = Counter(_parent(one) for one in threads if not one.is_pull)
    for thread in threads:
        if "story" in thread.labels and children[thread.number] != 1:
            yield f"The story #{thread.number} became {children[thread.number]} specifications."


async def _check_labels(host: TrialHost) -> AsyncIterator[str]:
    """Yield wrong labels: an open thread must show its fence's stage, a finished one none."""
    for fence in await locks.fences(host.repository):
        thread = host.repository.issues.records.get(fence.key.number)
        if thread is not None and (wrong := _describe_difference(fence, thread)):
            yield wrong


def _describe_difference(fence: Fence, thread: IssueRecord) -> str:
    shown = sorted(label.removeprefix(STAGE) for label in thread.labels if label.startswith(STAGE))
    facts = f"#{thread.number} shows {shown}, its {fence.key.kind} fence says {fence.stage}"
    if thread.open:
        return "" if shown == [str(fence.stage)] or thread.is_pull else f"{facts}."
    if fence.stage is not Stage.DONE:
        return f"{facts} though it is closed."
    return f"{facts}; what is done shows no stage." if shown else ""


async def _find_overwritten(host: TrialHost, pushed: Mapping[str, str]) -> AsyncIterator[str]:
    """Yield files of a person that are missing on the base, on their branch and in its pull request."""
    bare, pulls = host.repository.bare, host.repository.pulls.records.values()
    for path, branch in pushed.items():
        refs = [host.repository.facts.default_branch, branch]
        refs += [f"refs/pull/{one.number}/head" for one in pulls if one.head_branch == branch]
        found = [ref for ref in refs if await bare.sha(ref) is not None and await bare.read(ref, path) is not None]
        if not found:
            yield f"The commit of a person on {branch} ({path}) is gone."
