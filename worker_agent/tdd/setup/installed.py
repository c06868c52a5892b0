"""What set-up has made for the tests of one lock file: where it lies, and how a checkout finds it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LINKED = ("node_modules", ".venv", "venv")
"""What installers put into a project, and tools look for there."""


@dataclass(frozen=True, slots=True)
class Installed:
    """`root` is `env/<lock-hash>`: `venv` is its virtual environment, `project` the copy it was set up in."""

    root: Path | None = None

    @property
    def readable(self) -> tuple[Path, ...]:
        """What a sandbox has to show, read-only."""
        return () if self.root is None else (self.root,)

    def environment(self, known: Mapping[str, str], where: Path | None = None) -> dict[str, str]:
        """`known` with what was installed first on the search path; modules of `where` go before installed ones.

        An editable install points to `project`, which is older than the checkout `where` that is tested.
        """
        if self.root is None:
            return dict(known)
        venv, tools = self.root / "venv", self.root / "project" / "node_modules" / ".bin"
        own = [str(place) for place in (venv / "bin", tools) if place.is_dir()]
        found = {**known, "PATH": os.pathsep.join([*own, known.get("PATH", os.defpath)])}
        if venv.is_dir():
            found["VIRTUAL_ENV"] = str(venv)
            found |= {"UV_PROJECT_ENVIRONMENT": str(venv), "UV_NO_SYNC": "1", "UV_OFFLINE": "1"}
            if where is not None:
                found["PYTHONPATH"] = os.pathsep.join(str(path) for path in (where / "src", where) if path.is_dir())
        return found

    def offer(self, where: Path) -> None:
        """Link what was installed into a checkout, where the repository itself has nothing of that name."""
        if self.root is None:
            return
        for name in LINKED:
            target = self.root / "project" / name
            if name == ".venv" and not target.is_dir():
                target = self.root / "venv"
            if target.is_dir():
                with suppress(FileExistsError):
                    (where / name).symlink_to(target)

    def withdraw(self, where: Path) -> None:
        """Take our links out of a checkout again, so that nobody takes them for a change; all others stay.

        A command has been there: what it has made of a link is its own, and a directory that it has closed
        keeps them.
        """
        if self.root is None:
            return
        for path in (where / name for name in LINKED):
            with suppress(OSError):
                if path.readlink().is_relative_to(self.root):
                    path.unlink()


NOTHING = Installed()
"""Of a repository without `setup_command`."""
