"""The course of one task: let the agents work, fetch the branch back, open the pull request, tidy up.

The ledger of a task, as it stands in the bare repository of its own GitHub. What a task hands out: its commits
without what refers to its own GitHub, and the text of a pull request. How a task stands, read off its own GitHub:
whether it has ended, how, and with which commits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.to_thread

from console.tdd import resume
from console.tdd.checkout import Checkout
from console.tdd.lab_host import BASE, TaskPlace, alone, check_room
from console.tdd.preflight import Ready
from console.tdd.resume import ISSUE, halted, halted_by, pending, threads
from console.tdd.task import ENDED, STOPPED, Records, State, Task
from console.tdd.upstream import upstream
from lab import locks
from lab.__main__ import REVIEWER
from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import signed
from lab.github.server import Lab
from lab.github.world.pulls import ReviewRecord
from lab.github.world.repository import RepositoryRecord
from runtime.telemetry.cost import TaskCost, reckoned
from runtime.telemetry.progress import Progress, Trail
from shared.budget import ledger_lines
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Entry
from shared.errors import Blocked, Misconfigured
from shared.filesystem import directories
from shared.github.status_record import untold
from shared.lock import comment as layout
from shared.lock.codec import ItemKey
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.telemetry.events import Event
from shared.text import neutralise, one_line
from shared.workflow import Role

LOOK_SECONDS = 0.25
"""Seconds between two looks at the task's GitHub."""

STUCK_SECONDS = 30.0
"""Seconds without any agent at work after which the task counts as stuck."""


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
            task = self._standing(task)
            if task.state is not State.DONE:
                async with site.lab(self.checkout) as lab:
                    task = await self._gone_through(site, lab)
        if task.state is State.DONE and task.order.cleanup:
            await self._tidied(task)
        return task

    def _standing(self, before: Task) -> Task:
        """The record, now that nobody else writes it; raises `Misconfigured` when the task has gone on since `before`.

        What was looked at and asked for then does not hold for it any more, and its work may be paid for already.
        """
        now = self.records.read(before.id)
        if now.state is State.DONE or now == before:
            return now
        raise Misconfigured(
            f"Another process has worked on the task {now.id} meanwhile (now: {now.state}), so nothing was begun here."
        )

    async def _gone_through(self, site: TaskPlace, lab: Lab) -> Task:
        task, repository = site.task, lab.at(site.name)
        resume.reword(lab, task.order)
        if task.state in STOPPED or await resume.outdated(repository):
            task = await self._taken_up(task, lab)
            site = replace(site, task=task)
        try:
            outcome = await self._work(site, lab, repository)
            if outcome.state is not State.APPROVED and await resume.outdated(repository):
                task = await self._taken_up(task, lab)  # who was at work has stopped at the new text
                site = replace(site, task=task)
                outcome = await self._work(site, lab, repository)
        finally:
            with anyio.CancelScope(shield=True):
                task = await self._reckoned(task, repository)
        task = self._kept(task, outcome)
        if outcome.head:
            task = await self._fetched(task, outcome, repository)
        if outcome.state is State.APPROVED:
            return await self._published(task, repository)
        return self._recorded(replace(task, state=outcome.state))

    async def _taken_up(self, task: Task, lab: Lab) -> Task:
        """The same task in work again. The order comes first: killed in between, it is found and not given twice."""
        await resume.go_on(lab, task.order.name)
        before = len(reviews(lab.at(task.order.name)))
        return self._recorded(replace(task, state=State.WORKING, sentence="", before=before))

    async def _work(self, site: TaskPlace, lab: Lab, repository: RepositoryRecord) -> TaskOutcome:
        """Let the agents work until it has ended; nobody is started when it has."""
        found = await ended(repository)
        if found is not None:
            return found
        with self.progress.watched():
            async with site.agents(lab) as loops, anyio.create_task_group() as group:
                for loop in loops:
                    group.start_soon(loop.run, anyio.Event())
                outcome = await self._watched(site, repository, loops)
                group.cancel_scope.cancel()
        return outcome

    async def _watched(self, site: TaskPlace, repository: RepositoryRecord, loops: tuple[Loop, ...]) -> TaskOutcome:
        clock, trail, waits = RealClock(), Trail(site.place), ""
        quiet_since, seen = clock.boot(), await trail.news()
        while True:
            if (found := await ended(repository)) is not None:
                self.progress.follow(await trail.news())
                return found
            check_room(site.place)
            if any(loop.busy or loop.resting for loop in loops) or locks.held(repository):
                quiet_since = clock.boot()
            elif clock.boot() - quiet_since > STUCK_SECONDS:
                await check_stuck(repository, [why for loop in loops for why in loop.skipped])
                quiet_since, said = clock.boot(), last_word(repository, ISSUE).partition("\n")[0]
                self.progress.tell(said if said != waits else "")
                waits = said
            if news := await trail.news():
                seen += news
                self.progress.follow(news)
                self.records.write(replace(site.task, spent=self._sum(site.task, seen, [])))
            self.progress.show(self._sum(site.task, seen, []))
            await clock.sleep(LOOK_SECONDS)

    def _sum(self, task: Task, events: list[Event], booked: list[Entry]) -> TaskCost:
        now, unknown_run = datetime.fromtimestamp(RealClock().now(), UTC), self.ready.settings.budgets.unknown_run
        seconds = task.spent.seconds + self.progress.seconds
        return reckoned(events, booked, now=now, unknown_run=unknown_run, seconds=seconds)

    async def _reckoned(self, task: Task, repository: RepositoryRecord) -> Task:
        """With what it has taken in the record, however it was left."""
        events = await Trail(Path(task.place)).news()
        return self._recorded(replace(task, spent=self._sum(task, events, await entries(repository.bare))))

    def _recorded(self, task: Task) -> Task:
        self.records.write(task)
        return task

    def _kept(self, task: Task, outcome: TaskOutcome) -> Task:
        """In the record before anything is handed out, but never as ended."""
        task = replace(task, sentence=outcome.sentence, reviews=outcome.reviews)
        return self._recorded(task if outcome.state in ENDED else replace(task, state=outcome.state))

    async def _fetched(self, task: Task, outcome: TaskOutcome, repository: RepositoryRecord) -> Task:
        order = task.order
        head = await rewritten(repository.bare, order.commit, outcome.head)
        await self.checkout.receive(repository.bare.path, RESULT, order.branch)
        self.progress.tell(f"The branch {order.branch} is in your repository.")
        return self._recorded(replace(task, head=head))

    async def _published(self, task: Task, repository: RepositoryRecord) -> Task:
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
        return self._recorded(replace(task, state=State.DONE))

    async def _tidied(self, task: Task) -> None:
        """Remove the task's place once the work is certain to be elsewhere; what cannot be removed is said."""
        order, place = task.order, Path(task.place)
        if not task.head or not await self.checkout.contains(f"refs/heads/{order.branch}", task.head):
            self.progress.tell(f"{place} was kept: the branch {order.branch} does not hold its work.")
            return
        try:
            await anyio.to_thread.run_sync(directories.remove, place)
        except OSError as error:
            self.progress.tell(f"{place} could not be removed: {error.strerror}.")


async def entries(bare: Bare) -> list[Entry]:
    """The lines of the ledger, oldest first; none where nobody has paid for anything."""
    if await bare.sha(REF) is None:
        return []
    shown = await bare.git.check("log", "--reverse", "--format=%B%x00", REF)
    found = (ledger_lines.read(message.strip()) for message in shown.text.split("\0"))
    return [entry for entry in found if entry is not None]


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
    words = [text for one in repository.comments.of(number) if (text := layout.said(one.body, by)) is not None]
    if not words:
        return "The engine left no word; see its logs."
    plain = untold(words[-1]).partition("\n\n")[0].strip()
    todo = _TO_DO.search(words[-1])
    return f"{plain}\n\nWhat to do: {todo[1][:1].upper()}{todo[1][1:]}." if todo else plain


def description(repository: RepositoryRecord) -> str:
    """The body of the pull request on the task's own GitHub; empty before there is one."""
    pulls = repository.pulls.records.values()
    return repository.issues.require(pulls[-1].number).body or "" if pulls else ""
