"""A fleet at one lab: repositories, accounts and processes of a given size, and the issues that they are given.

Each account owns a part of the repositories: its workers work in all of them, and its neighbour's account reviews.
The processes of one account share its token and, as on one machine, a state directory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import anyio

from benchmarks.fleet_counts import Written
from benchmarks.lab_host import OWNER, LabHost, Stuck, label_as_init
from benchmarks.proxy import TOKENS_END, Proxy, recording
from benchmarks.requests import field_name, script
from benchmarks.stub_tests import REPORT
from benchmarks.throughput import STUB
from lab import target_project
from lab.github.clock import LabClock
from lab.github.server import Lab
from shared.workflow import Role

PRIORITIES = ("priority:critical", "priority:high", "priority:medium", "priority:low", "")
"""Labels of issues, the most urgent first; the last carry none."""

CREATIONS_PER_MINUTE = 45
"""Comments, reviews and pull requests that all accounts together may make in a minute, in equal parts.

GitHub's limit is 80 for each account, and this many issues on this machine would not come near it.
"""

NAMED = 12
"""Maximum number of open issues that are named when a fleet is stuck."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a fleet; `ValueError` if something would be without its counterpart."""

    repositories: int
    issues: int
    workers: int
    reviewers: int
    accounts: int
    poll_seconds: int
    creations: int = CREATIONS_PER_MINUTE
    """Creations that all accounts together may make in a minute, in equal parts."""

    def __post_init__(self) -> None:
        if not 2 <= self.accounts <= len(ascii_lowercase):
            raise ValueError(f"between 2 and {len(ascii_lowercase)} accounts: one reviews what another writes")
        if min(self.repositories, self.workers, self.reviewers) < self.accounts:
            raise ValueError("each account needs a repository, a worker and a reviewer")
        if self.creations < self.accounts:
            raise ValueError("each account needs a creation a minute")
        if self.issues < 2:
            raise ValueError("at least two issues: one is compared with the other")

    @property
    def logins(self) -> tuple[str, ...]:
        """The logins of the accounts."""
        return tuple(f"engine-{letter}" for letter in ascii_lowercase[: self.accounts])

    @property
    def creations_per_minute(self) -> int:
        """Creations that the lab allows one account in a minute."""
        return self.creations // self.accounts

    @property
    def loops(self) -> int:
        """Number of pairs of a process and a repository that are polled."""
        shares = [_shares(number, self.accounts) for number in (self.repositories, self.workers, self.reviewers)]
        return sum(places * (workers + reviewers) for places, workers, reviewers in zip(*shares, strict=True))

    def repository_of(self, issue: int) -> int:
        """Return the repository of an issue: each gets one; about a tenth get the rest, as many for each account."""
        if issue < self.repositories:
            return issue
        backlogs = self.accounts * max(1, self.repositories // 10 // self.accounts)
        return (issue - self.repositories) % backlogs


@dataclass
class Fleet:
    """A fleet of which nothing runs yet; made by `fleet_of`."""

    sizes: Sizes
    lab: Lab
    proxy: Proxy
    clock: LabClock
    houses: Sequence[LabHost]
    agents: Sequence[Mapping[str, str]]
    """For each account's repositories: process -> the login it works under."""
    written: list[Written] = field(default_factory=list)

    @property
    def repositories(self) -> list[str]:
        """The full names of all repositories."""
        return [name for house in self.houses for name in (house.name, *house.more)]

    @property
    def processes(self) -> list[str]:
        """The names of all processes."""
        return [name for agents in self.agents for name in agents]

    @property
    def owners(self) -> dict[str, str]:
        """The end of a token -> its account."""
        return {self.houses[0].token_of(login)[-TOKENS_END:]: login for login in self.sizes.logins}

    def reviews(self, name: str) -> bool:
        """Return whether that process is a reviewer."""
        return "-reviewer-" in name

    def write(self, issues: Sequence[int], rank: Callable[[int], int]) -> None:
        """Let a person write these issues, all of them ready, with a label of their priority."""
        for issue in issues:
            name, label = repository_name(self.sizes, self.sizes.repository_of(issue)), PRIORITIES[rank(issue)]
            title, labels = f"Count users by {field_name(issue)}", ("status:ready", *filter(None, (label,)))
            thread = self.lab.issue(name, title, "It counts.", author=OWNER, labels=labels)
            self.written.append(Written(name, thread.number, rank(issue), self.clock.now()))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all processes until the block ends."""
        async with AsyncExitStack() as stack:
            for house, agents in zip(self.houses, self.agents, strict=True):
                config = house.config(house.tokens[0])
                for name in agents:
                    role = Role.REVIEWER if self.reviews(name) else Role.WORKER
                    await stack.enter_async_context(house.started(role, name, config))
            yield

    async def polled(self, seconds: float) -> None:
        """Return when every process has polled each of its repositories; raises `Stuck` after so many seconds."""
        exchanges = self.proxy.exchanges
        loops, read = set[tuple[str, str]](), 0
        with anyio.move_on_after(seconds) as limit:
            while len(loops) < self.sizes.loops:
                new, read = exchanges[read:], len(exchanges)
                loops |= {(one.agent, one.path) for one in new if one.change_list}
                await self.clock.sleep(0.5)
        if limit.cancelled_caught:
            polled, root = Counter(agent for agent, _ in loops), self.houses[0].root
            raise Stuck(f"Not everything was polled ({len(loops)} of {self.sizes.loops}: {dict(polled)}): see {root}.")

    async def closed(self, issues: int, seconds: float) -> None:
        """Return when so many of the issues are closed; after `seconds` raises `Stuck`, with some of the others."""

        def complaint() -> str:
            missing = self.missing()
            more = ", ..." if len(missing) > NAMED else ""
            return f"{len(missing)} issues are open ({', '.join(missing[:NAMED])}{more})"

        enough = len(self.written) - issues
        await self.houses[0].until(lambda: len(self.missing()) <= enough, seconds, complaint, pause_seconds=0.5)

    def missing(self) -> list[str]:
        """Return the issues that are open, each with its labels."""
        threads = [(one, self.lab.at(one.repository).issues.records[one.number]) for one in self.written]
        return [f"{one.repository}#{one.number} {' '.join(thread.labels)}" for one, thread in threads if thread.open]


@asynccontextmanager
async def fleet_of(sizes: Sizes, root: Path) -> AsyncIterator[Fleet]:
    """Give a fleet of that size, behind one proxy, with the engine's labels and a script for each issue."""
    clock = LabClock()
    keys: dict[str, Any] = {"test_command": STUB, "test_report": REPORT, "poll_interval": sizes.poll_seconds}
    async with Lab(root / "github", clock=clock) as lab, recording(lab.url) as proxy:
        lab.world.pace.limit = sizes.creations_per_minute
        houses = []
        for index, login in enumerate(sizes.logins):
            first, *more = [repository_name(sizes, one) for one in range(index, sizes.repositories, sizes.accounts)]
            house = LabHost(lab, root, proxy, clock, keys, name=first, more=more, write_interval_seconds=0.25)
            house.tokens = (login, _reviewer(sizes, index))
            house.script, house.options = f"{login}.scenario.yml", ("--verbose",)
            houses.append(house)
            await _prepare(house, sizes, index)
        fleet = Fleet(sizes, lab, proxy, clock, houses, [_agents(sizes, index) for index in range(sizes.accounts)])
        houses[0].sign_in({login: login for login in sizes.logins})
        yield fleet


async def _prepare(house: LabHost, sizes: Sizes, index: int) -> None:
    """Prepare the repositories of one account, and the answers of its coders."""
    people = dict.fromkeys((sizes.logins[index], _reviewer(sizes, index)), "write")
    for name in (house.name, *house.more):
        await house.lab.repository(name, target_project.files(), collaborators=people, check_command="true")
        label_as_init(house.lab, name)
    issues = [one for one in range(sizes.issues) if sizes.repository_of(one) % sizes.accounts == index]
    house.scenario.write_text(script(*map(field_name, issues)), encoding="utf-8")


def _agents(sizes: Sizes, index: int) -> dict[str, str]:
    """Return the processes that work in one account's repositories, and their accounts."""
    login, accounts = sizes.logins[index], sizes.accounts
    workers = {f"{login}-worker-{one}": login for one in range(_shares(sizes.workers, accounts)[index])}
    reviewer = _reviewer(sizes, index)
    return workers | {f"{login}-reviewer-{one}": reviewer for one in range(_shares(sizes.reviewers, accounts)[index])}


def _reviewer(sizes: Sizes, index: int) -> str:
    """Return the account that reviews what the account of this index writes."""
    return sizes.logins[(index + 1) % sizes.accounts]


def _shares(number: int, accounts: int) -> list[int]:
    """Return how many of `number` each account has; as even as can be."""
    return [len(range(index, number, accounts)) for index in range(accounts)]


def repository_name(sizes: Sizes, number: int) -> str:
    """Return the full name of a repository, which tells whose it is."""
    return f"{OWNER}/{sizes.logins[number % sizes.accounts]}-{number:03d}"
