"""A fleet that GitHub limits: 60 issues in three repositories, 12 workers and 3 reviewers, under three accounts.

Each account works in a repository of its own and reviews its neighbour's. The lab holds every account to a limit
that so few issues reach, and every process has a token of its own, so that it is seen who goes on when told to wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psutil

from benchmarks.lab_host import OWNER, LabHost
from benchmarks.proxy import TOKENS_END, recording
from benchmarks.request_counts import Exchange, tally
from benchmarks.requests import Stuck, script
from benchmarks.stub_tests import REPORT
from benchmarks.table import Row
from benchmarks.throughput import STUB
from lab import target_project
from lab.github.clock import LabClock
from lab.github.server import Lab
from shared.workflow import Role

ACCOUNTS = ("engine-a", "engine-b", "engine-c")

WORKERS, ISSUES = 12, 60
"""Of the whole fleet; each account has its third."""

CREATIONS_PER_MINUTE = 15
"""Comments, reviews and pull requests that an account may make; GitHub's limit is 80, and this many issues
on this machine would not come near it."""

PAUSE_SECONDS = 60.0
"""How long the lab asks for after one too many: its `Retry-After`."""

UNDER_WAY_SECONDS = 0.5
"""What was sent so shortly after a refusal may have left before the refusal was read."""

SECONDS_PER_ISSUE = 40.0


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Every issue is ready at once; the run ends when all are merged."""
    names = [f"field_{number:03d}" for number in range(ISSUES)]
    async with _city(root, names) as (houses, owners):
        began = houses[0].clock.boot()
        await _work(houses)
        seconds = houses[0].clock.boot() - began
        rows = [*await _merged(houses), *limits(houses[0].proxy.exchanges, owners)]
        rows.append(Row("seconds per issue", seconds / ISSUES, "s", note="lab included"))
        details = {"workers": WORKERS, "issues": ISSUES, "accounts": len(ACCOUNTS), "seconds": round(seconds)}
        return rows, details | {"per_minute": CREATIONS_PER_MINUTE, "load": round(psutil.getloadavg()[0], 1)}


@asynccontextmanager
async def _city(root: Path, names: Sequence[str]) -> AsyncIterator[tuple[list[LabHost], Mapping[str, str]]]:
    """One house for each account, all behind one proxy; and which account each token belongs to."""
    clock = LabClock()
    keys: dict[str, Any] = {"test_command": STUB, "test_report": REPORT, "poll_interval": 2}
    async with Lab(root / "github", clock=clock) as lab, recording(lab.url) as proxy:
        lab.world.pace.limit = CREATIONS_PER_MINUTE
        houses = [
            LabHost(lab, root, proxy, clock, keys, name=f"{OWNER}/{account}", write_interval_seconds=0.25)
            for account in ACCOUNTS
        ]
        for index, house in enumerate(houses):
            people = dict.fromkeys((ACCOUNTS[index], _reviewer(index)), "write")
            files = target_project.files()
            await lab.repository(house.name, files, collaborators=people, check_command="true")
            for name in names[index :: len(ACCOUNTS)]:
                title = f"Count users by {name}"
                lab.issue(house.name, title, "It counts.", author=OWNER, labels=("status:ready",))
        houses[0].scenario.write_text(script(*names), encoding="utf-8")
        logins = {name: login for index, account in enumerate(ACCOUNTS) for name, login in _agents(index, account)}
        houses[0].sign_in(logins)
        yield houses, {houses[0].token_of(name)[-TOKENS_END:]: login for name, login in logins.items()}


def _reviewer(index: int) -> str:
    """The account that reviews what the account of this index writes."""
    return ACCOUNTS[(index + 1) % len(ACCOUNTS)]


def _agents(index: int, account: str) -> list[tuple[str, str]]:
    """Names and accounts of the processes of one repository; the last is its reviewer."""
    workers = [(f"{account}-worker-{number}", account) for number in range(WORKERS // len(ACCOUNTS))]
    return [*workers, (f"{account}-reviewer", _reviewer(index))]


async def _work(houses: Sequence[LabHost]) -> None:
    async with AsyncExitStack() as stack:
        for index, house in enumerate(houses):
            for name, _ in _agents(index, ACCOUNTS[index]):
                role = Role.REVIEWER if name.endswith("reviewer") else Role.WORKER
                house.tokens = (name, name)
                await stack.enter_async_context(house.running(role, name, state=name))
        with anyio.move_on_after(SECONDS_PER_ISSUE * ISSUES) as limit:
            while sum(_closed(house) for house in houses) < ISSUES:
                await houses[0].clock.sleep(0.5)
        if limit.cancelled_caught:
            closed = {house.name: _closed(house) for house in houses}
            raise Stuck(f"Not all issues were merged in time ({closed}): see {houses[0].root}.")


def _closed(house: LabHost) -> int:
    threads = house.lab.at(house.name).issues.records.values()
    return sum(not thread.open for thread in threads if not thread.is_pull)


async def _merged(houses: Sequence[LabHost]) -> list[Row]:
    """What lies on the main branches, and the pull requests that brought it there."""
    pulls = [(house.name, pull) for house in houses for pull in house.lab.at(house.name).pulls.records.values()]
    merged = Counter((name, pull.head_branch) for name, pull in pulls if pull.merged_at is not None)
    commits = 0
    for house in houses:
        commits += len(await house.lab.at(house.name).bare.log(None, "refs/heads/main", ISSUES * 2)) - 1
    return [
        Row("issues without a merge", ISSUES - len(merged), "issues", 0, f"{WORKERS} workers, {ISSUES} issues"),
        Row("merges beyond one per issue", sum(merged.values()) - len(merged), "merges", 0),
        Row("pull requests beyond one per issue", len(pulls) - ISSUES, "pull requests", 0),
        Row("commits on main beyond one per issue", commits - ISSUES, "commits", 0, "squashed"),
    ]


def limits(exchanges: Sequence[Exchange], owners: Mapping[str, str]) -> list[Row]:
    """How each account stood to its limits, and what its processes did when one was reached."""
    made: dict[str, list[float]] = {account: [] for account in ACCOUNTS}
    charged: Counter[str] = Counter()
    for one in exchanges:
        account = owners.get(one.token)
        if account is not None and one.charged:
            charged[account] += 1
            if one.content and one.status < 300:
                made[account].append(one.answered)
    most = max(busiest(times) for times in made.values())
    seen = tally(exchanges)
    return [
        Row("most creations of one account in a minute", most, "requests", CREATIONS_PER_MINUTE),
        Row("creations refused", sum(_refused(one) for one in exchanges), "requests", note="the limit was reached"),
        Row("requests of a process that was told to wait", too_early(exchanges), "requests", 0),
        Row("charged requests of the busiest account", max(charged.values()), "requests", note="GitHub: 5,000 an hour"),
        Row("charged requests per issue", seen.charged / ISSUES, "requests"),
        Row("creations per issue", sum(len(times) for times in made.values()) / ISSUES, "requests"),
    ]


def busiest(times: Sequence[float]) -> int:
    """Most moments within any 60 seconds."""
    ordered = sorted(times)
    return max((sum(start <= time < start + 60 for time in ordered) for start in ordered), default=0)


def _refused(one: Exchange) -> bool:
    return one.content and one.status in {403, 429}


def too_early(exchanges: Sequence[Exchange]) -> int:
    """Requests, git's aside, that a token sent between being refused and the end of the pause it was told."""
    pauses = [
        (one.token, one.answered + UNDER_WAY_SECONDS, one.answered + PAUSE_SECONDS - 1)
        for one in exchanges
        if _refused(one)
    ]
    asked = [one for one in exchanges if not one.git and one.path != "/rate_limit"]
    return sum(any(one.token == token and start < one.asked < end for token, start, end in pauses) for one in asked)
