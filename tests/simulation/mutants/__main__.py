"""`python -m tests.simulation.mutants`: every bug, who notices it, and whether that is good enough."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import simulated, tested
from .catalogue import MUTANTS
from .mutant import Mutant, Ring, sources

GOOD_ENOUGH = 0.9
"""The simulation has to notice so much of what is within its reach."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one bug."""

    mutant: Mutant
    by_simulation: str = ""
    by_tests: str = ""

    def __str__(self) -> str:
        return f"{self.mutant.ring:<10}  {self.mutant.name:<62}  {self.by_simulation or self.by_tests or 'UNNOTICED'}"


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
        rows = list(_rows(wanted, options.workers, Path(directory)))
    return _verdict(rows)


def _named(mutant: Mutant, words: Sequence[str]) -> bool:
    return not words or any(word in mutant.name for word in words)


def _rows(mutants: Sequence[Mutant], workers: int, directory: Path) -> Iterator[Row]:
    """Each as soon as it is known, in their order."""
    context = multiprocessing.get_context("spawn")
    places = context.Queue()
    for number in range(workers):
        (directory / str(number)).mkdir()
        tested.copy_of_project(directory / str(number))
        places.put(str(directory / str(number)))
    with ProcessPoolExecutor(workers, context, initializer=_settle, initargs=(places,)) as pool:
        for row in pool.map(_row, mutants):
            print(row, flush=True)
            yield row


_place: list[Path] = []
"""Where this process has its copy of the project."""


def _settle(places: multiprocessing.Queue[str]) -> None:
    _place.append(Path(places.get()))


def _row(mutant: Mutant) -> Row:
    by_simulation = simulated.looked_for(mutant) if mutant.ring is Ring.SIMULATION else ""
    return Row(mutant, by_simulation, "" if by_simulation else tested.looked_for(mutant, _place[0]))


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
