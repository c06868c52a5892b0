"""The copy in which a project is set up, and what stays of it: what checkouts link to, or all still referred to.

The copy is a whole repository; where only packages are needed, nobody has to be able to read more.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from shared import directories
from worker_agent.tdd.setup.installed import LINKED

RECORD_BYTES = 2**20
"""Records of installed packages are far smaller; what is larger is not read."""


def of(where: Path, project: Path) -> None:
    """Copy a checkout without its `.git` and links of an earlier set-up; `project` is not there yet."""
    left_out = {".git", *(name for name in LINKED if (where / name).is_symlink())}

    project.mkdir()
    for entry in directories.walk(where, deepest=directories.LONGEST_PATH):
        path = Path(entry.path).relative_to(where)
        if path.parts[0] in left_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            (project / path).mkdir()
        elif entry.is_symlink() or entry.is_file():
            shutil.copy2(entry.path, project / path, follow_symlinks=False)


def lay_over(project: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a project, in place of those of the same name; a link in there leads nowhere."""
    for name, content in files.items():
        path = project / name
        if path.parent.resolve().is_relative_to(project.resolve()):
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)


def prune(place: Path) -> bool:
    """Remove all of `place/project` but `LINKED`, unless something installed refers to it; whether it did.

    A command of strangers has written all of it, and has ended.
    """
    project = place / "project"
    if any((project / name).is_symlink() for name in LINKED):
        return False  # an arrangement of the project's own
    kept = [project / name for name in LINKED if (project / name).is_dir()]
    if any(_refers(root, project, kept) for root in (place / "venv", *kept)):
        return False
    for path in project.iterdir():
        if path not in kept:
            directories.remove(path)
    return True


def _refers(root: Path, project: Path, kept: Sequence[Path]) -> bool:
    """Whether below `root` a link, or an editable install, leads into the rest of the project."""
    real, kept = project.resolve(), [path.resolve() for path in kept]
    for path in _below(root):
        if path.is_symlink():
            target = Path(os.path.realpath(path))
            if target.is_relative_to(real) and not any(target.is_relative_to(one) for one in kept):
                return True
        elif _is_editable(path, {project, real}):
            return True
    return False


def _below(root: Path) -> Iterator[Path]:
    yield from (Path(entry.path) for entry in directories.walk(root, deepest=directories.LONGEST_PATH))


def _is_editable(path: Path, projects: Collection[Path]) -> bool:
    """By the record of the installer (PEP 610), or by the path that older ones write; in doubt it is."""
    if path.name != "direct_url.json" and path.suffix not in {".pth", ".egg-link"}:
        return False
    try:
        if not path.is_file() or path.stat().st_size > RECORD_BYTES:
            return not path.is_dir()
        said = path.read_bytes()
        if path.name == "direct_url.json":
            return bool(json.loads(said).get("dir_info", {}).get("editable"))
    except (OSError, ValueError, AttributeError, RecursionError):
        return True
    return any(os.fsencode(project) in said for project in projects)
