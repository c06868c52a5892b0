"""Limits that the kernel itself enforces: a cgroup (v2) for each command, if this process was given a subtree.

systemd gives one with `Delegate=`, a container with a writable /sys/fs/cgroup. The agent moves into a leaf of it,
because a cgroup with limits for its children has no processes of its own. A cgroup counts all memory: of files
without a name, of file systems in memory, of System V, in flight between sockets. Swap is off, so that it bounds.
https://docs.kernel.org/admin-guide/cgroup-v2.html, https://systemd.io/CGROUP_DELEGATION/
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shared.sandbox.limits import ProcessLimits, Usage, passed

AGENT = "agent"
"""The leaf that the agents of a subtree live in; systemd's `DelegateSubgroup=` may make it."""

NEEDED = ("memory", "pids")
"""Controllers without which a cgroup would bound nothing; CPU time is counted in every cgroup."""

_BOX = "box-"
_NUMBERS = itertools.count()
_PLACED = 'echo $$ > "$0" && exec "$@"'
"""The command enters the cgroup before it becomes the sandbox; if that is refused it does not run."""


@dataclass(frozen=True, slots=True)
class Delegated:
    """A subtree of cgroups in which this process may make cgroups with limits."""

    root: Path
    leftovers: list[Path] = field(default_factory=list, compare=False)
    """Boxes that were not yet empty when they were closed."""

    def box(self, limits: ProcessLimits) -> Box:
        """Make a cgroup for one command, with the limits that the kernel enforces; raise `OSError` if that is refused.

        The processes are in a cgroup below it: in a cgroup namespace of their own they see no limit to raise.
        """
        self.leftovers[:] = [path for path in self.leftovers if not _remove(path)]
        outer = self.root / f"{_BOX}{os.getpid()}-{next(_NUMBERS)}"
        inner = outer / "inner"
        outer.mkdir()
        _set(outer / "memory.max", str(limits.memory_bytes))
        _set(outer / "memory.oom.group", "1")
        _set(outer / "pids.max", str(limits.processes))
        with suppress(FileNotFoundError):  # of a kernel without swap
            _set(outer / "memory.swap.max", "0")
        inner.mkdir()
        return Box(outer, inner, limits, self.leftovers)

    def sweep(self) -> None:
        """Remove the empty cgroups that killed agents have left; raises nothing."""
        with suppress(OSError):
            for outer in self.root.glob(f"{_BOX}*"):
                owner = outer.name.removeprefix(_BOX).partition("-")[0]
                if not Path(f"/proc/{owner}").exists():
                    _remove(outer)


@dataclass(frozen=True, slots=True)
class Box:
    """The cgroup of one command: `outer` has the limits, `inner` the processes."""

    outer: Path
    inner: Path
    limits: ProcessLimits
    leftovers: list[Path] = field(default_factory=list, compare=False)

    def argv(self, command: Sequence[str]) -> tuple[str, ...]:
        """Return the argv that runs `command` in this cgroup."""
        return ("/bin/sh", "-c", _PLACED, str(self.inner / "cgroup.procs"), *command)

    def passed(self) -> str | None:
        """Return the limit that the kernel has enforced, or that CPU time exceeds, for people; None if none."""
        most = self.limits
        memory = _numbers(self.outer / "memory.events")
        usage = Usage(
            memory_bytes=most.memory_bytes + 1 if memory.get("oom_kill", 0) + memory.get("oom", 0) else 0,
            processes=most.processes + 1 if _numbers(self.outer / "pids.events").get("max", 0) else 0,
            cpu_seconds=_numbers(self.outer / "cpu.stat").get("usage_usec", 0) / 1e6,
        )
        return passed(usage, most)

    def end(self) -> None:
        """Kill all its processes at once; raises nothing. Kernels before 5.14 cannot do that."""
        with suppress(OSError):
            _set(self.outer / "cgroup.kill", "1")

    def close(self) -> None:
        """Remove it; raises nothing. A cgroup that is not empty yet is removed when the next one is made."""
        if not _remove(self.outer):
            self.leftovers.append(self.outer)


def delegated(process: Path = Path("/proc/self")) -> Delegated | str:
    """Return the subtree that this process was given, without changing it; or a sentence why there is none."""
    place = own(_text(process / "cgroup"), _text(process / "mountinfo"))
    if place is None:
        return "This machine has no cgroup v2."
    root = place.parent if place.name == AGENT else place
    if missing := [name for name in NEEDED if name not in _text(root / "cgroup.controllers").split()]:
        return f"The cgroup of this process has no controller {' and '.join(missing)}."
    places = (root, root / "cgroup.procs", root / "cgroup.subtree_control")
    if not all(os.access(place, os.W_OK) for place in places):
        return "The cgroup of this process is not delegated to it."
    if set(_text(root / "cgroup.procs").split()) - {str(os.getpid())}:
        return "The cgroup of this process is shared with others."
    return Delegated(root)


def taken(process: Path = Path("/proc/self")) -> Delegated | str:
    """Like `delegated`, but make the subtree ready for boxes: this process moves to a leaf of it. Raises nothing."""
    found = delegated(process)
    if isinstance(found, str):
        return found
    try:
        if any(name not in _text(found.root / "cgroup.subtree_control").split() for name in NEEDED):
            leaf = found.root / AGENT
            leaf.mkdir(exist_ok=True)
            _set(leaf / "cgroup.procs", str(os.getpid()))
            _set(found.root / "cgroup.subtree_control", " ".join(f"+{name}" for name in NEEDED))
        found.sweep()
        found.box(ProcessLimits()).close()
    except OSError as error:
        return f"The cgroup of this process cannot be divided: {error.strerror}."
    return found


def limits_text(found: Delegated | str) -> str:
    """Return a sentence for people on how limits are enforced, by the result of `delegated` or `taken`."""
    if isinstance(found, str):
        return f"Limits hold by a watchdog that looks five times a second: {found[0].lower()}{found[1:]}"
    return "Limits of memory and processes hold by a cgroup of the kernel, without gaps."


def own(groups: str, mounts: str) -> Path | None:
    """Return the path of a process's cgroup (v2), by its `/proc/<pid>/cgroup` and `mountinfo`; None if it has none."""
    path = next((line.removeprefix("0::") for line in groups.splitlines() if line.startswith("0::/")), None)
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if path is None or len(fields) < 5 or not after.startswith("cgroup2 "):
            continue
        root, place = fields[3].rstrip("/"), Path(fields[4])
        if path == root or path.startswith(f"{root}/"):
            return place / path.removeprefix(root).lstrip("/")
    return None


def _remove(outer: Path) -> bool:
    try:
        for inner in outer.iterdir():
            if inner.is_dir():
                inner.rmdir()
        outer.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _set(file: Path, value: str) -> None:
    """Write a value into an existing file in one write, as the kernel wants it."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value.encode())
    finally:
        os.close(descriptor)


def _numbers(file: Path) -> dict[str, int]:
    """Parse a file of lines `name number`; empty if there is no such file."""
    pairs = (line.split() for line in _text(file).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
