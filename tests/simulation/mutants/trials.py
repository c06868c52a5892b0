"""Trials of each bug by the simulation, then by the tests, in several processes.

Not in `__main__`: a spawned process does not import that of a package, and finds nothing that is defined there.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import simulated, tested
from .mutant import Mutant, Ring


@dataclass(frozen=True, slots=True)
class Row:
    """Result of one bug's trial."""

    mutant: Mutant
    by_simulation: str = ""
    by_tests: str = ""

    def __str__(self) -> str:
        return f"{self.mutant.ring:<10}  {self.mutant.name:<62}  {self.by_simulation or self.by_tests or 'UNNOTICED'}"


def rows_of(mutants: Sequence[Mutant], workers: int, directory: Path) -> Iterator[Row]:
    """Yield each row as soon as it is known, in their order."""
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
"""Directory of this process's copy of the project."""


def _settle(places: multiprocessing.Queue[str]) -> None:
    _place.append(Path(places.get()))


def _row(mutant: Mutant) -> Row:
    by_simulation = simulated.looked_for(mutant) if mutant.ring is Ring.SIMULATION else ""
    return Row(mutant, by_simulation, "" if by_simulation else tested.looked_for(mutant, _place[0]))
