"""The size limit of one file that a command writes: the kernel enforces it, set by a shell around the command."""

from __future__ import annotations

from collections.abc import Sequence

FILE_BYTES = 2**30
"""Largest file, in bytes, that a test or a coding CLI may write."""

_SHELL_BLOCK = 512
"""Bytes of one unit of `ulimit -f` (POSIX)."""


def limited(argv: Sequence[str], file_bytes: int = FILE_BYTES) -> tuple[str, ...]:
    """Prefix `argv` with the limit, and disable core dumps: no further process, no system package."""
    blocks = file_bytes // _SHELL_BLOCK
    return ("/bin/sh", "-c", f'ulimit -c 0; ulimit -f {blocks}; exec "$@"', "sh", *argv)
