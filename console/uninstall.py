"""`workflow-engine uninstall`: remove the engine's data from a repository, and this machine's data about it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from config.loading import load, source
from config.settings import Settings
from console.doctor.finding import Machine, RepositoryContext
from console.doctor.probes import visited_repository
from console.history.fences import newest
from runtime.building.sign_in import ANSWERS, git_server, with_gh_token
from runtime.exit_codes import FAILED, OK, complain
from runtime.output import say
from shared.errors import Blocked, EngineError, Misconfigured
from shared.filesystem import directories
from shared.git import history
from shared.git.names import mirror_path
from shared.github.label_board import LabelBoard
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.port import RefUpdate
from shared.lock.write_permit import OperatorPermit
from shared.loop.real_clock import RealClock
from shared.workflow import AGENTS

ORDER = OperatorPermit("uninstall")

NAMESPACES = (FENCE_NAMESPACE, "refs/notes/workflow")
"""Namespaces of the engine's own refs."""

AT_ONCE = 200
"""Refs that one push deletes."""

Ask = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class UninstallOptions:
    """Options of `uninstall`; `force` removes even if an agent holds something."""

    repository: str
    config: Path | None = None
    yes: bool = False
    dry_run: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Data to be removed: labels, refs with their values, directories; and the items that agents hold now."""

    labels: tuple[str, ...]
    refs: Mapping[str, str]
    places: tuple[Path, ...]
    held: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return what is to be removed, one line for each kind."""
        said = [f"{len(self.labels)} labels, also from the issues that carry them"] if self.labels else []
        said += [f"{len(self.refs)} refs below {' and '.join(NAMESPACES)}"] if self.refs else []
        return [*said, *map(str, self.places)]


def removed(options: UninstallOptions, ask: Ask | None, environment: Mapping[str, str]) -> int:
    """Remove and print what was removed and what is left; an exit code. `ask` is None where nobody can be asked."""
    try:
        file = source(options.config, environment=environment)
        settings = load(options.config, repository=options.repository, environment=environment)
        machine = Machine(settings, with_gh_token(settings, environment), RealClock())
        return anyio.run(_uninstall, options, machine, file, ask)
    except EngineError as error:
        return complain(error)


async def _uninstall(options: UninstallOptions, machine: Machine, file: Path | None, ask: Ask | None) -> int:
    with tempfile.TemporaryDirectory(prefix="uninstall-") as place:
        async with visited_repository(machine, AGENTS) as visit:
            found = await _find_leftovers(visit, Path(place) / "refs.git")
            if not _agree(options, found, ask):
                return OK if options.dry_run else FAILED
            complete = await _carry_out(visit, Path(place) / "refs.git", found)
    for line in remaining_lines(machine.settings, file):
        say(line)
    return OK if complete else FAILED


async def _find_leftovers(visit: RepositoryContext, place: Path) -> Leftovers:
    names = visit.configured.labels.names()
    board = LabelBoard(visit.me.github, visit.name, names)
    git = visit.git.at(place)
    await git.init()
    await git.fetch(visit.url, *(f"+{one}/*:{one}/*" for one in NAMESPACES))
    tips = [tip for one in NAMESPACES for tip in await history.tips_below(git, f"{one}/")]
    rows = {tip.ref: (tip.oid, tip.message) for tip in tips}
    held = tuple(f"#{key.number} ({fence.agent})" for key, fence in newest(rows).items() if not fence.free)
    places = [one for one in of_machine(visit.machine.settings, visit.name) if one.exists()]
    return Leftovers(await board.defined(), {ref: oid for ref, (oid, _) in rows.items()}, tuple(places), held)


def of_machine(settings: Settings, name: str) -> tuple[Path, ...]:
    """Return the directories in which this machine keeps data of one repository that it can make again."""
    host, flat = urlsplit(git_server(settings.github.api_url)).netloc, name.replace("/", "__")
    return (
        mirror_path(settings.state_dir / "mirrors", host, name),
        settings.work_dir / flat,
        settings.state_dir / "base-runs" / flat,
        settings.state_dir / "sessions" / flat,
        (settings.state_dir / ANSWERS).parent,  # of all repositories, which are read anew
    )


def _agree(options: UninstallOptions, found: Leftovers, ask: Ask | None) -> bool:
    """Print what would be removed, and ask; raises `Blocked` while an agent works there."""
    lines = found.lines()
    if not lines:
        say(f"{options.repository} has no labels and no refs of the engine, and this machine keeps nothing of it.")
        return True
    say("\n".join([f"To be removed of {options.repository}:", *(f"  {line}" for line in lines)]))
    if options.dry_run:
        say("Nothing was changed.")
        return False
    if found.held and not options.force:
        raise Blocked(
            f"Agents hold {', '.join(found.held)}: end them first (workflow-engine drain), or give --force where they "
            "are dead for certain."
        )
    if options.yes:
        return True
    if ask is None:
        raise Misconfigured("Nobody can be asked here: give --yes, or --dry-run to look.")
    agreed = ask("Remove all of it?")
    if not agreed:
        sys.stdout.write("Nothing was changed.\n")
    return agreed


async def _carry_out(visit: RepositoryContext, place: Path, found: Leftovers) -> bool:
    """Delete the refs first, so that a worker that starts now finds no half of a lock; `Blocked` if a ref has moved.

    Return whether every directory could be removed.
    """
    git, refs = visit.git.at(place), list(found.refs.items())
    for first in range(0, len(refs), AT_ONCE):
        some = refs[first : first + AT_ONCE]
        if not await git.push(visit.url, [RefUpdate(ref, oid, "") for ref, oid in some]):
            raise Blocked("A ref of the engine's has moved meanwhile: an agent is at work. End it, and try again.")
    if refs:
        say(f"Removed {len(refs)} refs.")
    board = LabelBoard(visit.me.github, visit.name, visit.configured.labels.names())
    if found.labels:
        say(f"Removing {len(found.labels)} labels, about one a second ...")
        await board.undefine(found.labels, ORDER)
    kept = [one for one in found.places if not await to_thread.run_sync(directories.remove, one)]
    for one in found.places:
        say(f"Not removed: {one}; delete it by hand." if one in kept else f"Removed {one}.")
    return not kept


def remaining_lines(settings: Settings, file: Path | None) -> Sequence[str]:
    """Return what stays, one line for each."""
    said = ["Left: comments, branches (auto/issue-N) and pull requests on GitHub; they are part of its history."]
    if settings.state_dir.exists():
        said.append(
            f"Left: {settings.state_dir}, what this machine keeps for all repositories (programs, environments, "
            "events, what failed runs have left); it may be deleted when no agent of this machine is used any more."
        )
    said += [
        f"Left: the token in {token}; revoke it on GitHub and delete the file when no other repository uses it."
        for token in (settings.github.token_file, settings.github.reviewer_token_file)
        if token is not None
    ]
    if file is not None:
        said += [f"Left: {file}; take the repository out of it, or delete it."]
    said += [
        f"Left: the signing key {key}; delete it when no other repository uses it." for key in settings.lock.key_files
    ]
    return said
