"""A task on its own GitHub: what has come of it, and the orders by which it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from console.tdd.lab_host import BASE, PERSON
from console.tdd.task import State, TaskRequest
from lab import locks
from lab.__main__ import REVIEWER
from lab.github.repositories.bare import Bare
from lab.github.server import Lab
from lab.github.world.comments import CommentRecord
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import ReviewRecord
from lab.github.world.repository import RepositoryRecord
from shared.budget import ledger_lines
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Entry
from shared.commands.command import Verb
from shared.errors import Blocked
from shared.github import status_record
from shared.github.status_record import without_record_text
from shared.lock import comment as layout
from shared.lock.codec import ItemKey
from shared.specification import body_sha256, plain_title
from shared.workflow import HALTED, Role, Stage
from shared.workflow.labels import Labels

ISSUE = 1
"""The number of the one specification."""


def threads(repository: RepositoryRecord) -> list[IssueRecord]:
    """The specification and its pull requests, oldest first."""
    pulls = (pull.number for pull in repository.pulls.records.values())
    return [repository.issues.require(number) for number in (ISSUE, *pulls)]


def halted(repository: RepositoryRecord) -> IssueRecord | None:
    """The thread from which only a person leads on, the newest of several; None where there is none."""
    shown = (one for one in reversed(threads(repository)) if Labels().read(one.labels).stages & HALTED)
    return next(shown, None)


async def halted_by(repository: RepositoryRecord, thread: IssueRecord) -> Role:
    """Return the agent that gave up at a thread."""
    fence = await locks.fence(repository, ItemKey(Role.WORKER, ISSUE))
    if not thread.is_pull or (fence is not None and fence.stage in HALTED):
        return Role.WORKER
    return Role.REVIEWER


def pending(repository: RepositoryRecord) -> bool:
    """Return whether the person has ordered something that no agent has answered yet."""
    return any(_waits(repository.comments.of(thread.number)) for thread in threads(repository))


def _waits(comments: Sequence[CommentRecord]) -> bool:
    """Return whether a thread has an order that no record answers and that is not older than the records dropped."""
    answered, dropped = set[int](), 0
    for comment in comments:
        if "<!-- engine-status/" in comment.body:
            known = [one["id"] for one in status_record.read_record(comment.body).get("commands", ())]
            answered |= set(known)
            dropped = max(dropped, status_record.dropped_below(known))
    return any(one.author == PERSON and one.id > dropped and one.id not in answered for one in comments)


def reword(lab: Lab, order: TaskRequest) -> None:
    """Set the specification to the text that is asked for now; `go_on` tells the agent that works on it."""
    issues = lab.at(order.name).issues
    known = issues.require(ISSUE)
    if (plain_title(known.title), known.body) != (order.title, order.text):
        issues.edit(ISSUE, PERSON, title=order.title, body=order.text)
        lab.save()


async def outdated(repository: RepositoryRecord) -> bool:
    """Return whether the work is bound to another text than the specification has now."""
    fence = await locks.fence(repository, ItemKey(Role.WORKER, ISSUE))
    issue = repository.issues.require(ISSUE)
    return fence is not None and fence.body_sha256 not in {"", body_sha256(issue.title, issue.body or "")}


async def go_on(lab: Lab, name: str) -> None:
    """Have the agents go on from where they stopped; an order that nobody has answered yet is not given twice.

    A worker gets all its attempts again. A reviewer goes on from the review that it has given: how many more there
    may be is said by the configuration under which it goes on. Where the text has changed since, the worker is asked
    to change what it has handed over.
    """
    repository = lab.at(name)
    if await _handed_over(repository) and await outdated(repository):
        _ask_for_changes(lab, repository)
        return
    thread = halted(repository)
    if thread is None or pending(repository):
        return
    by_worker = await halted_by(repository, thread) is Role.WORKER
    verb = Verb.RESET_ATTEMPTS if by_worker else Verb.RETRY
    lab.comment(name, thread.number, f"/{verb}", author=PERSON)
    lab.save()


async def _handed_over(repository: RepositoryRecord) -> bool:
    """Return whether there is an open pull request on which the worker is not at work."""
    fence = await locks.fence(repository, ItemKey(Role.WORKER, ISSUE))
    there = any(thread.is_pull and thread.open for thread in threads(repository))
    return there and fence is not None and fence.stage in HALTED | {Stage.REVIEWING}


def _ask_for_changes(lab: Lab, repository: RepositoryRecord) -> None:
    """The label of a person who asks for changes, in place of what stands there; it approves the text as it is."""
    names, thread = Labels(), threads(repository)[-1]
    asked = names.of(Stage.CHANGES_REQUESTED)
    others = [one for one in thread.labels if not names.read([one]).stages]
    if asked in thread.labels:
        lab.unlabel(repository.full_name, thread.number, asked, actor=PERSON)
    repository.issues.set_labels(thread.number, [*others, asked], PERSON)
    lab.save()


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
