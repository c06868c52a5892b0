"""The first issue: a list of good candidates, or a sentence at the prompt; its label is the person's order."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from config.repository import RepositorySettings
from console.doctor.finding import Machine
from console.doctor.probes import acting
from console.start.draft import Draft
from console.start.questions import Person, ask
from planner_agent.story import split
from runtime.output import show
from shared.errors import Misconfigured
from shared.github.client import GitHub
from shared.github.errors import NotFound
from shared.github.issues import Issues
from shared.github.label_board import LabelBoard
from shared.github.people import invisible_item
from shared.lock.write_permit import OperatorPermit
from shared.models import Issue
from shared.text import one_line
from shared.workflow import Role, Stage

ORDER = OperatorPermit("start")

OFFERED = 5
"""Candidates that are shown, at most."""

TITLE_CHARS = 60

INVITING = ("good first issue", "help wanted", "bug", "enhancement", "documentation")
"""Labels of GitHub's own that say that an issue is meant to be taken up, the smallest work first."""

FREE = "A number of these, or what is wanted in a sentence (Enter: none now)"
NONE_OPEN = "What is wanted, in a sentence whose result can be tested (Enter: nothing now)"


@dataclass(frozen=True, slots=True)
class OpenIssues:
    """Open issues: those that a worker may take or already works on, and good candidates."""

    ordered: tuple[Issue, ...]
    offered: tuple[Issue, ...]


def standing(open_items: Iterable[Issue], configured: RepositorySettings) -> OpenIssues:
    """Return the ordered issues of a repository, and the candidates that may be offered, best first (pure)."""
    names, left_out = configured.labels.names(), {one.casefold() for one in configured.labels.exclude}
    ordered, offered = [], []
    for issue in open_items:
        labels = {label.casefold() for label in issue.labels}
        if issue.is_pull_request or issue.locked or labels & left_out:
            continue
        if stages := names.read(issue.labels).stages:
            ordered += [issue] if stages <= _WORKERS else []
        elif not issue.assignees and not issue.blocked_by and names.story.casefold() not in labels:
            offered.append(issue)
    offered.sort(key=lambda one: (_invitation(one), one.comments, one.number))
    return OpenIssues(tuple(ordered), tuple(offered[:OFFERED]))


_WORKERS = frozenset({Stage.READY, Stage.IMPLEMENTING, Stage.TESTING})


def _invitation(issue: Issue) -> int:
    labels = {label.casefold() for label in issue.labels}
    return next((rank for rank, name in enumerate(INVITING) if name in labels), len(INVITING))


_NUMBER = re.compile(r"#?(\d{1,10})")


def looked_up(draft: Draft, environment: Mapping[str, str], option: str) -> None:
    """Return when `--issue` names an issue to be taken, or says in a sentence what is wanted; raises otherwise."""
    if number := _NUMBER.fullmatch(option):
        anyio.run(_check_issue, draft.machine(environment), int(number[1]))
    elif option and not _is_sentence(option):
        raise Misconfigured(
            f"--issue: '{one_line(option, TITLE_CHARS)}' is neither the number of an issue, as in 42, nor a sentence "
            "whose result can be tested."
        )


def _is_sentence(text: str) -> bool:
    """Return whether a text can say what is wanted; one word of Latin letters, as an address, cannot."""
    return len(text.strip()) >= _SHORTEST_SENTENCE and (len(text.split()) > 1 or not text.isascii())


_SHORTEST_SENTENCE = 8
"""Characters of a sentence that says what is wanted, at least."""


async def _check_issue(machine: Machine, number: int) -> None:
    (configured,) = machine.settings.repositories
    async with _worker_client(machine) as github:
        await _open_issue(github, configured.name, number)


async def _open_issue(github: GitHub, name: str, number: int) -> Issue:
    """The issue; raises `Misconfigured` for a number that is no open issue, `Invisible` for one that is not there."""
    try:
        issue = await Issues(github, name).issue(number)
    except NotFound as error:
        raise await invisible_item(github, name, number) from error
    if issue.is_pull_request or not issue.open:
        what = "a pull request" if issue.is_pull_request else "closed"
        raise Misconfigured(f"#{number} is {what}: name an open issue.")
    return issue


def chosen_issue(draft: Draft, environment: Mapping[str, str], person: Person, option: str) -> int:
    """The number of an issue that is ordered now, 0 where the person wants none; `option` is the answer of `--issue`.

    Raises `Misconfigured` for a number that is no open issue.
    """
    machine = draft.machine(environment)
    found = anyio.run(_open_issues, machine)
    if found.ordered and not option:
        issue = found.ordered[0]
        show(f"#{issue.number} is ordered already: {one_line(issue.title, TITLE_CHARS)}")
        return issue.number
    answer = option or _ask_for_issue(found.offered, person)
    if not answer:
        return 0
    if number := _NUMBER.fullmatch(answer):
        issue = anyio.run(_label_issue, machine, int(number[1]))
    else:
        issue = anyio.run(_create_issue, machine, answer)
    show(f"#{issue.number} carries {_ready(machine)} now: {one_line(issue.title, TITLE_CHARS)}")
    return issue.number


def _ask_for_issue(offered: Sequence[Issue], person: Person) -> str:
    for issue in offered:
        labels = f" ({', '.join(sorted(issue.labels))})" if issue.labels else ""
        show(f"  #{issue.number:<5} {one_line(issue.title, TITLE_CHARS)}{labels}")
    known = {issue.number for issue in offered}

    def wrong(text: str) -> str:
        number = _NUMBER.fullmatch(text)
        if number and known and int(number[1]) not in known:
            return f"#{number[1]} is not among these; any other issue is taken with --issue {number[1]}."
        return (
            "That is too short to be tested: say it in a sentence."
            if text and not number and not _is_sentence(text)
            else ""
        )

    return ask(person, FREE if offered else NONE_OPEN, wrong)


def _ready(machine: Machine) -> str:
    return machine.settings.repositories[0].labels.names().of(Stage.READY)


@asynccontextmanager
async def _worker_client(machine: Machine) -> AsyncIterator[GitHub]:
    async with acting(machine, frozenset({Role.WORKER})) as (_, known):
        (me,) = known.values()
        yield me.github


async def _open_issues(machine: Machine) -> OpenIssues:
    (configured,) = machine.settings.repositories
    async with _worker_client(machine) as github:
        return standing(await Issues(github, configured.name).recent() or (), configured)


async def _label_issue(machine: Machine, number: int) -> Issue:
    (configured,) = machine.settings.repositories
    async with _worker_client(machine) as github:
        issue = await _open_issue(github, configured.name, number)
        names = configured.labels.names()
        if not names.read(issue.labels).stages:
            board = LabelBoard(github, configured.name, names)
            if missing := set(configured.labels.include[:1]) - issue.labels:
                await board.add(number, missing, ORDER)
            await board.show(number, Stage.READY, ORDER, known=issue.labels)
        return issue


async def _create_issue(machine: Machine, text: str) -> Issue:
    """A new issue with one criterion, what was typed."""
    (configured,) = machine.settings.repositories
    title, rest = split(text)
    labels = [_ready(machine), *configured.labels.include[:1]]
    body = rest or f"## Acceptance criteria\n\n- [ ] {one_line(text, len(text))}\n"
    async with _worker_client(machine) as github:
        return await Issues(github, configured.name).create(title, body, labels, ORDER)
