"""`python -m lab.chaos`: a trial of the given minutes, then calm until all is finished, then the report."""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import anyio

from config.environment import child_environment
from lab.__main__ import ENGINE, REVIEWER
from lab.chaos import history_checks, verdict
from lab.chaos.agent_processes import AgentProcesses, at_work
from lab.chaos.evidence import WireLog, fence_moves
from lab.chaos.setup import CAUGHT_UP_SECONDS, LOCK, TrialHost, furnished, names
from lab.chaos.troubles import FaultSchedule, Person
from lab.github.server import Lab
from lab.github.world.issues import IssueRecord
from shared.clock import Clock
from shared.loop.real_clock import RealClock
from shared.workflow import Role

WORKERS, PLANNERS, REVIEWERS, ISSUES = 6, 2, 2, 20

CALM_SECONDS = 900.0
"""Seconds without any trouble after which an unfinished item counts as lost."""

LOOK_SECONDS = 0.5

LAG = 0.3
"""Share of the answers that may come late and do; 0 is a GitHub without replicas."""

HOURLY = 100_000
"""Charged requests of an account in an hour: agents ask sixty times as often here. Limits are among the troubles."""

Trouble = Callable[[], Coroutine[Any, Any, None]]
"""Makes trouble until it is cancelled."""


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab.chaos", description="Everything goes wrong, for a while.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long things go wrong")
    parser.add_argument(
        "--seed", type=int, default=random.randrange(10**6), help="of everything random; printed when not given"
    )
    parser.add_argument("--issues", type=int, default=ISSUES, help="half of them stories, half written by hand")
    parser.add_argument("--directory", type=Path, default=Path(".demo"), help="where the trial's directory is made")
    parser.add_argument("--lag", type=float, default=LAG, help="share of late answers of GitHub's replicas, 0 to 1")
    parser.add_argument("--keep", action="store_true", help="keep everything even if all went well")
    return parser.parse_args(argv)


def agents() -> dict[str, tuple[Role, str]]:
    """Id -> role and machine; two agents of each kind share a machine with some of another."""
    counts = {Role.WORKER: WORKERS, Role.PLANNER: PLANNERS, Role.REVIEWER: REVIEWERS}
    every = [(role, number) for role, count in counts.items() for number in range(1, count + 1)]
    return {f"{role}-{number}": (role, f"machine-{number % 4}") for role, number in every}


async def trial(options: argparse.Namespace, root: Path) -> list[str]:
    """Run the trial and print the report; return what must never happen and did."""
    clock, chance = RealClock(), random.Random(options.seed)
    guests = names(options.issues)
    async with Lab(root / "github", limit=HOURLY) as lab:
        wire = WireLog(lab.clock.now)
        site = await furnished(lab, root, guests)
        lab.exchanges.observe(wire.note)
        wire.follow(site.repository)
        company = AgentProcesses(site, child_environment() | {"HOME": str(root)}, clock, chance)
        weather, person = FaultSchedule(site, clock, chance), Person(site, clock, chance)
        began = clock.boot()
        async with anyio.create_task_group() as group:
            group.start_soon(at_work, company, agents())
            group.start_soon(person.answer)
            troubles = (company.kill_at_random, company.stop_at_random, weather.blow, person.push)
            lab.lag.begin(options.seed, share=options.lag, seconds=CAUGHT_UP_SECONDS)
            await _trouble(site, troubles, guests, options.minutes * 60, clock)
            lab.lag.begin(options.seed, share=0)
            with anyio.move_on_after(CALM_SECONDS):
                while not await verdict.at_rest(site):
                    await clock.sleep(LOOK_SECONDS)
            group.cancel_scope.cancel()
        wrong = await verdict.violations(site, person.pushed)
        wrong += [f"A request for which there is no operation: {one}." for one in sorted(set(lab.unlisted))]
        judged = await _judge(site, wire, company)
        wrong += judged.wrong
        counts = (company.counts, weather.counts, person.counts, lab.lag.counts, judged.counts)
        _report(site, counts, clock.boot() - began)
    return [*wrong, *_own_faults(root)]


async def _judge(host: TrialHost, wire: WireLog, company: AgentProcesses) -> history_checks.HistoryReport:
    """Judge the history of the trial by the server's logs and git."""
    changes = host.ref_changes()
    evidence = history_checks.Evidence(
        changes,
        await fence_moves(host.repository.bare, changes),
        wire.acks,
        wire.posts,
        frozenset({ENGINE, REVIEWER}),
        LOCK["self_fence"],
    )
    pauses, killed = company.counts["stopped beyond the lock"], company.counts["killed"]
    return history_checks.judge(
        evidence, history_checks.Allowance(pauses, pauses + killed, wire.unheard(company.deaths))
    )


async def _trouble(
    host: TrialHost, troubles: Sequence[Trouble], guests: Sequence[str], seconds: float, clock: Clock
) -> None:
    """Run all troubles at once; the stories and issues appear during the first three quarters."""
    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as group:
            for trouble in troubles:
                group.start_soon(trouble)
            group.start_soon(_tell, host, guests, seconds * 0.75 / len(guests), clock)
    for name in guests[sum(thread.title.startswith("Greet") for thread in _list_threads(host)) :]:
        host.tell(name)


async def _tell(host: TrialHost, guests: Sequence[str], pause: float, clock: Clock) -> None:
    for name in guests:
        host.tell(name)
        await clock.sleep(pause)


def _list_threads(host: TrialHost) -> list[IssueRecord]:
    threads = host.repository.issues.records.values()
    return [one for one in threads if one.author == "ada" and not one.is_pull]


def _own_faults(root: Path) -> list[str]:
    """Return the logs that report an error of the engine's own."""
    logs = sorted(root.glob("*.log"))
    texts = {log.name: log.read_text(encoding="utf-8", errors="replace") for log in logs}
    return [f"An agent met an error of its own: see {name}." for name, text in texts.items() if "Traceback" in text]


def _report(host: TrialHost, counts: Sequence[Counter[str]], seconds: float) -> None:
    table = verdict.rows(host)
    for row in table:
        state = "halted" if row.halted else "open" if row.open else "closed"
        _say(f"#{row.number} {row.title}: {row.pulls} pull request(s), {row.merged} merged, {state}, {row.seconds} s")
    for count in counts:
        _say(", ".join(f"{number} {what}" for what, number in sorted(count.items())) or "nothing")
    done = sum(row.merged == 1 and not row.open for row in table)
    _say(f"{done} of {len(table)} issues merged and closed after {seconds:.0f} s.")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """The command: 0 if nothing was wrong."""
    wanted = options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no agent outlives the trial
    _say(f"seed {wanted.seed}, {wanted.minutes:g} minutes of trouble, {wanted.issues} issues")
    wanted.directory.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="chaos-", dir=wanted.directory.absolute()))
    try:
        wrong = anyio.run(trial, wanted, root)
    except KeyboardInterrupt:
        _say(f"Interrupted. Everything was kept in {root}.")
        return 130
    for sentence in wrong:
        _say(f"WRONG: {sentence}")
    if wrong or wanted.keep:
        _say(f"Everything was kept in {root}: logs, git repositories, states.")
    else:
        shutil.rmtree(root, ignore_errors=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
