"""`python -m tests.simulation.mutants`: every bug, who notices it, and whether that is good enough."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .catalogue import MUTANTS
from .mutant import Mutant, Ring, sources
from .trials import Row, rows_of

GOOD_ENOUGH = 0.9
"""The simulation has to notice so much of what is within its reach."""


def main() -> int:
    """0 when none went unnoticed, and the simulation noticed enough."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only bugs with one of these words in their names")
    parser.add_argument("--workers", type=int, default=2, help="how many processes (default: 2)")
    parser.add_argument("--ring", choices=[str(ring) for ring in Ring], help="only bugs of this ring")
    options = parser.parse_args()
    wanted = [one for one in MUTANTS if options.ring in {None, str(one.ring)} and _named(one, options.names)]
    for mutant in wanted:
        sources(mutant)
    with tempfile.TemporaryDirectory(prefix="mutants-") as directory:
        rows = list(rows_of(wanted, options.workers, Path(directory)))
    return _verdict(rows)


def _named(mutant: Mutant, words: Sequence[str]) -> bool:
    return not words or any(word in mutant.name for word in words)


def _verdict(rows: Sequence[Row]) -> int:
    within = [row for row in rows if row.mutant.ring is Ring.SIMULATION]
    seen = sum(bool(row.by_simulation) for row in within)
    unnoticed = [row.mutant.name for row in rows if not (row.by_simulation or row.by_tests)]
    print(f"{len(rows)} bugs; of {len(within)} within the reach of the simulation it noticed {seen}.")
    for name in unnoticed:
        print(f"unnoticed: {name}", file=sys.stderr)
    too_few = seen < GOOD_ENOUGH * len(within)
    if too_few:
        print(f"the simulation has to notice {GOOD_ENOUGH:.0%}", file=sys.stderr)
    return 1 if unnoticed or too_few else 0


if __name__ == "__main__":
    sys.exit(main())
