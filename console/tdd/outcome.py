"""The state of a task, read from its own GitHub: the end and its result, the commits, and the ledger of costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from console.tdd.lab_host import BASE
from console.tdd.resume import ISSUE, halted, halted_by, pending, threads
from console.tdd.task import State
from lab import locks
from lab.__main__ import REVIEWER
from lab.github.repositories.bare import Bare
from lab.github.world.pulls import ReviewRecord
from lab.github.world.repository import RepositoryRecord
from shared.budget import ledger_lines
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Entry
from shared.errors import Blocked
from shared.github.status_record import without_record_text
from shared.lock import comment as layout
from shared.lock.codec import ItemKey
from shared.workflow import Role

WORK = f"refs/heads/auto/issue-{ISSUE}"
"""Branch of the worker's commits once its tests are green."""


_TO_DO = re.compile(r"^\*\*What to do:\*\* ([^\n]+?)[;,] then (?=set the label)", re.MULTILINE)
"""The advice of a comment, before the labels by which one goes on at GitHub."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """Outcome of the agents' work; `head` is the last commit of the work, empty where there is none."""

    state: State
    sentence: str
    reviews: int = 0
    head: str = ""


async def ended(repository: RepositoryRecord) -> TaskOutcome | None:
    """Return the outcome; None while an agent still works on it, or was told to."""
    known, stopped = threads(repository), halted(repository)
    approved = known[-1].is_pull and "status:approved" in known[-1].labels
    if not (approved or stopped or not known[0].open) or locks.held(repository) or pending(repository):
        return None
    judged, head = reviews(repository), await work(repository)
    if approved:
        return TaskOutcome(State.APPROVED, "The review approves.", len(judged), head)
    by = Role.WORKER if stopped is None else await halted_by(repository, stopped)
    said = last_word(repository, stopped.number if stopped and by is Role.REVIEWER else ISSUE, by)
    asks = bool(judged) and judged[-1].state == "CHANGES_REQUESTED"
    state = State.ROUNDS_USED_UP if by is Role.REVIEWER and asks else State.FAILED
    return TaskOutcome(state, said, len(judged), head)


def reviews(repository: RepositoryRecord) -> list[ReviewRecord]:
    """Return the reviewer's reviews; the worker's answers to remarks are reviews for GitHub, too."""
    return [one for one in repository.pulls.reviews.values() if one.author == REVIEWER]


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
    """Return if the work waits for a time that will come; else raise `Stuck` with what keeps agents from it."""
    pulls = [pull.number for pull in repository.pulls.records.values()]
    keys = (ItemKey(Role.WORKER, ISSUE), *(ItemKey(Role.REVIEWER, number) for number in pulls))
    fences = [await locks.fence(repository, key) for key in keys]
    if not any(fence is not None and fence.wait is not None for fence in fences):
        raise Stuck(f"Nobody can go on with it: {'; '.join(skipped) or last_word(repository, ISSUE)}")


def last_word(repository: RepositoryRecord, number: int, by: Role = Role.WORKER) -> str:
    """Return an agent's last sentence in its status comment on a thread, and its advice; without its table, and without
    the labels and commands by which one would go on there.
    """
    words = [text for one in repository.comments.of(number) if (text := layout.agent_text(one.body, by)) is not None]
    if not words:
        return "The engine left no word; see its logs."
    plain = without_record_text(words[-1]).partition("\n\n")[0].strip()
    todo = _TO_DO.search(words[-1])
    return f"{plain}\n\nWhat to do: {todo[1][:1].upper()}{todo[1][1:]}." if todo else plain


def description(repository: RepositoryRecord) -> str:
    """The body of the pull request on the task's own GitHub; empty before there is one."""
    pulls = repository.pulls.records.values()
    return repository.issues.require(pulls[-1].number).body or "" if pulls else ""


async def entries(bare: Bare) -> list[Entry]:
    """The lines of the ledger, oldest first; none where nobody has paid for anything."""
    if await bare.sha(REF) is None:
        return []
    shown = await bare.git.check("log", "--reverse", "--format=%B%x00", REF)
    found = (ledger_lines.read(message.strip()) for message in shown.text.split("\0"))
    return [entry for entry in found if entry is not None]
