"""Resuming a task that has failed or used up its reviews: by an order on its own GitHub."""

from __future__ import annotations

from collections.abc import Sequence

from console.tdd.lab_host import PERSON
from console.tdd.task import TaskRequest
from lab import locks
from lab.github.server import Lab
from lab.github.world.comments import CommentRecord
from lab.github.world.issues import IssueRecord
from lab.github.world.repository import RepositoryRecord
from shared.commands.command import Verb
from shared.github import status_record
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
