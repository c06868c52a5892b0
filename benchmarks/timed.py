"""`python -m benchmarks.timed FILE COMMAND ...`: run a command, append its seconds to a file, end as it ended."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def main() -> int:
    """Run the command; return its exit code, or 1 if a signal ended it."""
    began = time.perf_counter()
    status = os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:])
    with Path(sys.argv[1]).open("a", encoding="ascii") as file:
        file.write(f"{time.perf_counter() - began:.4f}\n")
    return max(status, 1) if status < 0 else status


if __name__ == "__main__":
    sys.exit(main())
