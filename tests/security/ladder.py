"""The search after whole runs of tests: no secret that a test made is anywhere in the directories that it left."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .detector import Detector

WORLD = "world.json"
"""The file in which a lab keeps its GitHub, with its tokens."""

PLANTED = "PLANTED"
"""A test that lets secrets lie about on purpose leaves a file of this name in its directory."""

FEW = 8
"""Number of tests up to which the search runs in this very process."""

_PRIVATE = frozenset({".token", ".key", ".secret", ".pem"})
_SHORTEST = 20
_FRAME = "-----"


@dataclass(frozen=True)
class Searched:
    """The findings in one test's directory; `leaks` are sentences without any secret."""

    place: Path
    secrets: int = 0
    files: int = 0
    leaks: Sequence[str] = field(default_factory=tuple)


def search(roots: Sequence[Path]) -> int:
    """Search these directories and say what was found; the exit code: 1 for a leak, 2 for nothing to search."""
    places = sorted({place for root in roots for place in _places(root)})
    found = _all_searched(places)
    for leak in (leak for one in found for leak in one.leaks):
        sys.stdout.write(f"{leak}\n")
    leaks, files = sum(len(one.leaks) for one in found), sum(one.files for one in found)
    secrets = sum(one.secrets for one in found)
    sys.stdout.write(f"{leaks} leaks of {secrets} secrets in {files} files of {len(places)} tests\n")
    return 1 if leaks else 0 if files and secrets else 2


def _all_searched(places: Sequence[Path]) -> list[Searched]:
    if len(places) <= FEW:
        return [searched(place) for place in places]
    with ProcessPoolExecutor() as pool:
        return list(pool.map(searched, places, chunksize=4))


def searched(place: Path) -> Searched:
    """Search every file of one test's directory for the secrets that the test made."""
    secrets = dict(_secrets(place))
    if not secrets:
        return Searched(place)
    detector, leaks, files = Detector(secrets), [], 0
    for path in _files(place):
        files += 1
        data = _content(path)
        if _is_place(path, data, secrets):
            continue
        leaks += [f"{path}: {name}" for name in sorted(detector.found(path.name.encode() + b"\n" + data))]
    return Searched(place, len(secrets), files, leaks)


def _places(root: Path) -> Iterator[Path]:
    """Yield the directories of tests: pytest's, or whatever holds a lab."""
    for world in root.rglob(WORLD):
        inside = [parent for parent in world.parents if parent.name.startswith("test_")]
        place = inside[0] if inside else world.parent
        if not (place / PLANTED).exists():
            yield place


def _secrets(place: Path) -> Iterator[tuple[str, str]]:
    for world in place.rglob(WORLD):
        for number, token in enumerate(_tokens(json.loads(world.read_text(encoding="utf-8")))):
            yield f"token {number}", token
    for path in _files(place):
        if path.suffix in _PRIVATE and not path.is_symlink() and _is_private(path):
            lines = path.read_text(encoding="ascii", errors="replace").split()
            for number, line in enumerate(line for line in lines if _FRAME not in line and len(line) >= _SHORTEST):
                yield f"line {number} of {path.name}", line


def _tokens(world: Any) -> Iterator[str]:
    """Yield the values of the tokens that a lab's GitHub made."""
    for one in world.get("tokens", ()):
        yield one if isinstance(one, str) else one["value"]


def _content(path: Path) -> bytes:
    """Return the content of a file; of a lab's saved world, without the list of its tokens."""
    if path.is_symlink():
        return bytes(path.readlink())
    data = path.read_bytes()
    if path.name != WORLD:
        return data
    world: Mapping[str, Any] = json.loads(data)
    return json.dumps({name: value for name, value in world.items() if name != "tokens"}).encode()


def _is_place(path: Path, data: bytes, secrets: Mapping[str, str]) -> bool:
    """Return whether a file is a secret's place: it holds only one of these secrets, or a key, for its owner alone."""
    if path.is_symlink() or not _is_private(path):
        return False
    return path.suffix in _PRIVATE or data.strip() in {value.encode() for value in secrets.values()}


def _is_private(path: Path) -> bool:
    return not stat.S_IMODE(path.stat().st_mode) & 0o077


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_symlink() or path.is_file())
