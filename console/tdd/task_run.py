"""The course of one task: let the agents work, fetch the branch back, open the pull request, tidy up."""

from __future__ import annotations

import re
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.to_thread

from console.tdd.checkout import Checkout
from console.tdd.lab_host import TaskPlace, alone, check_disk_space
from console.tdd.own_github import (
    ISSUE,
    TaskOutcome,
    check_stuck,
    description,
    ended,
    entries,
    go_on,
    last_word,
    outdated,
    reviews,
    reword,
)
from console.tdd.preflight import Ready
from console.tdd.task import ENDED, STOPPED, Records, State, Task
from console.tdd.upstream import upstream
from lab import locks
from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import signed
from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord
from runtime.building.telemetry import EVENTS
from runtime.telemetry.cost import TaskCost, reckoned
from runtime.telemetry.progress import Progress
from shared.budget.ledger_lines import Entry
from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.telemetry.events import Event, Query
from shared.telemetry.sqlite_store import SqliteStore
from shared.text import neutralise, one_line

MOST = 100_000
"""Maximum number of events in one reading; a task has some dozens."""

LOOK_SECONDS = 0.25
"""Seconds between two looks at the task's GitHub."""

STUCK_SECONDS = 30.0
"""Seconds without any agent at work after which the task counts as stuck."""


class EventReader:
    """The events of the agents of a task, each read once."""

    def __init__(self, place: Path) -> None:
        """Read from `place`, the task's own directory."""
        self._store = SqliteStore(place / "state" / EVENTS)
        self._last = 0

    async def news(self) -> list[Event]:
        """Return the events since the last reading, in their order."""
        rows = []
        with suppress(sqlite3.Error):  # a watcher is no reason to end the work
            rows = await anyio.to_thread.run_sync(self._store.read, Query(after=self._last), MOST)
        self._last = max((row.place for row in rows), default=self._last)
        return [row.event for row in rows]


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One task in this process; `progress` is told what happens."""

    ready: Ready
    checkout: Checkout
    records: Records
    progress: Progress

    async def run(self, task: Task) -> Task:
        """The task at its end, whatever the end; what it has come to is in its record at any time.

        Raises what a person has to do first as an `EngineError`: the task can be resumed afterwards.
        """
        asked = replace(task, order=self.ready.order)
        async with alone(asked, self.ready.settings, self.ready.environment) as site:
            task = self._current_record(task)
            if task.state is not State.DONE:
                async with site.lab(self.checkout) as lab:
                    task = await self._go_through(site, lab)
        if task.state is State.DONE and task.order.cleanup:
            await self._tidy(task)
        return task

    def _current_record(self, before: Task) -> Task:
        """The record, now that nobody else writes it; raises `Misconfigured` when the task has gone on since `before`.

        What was looked at and asked for then does not hold for it any more, and its work may be paid for already.
        """
        now = self.records.read(before.id)
        if now.state is State.DONE or now == before:
            return now
        raise Misconfigured(
            f"Another process has worked on the task {now.id} meanwhile (now: {now.state}), so nothing was begun here."
        )

    async def _go_through(self, place: TaskPlace, lab: Lab) -> Task:
        task, repository = place.task, lab.at(place.task.order.name)
        reword(lab, task.order)
        if task.state in STOPPED or await outdated(repository):
            task = await self._take_up(task, lab)
            place = replace(place, task=task)
        try:
            outcome = await self._work(place, lab, repository)
            if outcome.state is not State.APPROVED and await outdated(repository):
                task = await self._take_up(task, lab)  # who was at work has stopped at the new text
                place = replace(place, task=task)
                outcome = await self._work(place, lab, repository)
        finally:
            with anyio.CancelScope(shield=True):
                task = await self._record_cost(task, repository)
        task = self._record_outcome(task, outcome)
        if outcome.head:
            task = await self._fetch_branch(task, outcome, repository)
        if outcome.state is State.APPROVED:
            return await self._publish(task, repository)
        return self._record(replace(task, state=outcome.state))

    async def _take_up(self, task: Task, lab: Lab) -> Task:
        """The same task in work again. The order comes first: killed in between, it is found and not given twice."""
        await go_on(lab, task.order.name)
        before = len(reviews(lab.at(task.order.name)))
        return self._record(replace(task, state=State.WORKING, sentence="", before=before))

    async def _work(self, place: TaskPlace, lab: Lab, repository: RepositoryRecord) -> TaskOutcome:
        """Let the agents work until it has ended; nobody is started when it has."""
        found = await ended(repository)
        if found is not None:
            return found
        with self.progress.watched():
            async with place.agents(lab) as loops, anyio.create_task_group() as group:
                for loop in loops:
                    group.start_soon(loop.run, anyio.Event())
                outcome = await self._watch(place, repository, loops)
                group.cancel_scope.cancel()
        return outcome

    async def _watch(self, place: TaskPlace, repository: RepositoryRecord, loops: tuple[Loop, ...]) -> TaskOutcome:
        clock, trail, waits = RealClock(), EventReader(place.place), ""
        quiet_since, events = clock.boot(), await trail.news()
        while True:
            if (found := await ended(repository)) is not None:
                self.progress.follow(await trail.news())
                return found
            check_disk_space(place.place)
            if any(loop.busy or loop.resting for loop in loops) or locks.held(repository):
                quiet_since = clock.boot()
            elif clock.boot() - quiet_since > STUCK_SECONDS:
                await check_stuck(repository, [why for loop in loops for why in loop.skipped])
                quiet_since, said = clock.boot(), last_word(repository, ISSUE).partition("\n")[0]
                self.progress.tell(said if said != waits else "")
                waits = said
            if news := await trail.news():
                events += news
                self.progress.follow(news)
                self.records.write(replace(place.task, spent=self._sum(place.task, events, [])))
            self.progress.show(self._sum(place.task, events, []))
            await clock.sleep(LOOK_SECONDS)

    def _sum(self, task: Task, events: list[Event], booked: list[Entry]) -> TaskCost:
        now, unknown_run = datetime.fromtimestamp(RealClock().now(), UTC), self.ready.settings.budgets.unknown_run
        seconds = task.spent.seconds + self.progress.seconds
        return reckoned(events, booked, now=now, unknown_run=unknown_run, seconds=seconds)

    async def _record_cost(self, task: Task, repository: RepositoryRecord) -> Task:
        """With what it has taken in the record, however it was left."""
        events = await EventReader(Path(task.place)).news()
        return self._record(replace(task, spent=self._sum(task, events, await entries(repository.bare))))

    def _record(self, task: Task) -> Task:
        self.records.write(task)
        return task

    def _record_outcome(self, task: Task, outcome: TaskOutcome) -> Task:
        """In the record before anything is handed out, but never as ended."""
        task = replace(task, sentence=outcome.sentence, reviews=outcome.reviews)
        return self._record(task if outcome.state in ENDED else replace(task, state=outcome.state))

    async def _fetch_branch(self, task: Task, outcome: TaskOutcome, repository: RepositoryRecord) -> Task:
        order = task.order
        head = await rewritten(repository.bare, order.commit, outcome.head)
        await self.checkout.receive(repository.bare.path, RESULT, order.branch)
        self.progress.tell(f"The branch {order.branch} is in your repository.")
        return self._record(replace(task, head=head))

    async def _publish(self, task: Task, repository: RepositoryRecord) -> Task:
        """Push the branch and open the pull request, where one is wanted; then the task is done."""
        order = task.order
        if self.ready.pull_settings is not None:
            async with upstream(self.ready.pull_settings, self.ready.environment) as there:
                await there.publish(repository.bare.path, task.head, order.branch)
                body = pull_body(description(repository), order.specification, task.reviews)
                pull = await there.pull_request(pull_title(order.title), body, order.branch, order.base)
                page = f"{there.server}/{there.name}/pull/{pull.number}"
            self.progress.tell(f"Opened {page}.")
            task = replace(task, url=page)
        return self._record(replace(task, state=State.DONE))

    async def _tidy(self, task: Task) -> None:
        """Remove the task's place once the work is certain to be elsewhere; what cannot be removed is said."""
        order, place = task.order, Path(task.place)
        if not task.head or not await self.checkout.contains(f"refs/heads/{order.branch}", task.head):
            self.progress.tell(f"{place} was kept: the branch {order.branch} does not hold its work.")
            return
        try:
            await anyio.to_thread.run_sync(directories.remove, place)
        except OSError as error:
            self.progress.tell(f"{place} could not be removed: {error.strerror}.")


RESULT = "refs/tdd/result"
"""Ref in the copy for the commits that are handed out; no branch of a person can have this name."""

_SIGNATURE = ("workflow-engine", "workflow-engine@localhost")
"""Author of the commits: nobody's account, so that no server shows them as somebody's."""

_KEPT = ("Phase", "Round")
"""Trailers that mean something outside; the others name an issue and an agent of the task's own GitHub."""

_CLOSES = re.compile(r"\ACloses #\d+\s*")
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
_COMMANDS = re.compile(
    r"^## How to try it\n.*?(?=^## )|^---\n\nReview comments .*?\n(?=\n|\Z)", re.DOTALL | re.MULTILINE
)
"""Parts that lead to nothing outside: the branch of the task's own GitHub, and the commands of its agents."""

_NUMBER = re.compile(r"(?<![\w&])#(?=\d)")


async def rewritten(bare: Bare, base: str, head: str) -> str:
    """Write the commits from `base` to `head` anew, as `RESULT` of the same repository; returns the last one.

    Trees, dates and order stay, so that the same work always gives the same commits.
    """
    listed = await bare.git.check("rev-list", "--reverse", "--topo-order", "--parents", f"{base}..{head}")
    new = {base: base}
    for line in listed.text.splitlines():
        commit, *parents = line.split()
        shown = await bare.git.check("show", "--no-patch", "--format=%T%x00%ad%x00%B", "--date=raw", commit)
        tree, date, message = shown.text.split("\0", 2)
        lineage = [word for parent in parents for word in ("-p", new.get(parent, parent))]
        variables = signed(_SIGNATURE, _SIGNATURE, date) | {"GIT_COMMITTER_DATE": date}
        words = _outside(message).encode()
        made = await bare.git.check("commit-tree", tree, *lineage, "-F", "-", stdin=words, env=variables)
        new[commit] = made.text.strip()
    await bare.update_ref(RESULT, new[head])
    return new[head]


def _outside(message: str) -> str:
    subject, _, rest = message.strip().partition("\n")
    trailers = [line for line in rest.splitlines() if line.partition(":")[0] in _KEPT]
    return "\n".join([_NUMBER.sub("", subject), "", *trailers]).strip() + "\n"


def pull_title(title: str) -> str:
    """The title of the pull request on origin."""
    return neutralise(one_line(_NUMBER.sub("", title), 240))


def pull_body(description: str, specification: str, reviews: int) -> str:
    """Its body: proof and summary as the worker wrote them, without numbers and marks that mean something else here."""
    told = _CLOSES.sub("", description.replace("\r\n", "\n"))
    told = re.sub(r"\n{3,}", "\n\n", _HIDDEN.sub("", _COMMANDS.sub("", told))).strip()
    times = "once" if reviews == 1 else f"{reviews} times"
    made = f"Made by `workflow-engine tdd` from `{one_line(specification, 200)}`, reviewed {times} by the engine."
    return f"{_NUMBER.sub('', told)}\n\n---\n\n{made}\n".lstrip()
