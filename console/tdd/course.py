"""The course of one task: let the agents work, fetch the branch back, open the pull request, tidy up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from console.tdd import result
from console.tdd.checkout import Checkout
from console.tdd.outcome import ISSUE, Outcome, check_stuck, description, ended, last_word, news
from console.tdd.preflight import Ready
from console.tdd.site import Site, alone
from console.tdd.task import ENDED, Records, State, Task
from console.tdd.upstream import upstream
from lab import locks
from lab.server import Lab
from lab.world.repository import RepositoryRecord
from shared.git import directories
from shared.loop import Loop, RealClock

LOOK_SECONDS = 0.25
"""How often the task's GitHub is looked at."""

STUCK_SECONDS = 30.0
"""After so long without anybody at work nothing will come of it."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Course:
    """One task in this process; `say` is told in a sentence what happens."""

    ready: Ready
    checkout: Checkout
    records: Records
    say: Say

    async def run(self, task: Task) -> Task:
        """The task at its end, whatever the end; what it has come to is in its record at any time.

        Raises what a person has to do first as an `EngineError`: the task can be resumed afterwards.
        """
        task = replace(task, order=self.ready.order)
        async with alone(task, self.ready.settings, self.ready.environment) as site, site.lab(self.checkout) as lab:
            repository = lab.at(site.name)
            outcome = await self._work(site, lab, repository)
            task = self._kept(task, outcome)
            if outcome.head:
                task = await self._fetched(task, outcome, repository)
            if outcome.state is State.APPROVED:
                task = await self._published(task, repository)
            else:
                self.records.write(replace(task, state=outcome.state))
                task = replace(task, state=outcome.state)
        if task.state is State.DONE and task.order.cleanup:
            await self._tidied(task)
        return task

    async def _work(self, site: Site, lab: Lab, repository: RepositoryRecord) -> Outcome:
        """Let the agents work until it has ended; nobody is started when it has."""
        found = await ended(repository)
        if found is not None:
            return found
        async with site.agents(lab) as loops, anyio.create_task_group() as group:
            for loop in loops:
                group.start_soon(loop.run, anyio.Event())
            outcome = await self._watched(repository, loops)
            group.cancel_scope.cancel()
        return outcome

    async def _watched(self, repository: RepositoryRecord, loops: tuple[Loop, ...]) -> Outcome:
        clock, told, waits = RealClock(), "", ""
        quiet_since = clock.boot()
        while True:
            if (found := await ended(repository)) is not None:
                return found
            if any(loop.busy or loop.resting for loop in loops) or locks.held(repository):
                quiet_since = clock.boot()
            elif clock.boot() - quiet_since > STUCK_SECONDS:
                await check_stuck(repository, [why for loop in loops for why in loop.skipped])
                quiet_since, waits = clock.boot(), self._tell(last_word(repository, ISSUE).partition("\n")[0], waits)
            told = self._tell(news(repository), told)
            await clock.sleep(LOOK_SECONDS)

    def _tell(self, now: str, before: str) -> str:
        """Say what is new; what was said last."""
        if now and now != before:
            self.say(now)
        return now or before

    def _kept(self, task: Task, outcome: Outcome) -> Task:
        """In the record before anything is handed out, but never as ended."""
        task = replace(task, sentence=outcome.sentence, reviews=outcome.reviews)
        if outcome.state not in ENDED:
            task = replace(task, state=outcome.state)
        self.records.write(task)
        return task

    async def _fetched(self, task: Task, outcome: Outcome, repository: RepositoryRecord) -> Task:
        order = task.order
        head = await result.rewritten(repository.bare, order.commit, outcome.head)
        await self.checkout.receive(repository.bare.path, result.RESULT, order.branch)
        self.say(f"The branch {order.branch} is in your repository.")
        task = replace(task, head=head)
        self.records.write(task)
        return task

    async def _published(self, task: Task, repository: RepositoryRecord) -> Task:
        """Push the branch and open the pull request, where one is wanted; then the task is done."""
        order = task.order
        if self.ready.pull_settings is not None:
            async with upstream(self.ready.pull_settings, self.ready.environment) as there:
                await there.publish(repository.bare.path, task.head, order.branch)
                body = result.pull_body(description(repository), order.specification, task.reviews)
                pull = await there.pull_request(result.pull_title(order.title), body, order.branch, order.base)
                page = f"{there.server}/{there.name}/pull/{pull.number}"
            self.say(f"Opened {page}.")
            task = replace(task, url=page)
        task = replace(task, state=State.DONE)
        self.records.write(task)
        return task

    async def _tidied(self, task: Task) -> None:
        """Remove the task's place once the work is certain to be elsewhere; what cannot be removed is said."""
        order, place = task.order, Path(task.place)
        if not task.head or not await self.checkout.contains(f"refs/heads/{order.branch}", task.head):
            self.say(f"{place} was kept: the branch {order.branch} does not hold its work.")
            return
        try:
            await anyio.to_thread.run_sync(directories.remove, place)
        except OSError as error:
            self.say(f"{place} could not be removed: {error.strerror}.")
