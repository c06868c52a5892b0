"""Memory and disk that processes hold but no directory shows: nameless memory, deleted files, their own file systems.

It is read from `/proc` of the processes alone, without any right that their account does not have. A process that is
not dumpable is hidden from its own account and stays unseen; there a cgroup counts (`cgroup`).
https://man7.org/linux/man-pages/man5/proc.5.html
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shared.sandbox.system_calls import LARGEST_SEGMENT, SEGMENTS

OWN_SEGMENTS_BYTES = LARGEST_SEGMENT * SEGMENTS
"""Bytes of System V shared memory that one namespace can hold in a sandbox, at most."""

_IN_MEMORY = ("tmpfs", "ramfs")
"""File systems in memory that an ordinary account can mount in a user namespace of its own."""

_NAMELESS = ("/memfd:", "/dev/zero", "/SYSV")
"""Prefixes of the kernel's names for files that are memory."""

_DELETED = " (deleted)"
_ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Held:
    """Hidden usage: bytes and number of files; `unseen` are devices of file systems whose usage cannot be read."""

    memory_bytes: int = 0
    disk_bytes: int = 0
    files: int = 0
    unseen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of `mountinfo`: the device as `major:minor`, the mount point, and the file system's type."""

    device: str
    place: str
    kind: str


@dataclass(frozen=True, slots=True)
class Mapping:
    """One line of `maps` for a deleted file: device and inode, the end of the mapped part, and its addresses.

    `memory` is True if the file is memory."""

    identity: tuple[int, int]
    end: int
    span: str
    memory: bool


@dataclass(slots=True)
class _Found:
    """Sizes found so far, by device and inode, so that nothing is counted twice."""

    memory: dict[tuple[int, int], int] = field(default_factory=dict)
    disk: dict[tuple[int, int], int] = field(default_factory=dict)
    mounted: dict[str, tuple[int, int] | None] = field(default_factory=dict)


def held(pids: Sequence[int]) -> Held:
    """Return the usage of these processes besides resident memory and files in directories; raises nothing."""
    found = _Found()
    ours = {mount.device for mount in mounts(_text("/proc/self/mountinfo"))}
    spaces: set[str] = set()
    for pid in pids:
        if (space := _link(f"/proc/{pid}/ns/mnt")) and space not in spaces:
            spaces.add(space)
            _count_file_systems(pid, ours, found)
    in_memory = {_number(device) for device in found.mounted}
    for pid in pids:
        _count_descriptors(pid, in_memory, found)
    for pid in pids:
        _count_mapped(pid, in_memory, found)
    usages = [usage for usage in found.mounted.values() if usage is not None]
    mounted = sum(size for size, _ in usages)
    namespaces = {space for pid in pids if (space := _link(f"/proc/{pid}/ns/ipc"))} - {_link("/proc/self/ns/ipc")}
    further = max(0, len(namespaces) - 1) * OWN_SEGMENTS_BYTES
    return Held(
        memory_bytes=mounted + sum(found.memory.values()) + further,
        disk_bytes=mounted + sum(found.disk.values()),
        files=sum(files for _, files in usages) + len(found.disk),
        unseen=frozenset(device for device, usage in found.mounted.items() if usage is None),
    )


def mounts(text: str) -> Iterator[Mount]:
    """Yield the parsed lines of a `mountinfo`."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) > 4 and after:
            place = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
            yield Mount(fields[2], place, after.split()[0])


def mappings(text: str) -> Iterator[Mapping]:
    """Yield the lines of a `maps` that are shared memory without a name, or a deleted file."""
    for line in text.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < 6 or not fields[5].endswith(_DELETED):
            continue
        memory = fields[5].startswith(_NAMELESS)
        if memory and fields[1][3] != "s":
            continue  # a copy of one's own, which is resident memory
        first, last = (int(address, 16) for address in fields[0].split("-"))
        identity = (_number(fields[3], 16), int(fields[4]))
        yield Mapping(identity, int(fields[2], 16) + last - first, fields[0], memory)


def _count_file_systems(pid: int, ours: set[str], found: _Found) -> None:
    """Count the file systems in memory that one process sees and this one does not."""
    for mount in mounts(_text(f"/proc/{pid}/mountinfo")):
        if mount.kind not in _IN_MEMORY or mount.device in ours:
            continue
        if found.mounted.get(mount.device) is None:
            found.mounted[mount.device] = _usage(pid, mount)


def _usage(pid: int, mount: Mount) -> tuple[int, int] | None:
    """Return bytes and files; None if another mount covers it, or if it has no count, such as ramfs."""
    place = f"/proc/{pid}/root{mount.place}"
    try:
        if os.lstat(place).st_dev != _number(mount.device):
            return None
        usage = os.statvfs(place)
    except OSError:
        return None
    if usage.f_blocks == 0:
        return None
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize, usage.f_files - usage.f_ffree


def _count_descriptors(pid: int, in_memory: set[int], found: _Found) -> None:
    for name in _names(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            facts = Path(path).stat()
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 0:
            identity = (facts.st_dev, facts.st_ino)
            if _link(path).startswith(_NAMELESS):
                found.memory[identity] = facts.st_blocks * 512
            elif facts.st_dev not in in_memory:
                found.disk[identity] = facts.st_blocks * 512


def _count_mapped(pid: int, in_memory: set[int], found: _Found) -> None:
    """Count mapped files without a descriptor: by their size, if readable, else by the end of the mapped part."""
    for mapping in mappings(_text(f"/proc/{pid}/maps")):
        identity = mapping.identity
        if identity in found.memory or identity in found.disk or identity[0] in in_memory:
            continue
        try:
            size = Path(f"/proc/{pid}/map_files/{mapping.span}").stat().st_blocks * 512
        except OSError:
            size = mapping.end
        sizes = found.memory if mapping.memory else found.disk
        sizes[identity] = size


def _number(device: str, base: int = 10) -> int:
    major, _, minor = device.partition(":")
    return os.makedev(int(major, base), int(minor, base))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="surrogateescape")
    except OSError:
        return ""


def _names(path: str) -> list[str]:
    try:
        return [entry.name for entry in Path(path).iterdir()]
    except OSError:
        return []


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""
