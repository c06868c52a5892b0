"""The check that the engine's packages are its own: other projects have packages called `config` or `shared` too."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from pathlib import Path

NAMES = ("runtime", "config", "shared", "lab", "planner_agent", "worker_agent", "reviewer_agent")

MISCONFIGURED = 2


def check() -> None:
    """Return if they are; else print which are not, and end the process. Call it before any of them is imported."""
    if wrong := foreign(Path(__file__).resolve().parents[1], sys.path):
        sys.stderr.write(f"{wrong}\n")
        raise SystemExit(MISCONFIGURED)


def foreign(home: Path, search_path: list[str]) -> str:
    """Return what is wrong, in a sentence, if `search_path` has another package before one of those in `home`."""
    for name in NAMES:
        found = PathFinder.find_spec(name, search_path)
        places = list(found.submodule_search_locations or [found.origin or ""]) if found is not None else []
        if places and all(Path(place).resolve().parent != home for place in places):
            return (
                f"Another package called '{name}' ({places[0]}) stands before the engine's own: start it elsewhere, "
                "without that directory in PYTHONPATH, or install it by itself (uv tool install, pipx install)."
            )
    return ""
