"""How a task stands, read off its own GitHub: what is being done, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from console.tdd.site import BASE
from console.tdd.task import State
from lab import locks
from lab.world.repository import RepositoryRecord
from shared.errors import Blocked
from shared.lock.codec import ItemKey
from shared.workflow import Role

ISSUE = 1
"""The number of the one specification."""

WORK = f"refs/heads/auto/issue-{ISSUE}"
"""Where the worker's commits lie once its tests are green."""

_HALTED = {"status:failed", "status:ci-failed"}

_NEWS: Mapping[str, str] = {
    "status:implementing": "Writing tests and code.",
    "status:testing": "The tests pass.",
    "status:reviewing": "Waiting for review.",
    "status:in-review": "Reviewing.",
    "status:changes-requested": "The review requests changes.",
    "status:approved": "The review approves.",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the engine's part ended; `head` is the last commit of the work, empty where there is none."""

    state: State
    sentence: str
    reviews: int = 0
    head: str = ""


def news(repository: RepositoryRecord) -> str:
    """What is being done now, in a sentence; empty before anything is."""
    pulls = repository.pulls.records.values()
    labels = repository.issues.require(pulls[-1].number if pulls else ISSUE).labels
    return next((_NEWS[label] for label in labels if label in _NEWS), "")


async def ended(repository: RepositoryRecord) -> Outcome | None:
    """How it ended; None while somebody still works on it."""
    pulls = repository.pulls.records.values()
    threads = [repository.issues.require(number) for number in (ISSUE, *(pull.number for pull in pulls))]
    labels = {label for thread in threads for label in thread.labels}
    approved = bool(pulls) and "status:approved" in threads[-1].labels
    if not (approved or labels & _HALTED or not threads[0].open) or locks.held(repository):
        return None
    judged = repository.pulls.reviews.values()
    head = await work(repository)
    if approved:
        return Outcome(State.APPROVED, "The review approves.", len(judged), head)
    halted = next((one for one in reversed(threads) if _HALTED & set(one.labels)), threads[0])
    said = last_word(repository, halted.number)
    if judged and halted.is_pull and judged[-1].state == "CHANGES_REQUESTED":
        return Outcome(State.ROUNDS_USED_UP, said, len(judged), head)
    return Outcome(State.FAILED, said, len(judged), head)


async def work(repository: RepositoryRecord) -> str:
    """The last commit of the work: of its branch, else what is kept of unfinished work; empty for none."""
    if head := await repository.bare.sha(WORK):
        return head
    fence = await locks.fence(repository, ItemKey(Role.WORKER, ISSUE))
    base = await repository.bare.sha(f"refs/heads/{BASE}")
    return fence.work_head if fence is not None and fence.work_head not in {"", base} else ""


class Stuck(Blocked):
    """Nobody goes on with it, and it does not wait for anything that comes by itself."""


async def check_stuck(repository: RepositoryRecord, skipped: Sequence[str]) -> None:
    """Return while it waits for a time that will come; raises `Stuck` with what keeps everybody from working on it."""
    pulls = [pull.number for pull in repository.pulls.records.values()]
    keys = (ItemKey(Role.WORKER, ISSUE), *(ItemKey(Role.REVIEWER, number) for number in pulls))
    fences = [await locks.fence(repository, key) for key in keys]
    if not any(fence is not None and fence.wait is not None for fence in fences):
        raise Stuck(f"Nobody can go on with it: {'; '.join(skipped) or last_word(repository, ISSUE)}")


def last_word(repository: RepositoryRecord, number: int) -> str:
    """What the engine says last in its status comment on a thread; without its table, and the labels and commands
    by which one would go on there.
    """
    comments = [one.body for one in repository.comments.of(number) if "<!-- engine-status/" in one.body]
    said = comments[-1].partition("\n\n| | |")[0] if comments else "The engine left no word; see its logs."
    return "\n".join(line for line in said.splitlines() if not line.startswith("<!--")).strip()


def description(repository: RepositoryRecord) -> str:
    """The body of the pull request on the task's own GitHub; empty before there is one."""
    pulls = repository.pulls.records.values()
    return repository.issues.require(pulls[-1].number).body or "" if pulls else ""
