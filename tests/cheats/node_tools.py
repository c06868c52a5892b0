"""JavaScript's test runners for tests: installed once per machine, and the small projects that they are tried on."""

from __future__ import annotations

import fcntl
import hashlib
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECTS = Path(__file__).parents[1] / "projects"
INSTALLED = Path(__file__).parents[2] / ".tools" / "node"
"""The directory that keeps packages between runs; git ignores it."""

INSTALL_SECONDS = 600


def tools() -> Path:
    """Return the `node_modules` with every runner; skip the test if node is not installed."""
    if shutil.which("npm") is None:
        pytest.skip("node and npm are needed")
    manifest = (PROJECTS / "tools" / "package.json").read_bytes()
    place = INSTALLED / hashlib.sha256(manifest).hexdigest()[:12]
    place.mkdir(parents=True, exist_ok=True)
    with (INSTALLED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes test at once
        if not (place / "ready").exists():
            (place / "package.json").write_bytes(manifest)
            install = ("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
            subprocess.run(install, cwd=place, check=True, timeout=INSTALL_SECONDS)
            (place / "ready").touch()
    return place / "node_modules"


def project(name: str) -> dict[str, str]:
    """Return the files of a small project by their path."""
    root = PROJECTS / name
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


def command(name: str, modules: Path) -> str:
    """Return the command line of a runner whose package is not in the project."""
    return shlex.join([str(modules / ".bin" / name), *(["run"] if name == "vitest" else [])])


def offer(modules: Path, place: Path) -> None:
    """Let every directory below `place` find the packages, as node looks for them upwards."""
    (place / "node_modules").symlink_to(modules)
