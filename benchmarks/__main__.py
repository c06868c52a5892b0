"""`python -m benchmarks [PART ...]`: run benchmarks, print their tables, write `benchmarks/results/*.json`."""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio
import structlog

from benchmarks import claims, idle, process, requests, throughput, workspace
from benchmarks.table import Row, markdown, save

Measure = Callable[[Path], Awaitable[tuple[list[Row], dict[str, object]]]]
"""Runs one part in an empty directory; returns its figures and what stands behind them."""

PARTS: Mapping[str, tuple[str, Measure]] = {
    "requests": ("requests", requests.measure),
    "idle": ("requests", idle.measure),
    "claims": ("requests", claims.measure),
    "workspace": ("workspace", workspace.measure),
    "process": ("process", process.measure),
    "throughput": ("throughput", throughput.measure_with(throughput.WORKERS, throughput.ISSUES)),
}
"""Part -> the results file that it goes into, and what measures it."""


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the engine costs, on loopback.")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    return parser.parse_args(argv)


async def run(parts: Sequence[str]) -> None:
    """Run each part in a directory of its own, which is kept when it fails."""
    for part in parts:
        file, measure = PARTS[part]
        root = Path(tempfile.mkdtemp(prefix=f"bench-{part}-"))
        rows, details = await measure(root)
        path = save(file, part, rows, details)
        sys.stdout.write(f"## {part}\n\n{markdown(rows)}\n\n{path}\n\n")
        sys.stdout.flush()
        shutil.rmtree(root)


def main() -> None:
    """The command; what agents in this process log is of no interest unless it is a warning."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    anyio.run(run, arguments().parts or list(PARTS))


if __name__ == "__main__":
    main()
