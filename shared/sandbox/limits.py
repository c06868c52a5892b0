"""The limits of one untrusted command, and the check which limit its usage exceeds (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GIB = 2**30

PROCESSES = 1024
"""Processes and threads that the kernel itself allows in one sandbox; root's are not counted."""


FILE_BYTES = 2**30
"""Largest file, in bytes, that a test or a coding CLI may write."""

_SHELL_BLOCK = 512
"""Bytes of one unit of `ulimit -f` (POSIX)."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of all processes of one command together: processes, files, seconds, bytes."""

    memory_bytes: int = 4 * GIB
    processes: int = 512
    disk_bytes: int = 10 * GIB
    """Bytes in its directories and in its /tmp."""
    files: int = 500_000
    cpu_seconds: float = 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Usage:
    """The present usage of all processes of one command."""

    memory_bytes: int = 0
    processes: int = 0
    disk_bytes: int = 0
    files: int = 0
    cpu_seconds: float = 0.0


def passed(usage: Usage, limits: ProcessLimits) -> str | None:
    """Return the exceeded limit for people, as in `memory (more than 4.0 GiB)`; None if there is none.

    Disk goes before memory, because a full /tmp exceeds both, and disk is the more helpful answer.
    """
    if usage.processes > limits.processes:
        return f"processes (more than {limits.processes:,})"
    if usage.disk_bytes > limits.disk_bytes:
        return f"disk (more than {_size(limits.disk_bytes)})"
    if usage.files > limits.files:
        return f"files (more than {limits.files:,})"
    if usage.memory_bytes > limits.memory_bytes:
        return f"memory (more than {_size(limits.memory_bytes)})"
    if usage.cpu_seconds > limits.cpu_seconds:
        return f"CPU time (more than {limits.cpu_seconds:,.0f} seconds)"
    return None


def limited(argv: Sequence[str], file_bytes: int = FILE_BYTES) -> tuple[str, ...]:
    """Prefix `argv` with the limit, and disable core dumps: no further process, no system package."""
    blocks = file_bytes // _SHELL_BLOCK
    return ("/bin/sh", "-c", f'ulimit -c 0; ulimit -f {blocks}; exec "$@"', "sh", *argv)


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"
