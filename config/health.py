"""`python -m config.health STATE_DIR`: whether an agent runs in this container; for its HEALTHCHECK.

It proves that the container's first process is neither stopped nor dead, and that some process holds
an identity in the state directory, which an agent does from the end of its start to its own end. It
does not prove that GitHub answers or that work gets done; logs tell that.
"""

from __future__ import annotations

import fcntl
import re
import sys
from pathlib import Path

_ALIVE = frozenset("RSDI")
"""Process states in proc(5) that are neither stopped, traced, zombie nor dead."""


def unhealthy(state_dir: Path, first_process: Path = Path("/proc/1")) -> str:
    """Return the reason why the container is not healthy, in one sentence; empty when it is."""
    try:
        status = (first_process / "status").read_text(encoding="utf-8", errors="replace")
        running = any(held(lock) for lock in (state_dir / "agents").glob("*.lock"))
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}."
    found = re.search(r"^State:\s+(\S)", status, re.MULTILINE)
    if found is None or found[1] not in _ALIVE:
        return "The first process is stopped or dead."
    return "" if running else f"No agent runs from {state_dir}."


def held(lock: Path) -> bool:
    """Return whether a process holds this lock file; raises `OSError`."""
    with lock.open("rb") as file:
        try:
            # Shared, and let go at once by closing: an agent of this id that starts in the same
            # microseconds fails and is started again by its supervisor.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def main(arguments: list[str]) -> int:
    """Exit code 0 when healthy; else 1 and the reason."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m config.health STATE_DIR\n")
        return 2
    reason = unhealthy(Path(arguments[0]))
    sys.stdout.write(f"{reason or 'An agent is running.'}\n")
    return 1 if reason else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
