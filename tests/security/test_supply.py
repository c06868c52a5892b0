"""The engine's dependencies: each is pinned to an exact version."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def asked_for(project: Any) -> Iterator[str]:
    """Yield the names of all packages in every list of `pyproject.toml`."""
    lists = [project["project"]["dependencies"]]
    lists += [*project["project"]["optional-dependencies"].values(), *project["dependency-groups"].values()]
    for wish in (one for wishes in lists for one in wishes if isinstance(one, str)):
        yield plain(re.split(r"[\[<>=!~; ]", wish)[0])


def plain(name: str) -> str:
    """Return a name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(text: str) -> dict[str, str]:
    """Return the one allowed version of each name."""
    found = (re.fullmatch(r"([A-Za-z0-9._-]+)==([^;\s]+)(?:\s*;.*)?", line) for line in text.splitlines())
    return {plain(one[1]): one[2] for one in found if one}


def test_every_package_that_is_asked_for_is_pinned() -> None:
    wanted = set(asked_for(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))))
    known = pinned((ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert wanted - known.keys() <= {"workflow-engine"}
    assert len(wanted) > 20


def test_a_package_that_is_not_pinned_is_seen() -> None:
    assert pinned("a==1\nB_c==2 ; python_version < '4'\nd>=3\ne\n") == {"a": "1", "b-c": "2"}
