"""What a test runner may know of the repository whose tests it ran: enough to tell its own names from others'."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from worker_agent.tdd.judging.first_party import first_party


@dataclass(frozen=True, slots=True)
class Project:
    """A checkout: its directory, its files, and the names that belong to it.

    `paths` are relative to `root`, those of `announced` among them: files that do not exist yet but that the
    specification or the change will add. `modules` are Python's importable top-level names.
    """

    root: Path
    paths: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()

    @classmethod
    def of(cls, root: Path, paths: Collection[str], announced: Collection[str] = ()) -> Project:
        """The project of a checkout with these `paths`; `announced` paths are going to be its own."""
        every = frozenset(paths) | frozenset(announced)
        return cls(root, every, first_party(every))

    def below(self, name: str) -> str:
        """A file as the repository names it, whether `name` is absolute or relative; one outside keeps its name."""
        path = Path(name)
        if not path.is_absolute():
            return path.as_posix().removeprefix("./")
        for root in (self.root, self.root.resolve()):
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return name
