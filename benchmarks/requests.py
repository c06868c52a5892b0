"""Two issues from story to merge, told by three processes: requests to GitHub, beside those that `gh` would make."""

from __future__ import annotations

import resource
import shlex
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from string import Template

import anyio

from benchmarks.lab_host import OWNER, REPOSITORY, LabHost, Stuck, house
from benchmarks.proxy import Proxy
from benchmarks.request_counts import Exchange, Tally
from benchmarks.table import Row
from lab.demo.outcome import scene
from shared import process
from shared.workflow import Role

SECONDS = 120.0
"""Seconds after which the story counts as stuck."""

QUIET_POLLS = 4
"""Number of polls after the end of the story until everything that follows from it has been read."""

POLL_SECONDS = 0.5

PULLS_LABEL = "automated"
"""The label of the engine's pull requests, which the first one in a repository defines."""

STORIES = ("domain", "initial")
"""The words by which the stories count users, in their order."""

_SCRIPT = Template((Path(__file__).with_name("story.yml")).read_text(encoding="utf-8"))

_COUNTING_GIT = """\
#!/bin/sh
[ -z "$GIT_CONFIG_COUNT" ] || printf '%s\\n' "$*" >> {log}
exec {git} "$@"
"""
"""A `git` before the real one on the PATH of agents: it counts the engine's own, to which alone settings are given."""


def script(*names: str) -> str:
    """Return the scenario for one issue per name, each right at once."""
    return "\n".join(_SCRIPT.substitute(name=name) for name in names)


def field_name(issue: int) -> str:
    """Return the subject of an issue: words of which none is a part of another."""
    return f"field_{issue:04d}"


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Tell two stories, and count the second: an agent lives for weeks, and reads labels and rights once.

    Return the rows of DESIGN's request goals; the details are charged requests by their shape, git by its commands.
    """
    socket, counts = root / "github.sock", GitCounts(root / "programs")
    async with house(root, script(*STORIES), socket=socket) as here:
        here.programs = counts.directory
        here.lab.at(REPOSITORY).issues.labels.ensure(PULLS_LABEL)  # by any pull request before this one
        starts, git = await _tell_stories(here, counts)
        counts_of_story = here.proxy.tally()
        rows = [
            *_rows(counts_of_story),
            Row("git processes of the story", git.total(), "processes"),
            Row("git processes, with the starts of three agents", (starts + git).total(), "processes", 60),
        ]
        gh = await _measure_gh(here.proxy, socket, here.proxy.exchanges)
        details = {
            "charged": counts_of_story.shapes,
            "git_requests": counts_of_story.git,
            "git_processes": dict(git.most_common()),
            "git_processes_of_starts": dict(starts.most_common()),
        }
        return rows + gh, details


async def _tell_stories(here: LabHost, counts: GitCounts) -> tuple[Counter[str], Counter[str]]:
    """Tell the stories, with the three agents as processes; return the git of their starts, and of the last story.

    Each is told until nothing follows any more; what the proxy has seen is the last one's.

    They start one after the other, so that each finds the labels that the first one has defined.
    """
    agents = {"planner-1": Role.PLANNER, "worker-1": Role.WORKER, "reviewer-1": Role.REVIEWER}
    async with AsyncExitStack() as stack:
        for number, (name, role) in enumerate(agents.items(), start=1):
            await stack.enter_async_context(here.running(role, name))
            await _await_polls(here, number)
        starts = counts.so_far()
        for number, name in enumerate(STORIES, start=1):
            await _await_polls(here, len(agents))
            here.proxy.exchanges.clear()
            before = counts.so_far()
            title = f"Count users by {name}"
            here.lab.issue(REPOSITORY, title, "For a register.", author=OWNER, labels=("story",))
            with anyio.move_on_after(SECONDS) as limit:
                while not scene(here.lab).finished(number):
                    await here.clock.sleep(POLL_SECONDS / 5)
                await here.clock.sleep(QUIET_POLLS * POLL_SECONDS)
            if limit.cancelled_caught:
                raise Stuck(f"The story '{title}' was not merged within {SECONDS:.0f} s: see {here.root}.")
        return starts, counts.so_far() - before


async def _await_polls(here: LabHost, agents: int) -> None:
    """Return when each agent has polled twice from now on, so that only what the story causes is counted."""
    here.proxy.exchanges.clear()
    await here.polled(2 * agents, SECONDS)


def _rows(tally: Tally) -> list[Row]:
    return [
        Row("charged requests besides change lists", tally.charged_besides_polling, "requests", 45),
        Row("operations of GraphQL, which has a limit of its own", tally.graphql, "requests"),
        Row("writes", tally.writes, "requests", 24),
        Row("comments, reviews and pull requests", tally.speech, "posts", 6),
        Row("charged reads of change lists", tally.charged_change_lists, "requests"),
        Row("all requests, free ones included", tally.requests, "requests"),
        Row("requests on the content-creating limit", tally.content, "requests"),
    ]


async def _measure_gh(proxy: Proxy, socket: Path, story: Sequence[Exchange]) -> list[Row]:
    """Measure the story's reads again, one `gh api` process each: no connection is kept, nothing is conditional."""
    program = shutil.which("gh")
    reads = [one for one in story if one.method == "GET" and not one.git]
    if program is None:
        return [Row("the same reads by gh", 0, "processes", note="gh is not installed here")]
    directory = socket.parent / "gh"
    directory.mkdir()
    (directory / "config.yml").write_text(f"http_unix_socket: {socket}\n", encoding="utf-8")
    token = (socket.parent / "engine-bot.token").read_text(encoding="ascii").strip()
    env = {
        "PATH": str(Path(program).parent),
        "HOME": str(directory),
        "GH_CONFIG_DIR": str(directory),
        "GH_TOKEN": token,
    }
    before, start = _child_seconds(), len(proxy.exchanges)
    for one in reads:
        await process.run((program, "api", one.target.removeprefix("/")), cwd=directory, env=env)
    again, seconds = proxy.tally(start), _child_seconds() - before
    return [
        Row("the same reads by gh: charged", again.charged, "requests", note=f"{len(reads)} processes"),
        Row("the same reads by gh: processor time", seconds, "s"),
    ]


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class GitCounts:
    """Counts of the git processes that were started by way of one directory."""

    def __init__(self, directory: Path) -> None:
        """Make `directory`; raises `FileNotFoundError` if there is no git."""
        real = shutil.which("git")
        if real is None:
            raise FileNotFoundError("there is no git on PATH")
        self.directory = directory
        self._log = directory / "log"
        directory.mkdir()
        self._log.touch()
        program = directory / "git"
        program.write_text(
            _COUNTING_GIT.format(log=shlex.quote(str(self._log)), git=shlex.quote(real)), encoding="utf-8"
        )
        program.chmod(0o755)

    def so_far(self) -> Counter[str]:
        """Return how often each command was started."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return Counter(_command(line.split(" ")) for line in lines)


def _command(arguments: list[str]) -> str:
    """Return the command among git's arguments."""
    return next((word for word in arguments if not word.startswith("-")), "")
