"""This machine: what is configured, git, disks, the state directory, clocks."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from config.environment import child_environment
from config.rules import unsupported
from config.settings import Settings
from config.state import StateDirectory
from console.doctor.finding import Finding, Machine, failed, passed, warned
from console.manual import link
from runtime.building.confinement import calls, environments
from shared import process
from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.filesystem.disk_space import existing, free_bytes
from shared.git.disk import leftovers as workspaces_left
from shared.git.probe import LEAST_GIT

GIB = 2**30

LEAST_FREE_BYTES = 1 * GIB
"""With less free space a clone or a test run is likely to fail."""

LITTLE_FREE_BYTES = 5 * GIB
"""With less free space a person should know."""

_VERSION = re.compile(r"git version (\d+)\.(\d+)\S*")


async def configuration(machine: Machine) -> Sequence[Finding]:
    """Report whether this version can do what is configured."""
    refused = unsupported(machine.settings)
    if refused:
        return [failed("configuration", sentence, change_it()) for sentence in refused]
    many = len(machine.settings.repositories)
    return [passed("configuration", f"Valid, with {many} {'repository' if many == 1 else 'repositories'}.")]


def change_it() -> str:
    """Return the next step for a key that the sentence names."""
    return f"Correct what is named in the configuration; all keys: {link('docs/configuration.md#every-key')}"


async def git_version(machine: Machine) -> Sequence[Finding]:
    """Report whether there is a git that knows the commands which the engine uses."""
    least = ".".join(map(str, LEAST_GIT))
    try:
        env = child_environment(machine.environment)
        said = (await process.check(("git", "--version"), cwd=Path("/"), env=env)).text
    except (OSError, process.CommandFailed) as error:
        return [failed("git", f"git does not run: {error}", f"Install git {least} or newer.")]
    return [git_finding(said)]


def git_finding(version_output: str) -> Finding:
    """Judge the output of `git --version`."""
    least = ".".join(map(str, LEAST_GIT))
    found = _VERSION.match(version_output)
    if found is None:
        return warned(
            "git", f"'{version_output[:80]}' does not tell git's version.", f"Make sure that it is {least} or newer."
        )
    if (int(found[1]), int(found[2])) < LEAST_GIT:
        return failed("git", f"{found[0]} is too old.", f"Install git {least} or newer.")
    return passed("git", f"{found[0]}.")


async def state_directory(machine: Machine) -> Sequence[Finding]:
    """Report whether this version can use the state directory, or create it."""
    path = machine.settings.state_dir
    place = existing(path)
    if not place.is_dir() or not writable(place):
        step = "Make it writable for this account, or give another state_dir."
        return [failed("state directory", f"{place} is not a directory that can be written to.", step)]
    if place != path:
        return [passed("state directory", f"{path} does not exist yet and will be made.")]
    try:
        StateDirectory(path).open()
    except Misconfigured as error:
        return [failed("state directory", str(error), "Do that, or name a new directory in the key state_dir.")]
    return [passed("state directory", f"{path} is writable and of this version's layout.")]


SWEPT = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/private/tmp", "/private/var/tmp")
"""Directories that systems empty by themselves: at a start, or of what is older than some days."""


async def swept(machine: Machine) -> Sequence[Finding]:
    """Report whether the state directory lies where the system deletes files."""
    return swept_finding(machine.settings.state_dir)


def swept_finding(path: Path) -> Sequence[Finding]:
    """Report a state directory below a directory that the system empties; nothing for any other."""
    place = existing(path).resolve()
    found = next((one for one in SWEPT if place.is_relative_to(one)), None)
    if found is None:
        return []
    sentence = f"{path} lies below {found}, which the system empties by itself: agents lose their identities there."
    return [warned("state directory", sentence, "Give a state_dir that stays, such as ~/.workflow-engine.")]


async def disk(machine: Machine) -> Sequence[Finding]:
    """Report the free space of the state directory and of the work trees."""
    places = {"state_dir": machine.settings.state_dir, "work_dir": machine.settings.work_dir}
    found = [disk_finding(key, path, free_bytes(path)) for key, path in places.items()]
    return [*found, *leftovers_finding(left_on(machine.settings))]


def left_on(settings: Settings) -> tuple[Path, ...]:
    """Return the directories that runs have left and that could not be removed, moved aside."""
    roots = (calls(settings), environments(settings))
    return (*workspaces_left(settings.work_dir), *(path for root in roots for path in directories.set_aside(root)))


def leftovers_finding(leftovers: Sequence[Path]) -> Sequence[Finding]:
    """Judge the directories that could not be removed; nothing is reported if there are none."""
    if not leftovers:
        return []
    named = ", ".join(map(str, leftovers[:3])) + (f" and {len(leftovers) - 3} more" if len(leftovers) > 3 else "")
    step = "It is tried again every ten minutes; remove it by hand, as root where its owner is another account."
    return [warned("left behind", f"A run has left what this account cannot remove: {named}.", step)]


def disk_finding(key: str, path: Path, free_bytes: int) -> Finding:
    """Judge the free space."""
    subject, sentence = f"disk ({key})", f"{free_bytes / GIB:.1f} GiB are free at {path}."
    if free_bytes < LEAST_FREE_BYTES:
        return failed(subject, sentence, f"Free some space, or give another {key}.")
    if free_bytes < LITTLE_FREE_BYTES:
        return warned(subject, sentence, f"Mirrors and work trees need room: free some, or give another {key}.")
    return passed(subject, sentence)


async def boot_clock(machine: Machine) -> Sequence[Finding]:
    """Report whether deadlines inside the process count the time that the machine sleeps."""
    del machine
    return [clock_source_finding(counts_suspend=hasattr(time, "CLOCK_BOOTTIME"))]


def clock_source_finding(*, counts_suspend: bool) -> Finding:
    """Judge the clock of deadlines: it should go on while the machine sleeps."""
    if counts_suspend:
        return passed("boot clock", "Deadlines count the time that the machine sleeps.")
    step = "Do not let this machine sleep while agents run: one that wakes up late notices only by its next heartbeat."
    return warned("boot clock", "This system's clock of deadlines stands still while the machine sleeps.", step)


def writable(directory: Path) -> bool:
    """Return whether this account may make files there; a file system that is read-only refuses everybody."""
    return os.access(directory, os.W_OK | os.X_OK)
