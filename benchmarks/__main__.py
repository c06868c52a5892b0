"""`python -m benchmarks [PART ...]`: run benchmarks, print their tables, write `benchmarks/results/*.json`.

`python -m benchmarks commits` judges the proof on real commits, with arguments of its own.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import structlog

from benchmarks import (
    claims,
    event_loop,
    fleet,
    idle,
    many_repositories,
    process,
    proof,
    requests,
    scale,
    soak,
    throughput,
    workspace,
)
from benchmarks.commits import command as commits
from benchmarks.fleet_host import Sizes
from benchmarks.table import Row, markdown, save

Measure = Callable[[Path], Awaitable[tuple[list[Row], dict[str, object]]]]
"""Runs one part in an empty directory; returns its figures and their details."""

PARTS: Mapping[str, tuple[str, Measure]] = {
    "requests": ("requests", requests.measure),
    "idle": ("requests", idle.measure),
    "claims": ("requests", claims.measure),
    "crowd": ("requests", idle.measure_crowd),
    "workspace": ("workspace", workspace.measure),
    "process": ("process", process.measure),
    "loop": ("process", event_loop.measure),
    "throughput": ("throughput", throughput.measure),
    "proof": ("proof", proof.measure),
    "fleet": ("fleet", fleet.measure),
    "repositories": ("repositories", many_repositories.measure),
    "scale": ("scale", scale.measure),
    "soak": ("soak", soak.measure),
}
"""Part -> the results file that it goes into, and what measures it; three of them as large as the arguments say."""

BY_NAME_ONLY = frozenset({"fleet", "proof", "repositories", "scale", "soak"})
"""Parts that take a quarter of an hour or more: run only by their name."""


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What the engine costs, on loopback.")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--workers", type=int, help=f"of throughput ({throughput.WORKERS}), scale ({scale.SIZES.workers})"
    )
    sizes = f"of throughput ({throughput.ISSUES}), soak ({soak.ISSUES}), scale ({scale.SIZES.issues})"
    parser.add_argument("--issues", type=int, help=sizes)
    for name in ("repositories", "reviewers", "accounts", "creations"):
        parser.add_argument(f"--{name}", type=int, help=f"of scale ({getattr(scale.SIZES, name)})")
    given = parser.parse_args(argv)
    try:
        if "scale" in given.parts:
            scale_sizes(given)
    except ValueError as error:
        parser.error(str(error))
    return given


def scale_sizes(options: argparse.Namespace) -> Sizes:
    """Return the sizes of the scale run; raises `ValueError`."""
    names = ("repositories", "issues", "workers", "reviewers", "accounts", "creations")
    return replace(scale.SIZES, **{name: one for name in names if (one := getattr(options, name)) is not None})


async def run(parts: Mapping[str, tuple[str, Measure]]) -> None:
    """Run each part in a directory of its own, which is kept if the part fails."""
    for part, (file, measure) in parts.items():
        root = Path(tempfile.mkdtemp(prefix=f"bench-{part}-"))
        rows, details = await measure(root)
        path = save(file, part, rows, details)
        sys.stdout.write(f"## {part}\n\n{markdown(rows)}\n\n{path}\n\n")
        sys.stdout.flush()
        shutil.rmtree(root)


def main() -> None:
    """Run the command; logs of agents in this process are shown from warnings on."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no agent outlives its benchmark
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    if sys.argv[1:2] == ["commits"]:
        sys.exit(commits.main(sys.argv[2:]))
    given = arguments()
    many, issues = given.workers or throughput.WORKERS, given.issues or throughput.ISSUES
    sized: dict[str, tuple[str, Measure]] = {
        **PARTS,
        "throughput": ("throughput", partial(throughput.measure, workers=many, issues=issues)),
    }
    if "scale" in given.parts:
        sized["scale"] = ("scale", partial(scale.measure, sizes=scale_sizes(given)))
    sized["soak"] = ("soak", partial(soak.measure, issues=given.issues or soak.ISSUES))
    anyio.run(run, {part: sized[part] for part in given.parts or PARTS if given.parts or part not in BY_NAME_ONLY})


if __name__ == "__main__":
    main()
