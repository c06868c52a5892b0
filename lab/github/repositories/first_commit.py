"""The first commit of a repository, written without a process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.github.repositories.git_command import GITHUB
from shared.git import loose_objects
from shared.git.loose_objects import Words

EXECUTABLE, ORDINARY, DIRECTORY = "100755", "100644", "40000"


def write(git_dir: Path, branch: str, files: Mapping[str, str]) -> None:
    """Point a branch at a commit of GitHub's with these files (path -> text); a script can be executed."""
    tree: dict[str, Any] = {}
    for path, text in files.items():
        *folders, name = path.split("/")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = text
    words = Words(_write_tree(git_dir, tree), (), *GITHUB, b"Initial commit")
    oid = loose_objects.commit(git_dir, words)
    ref = git_dir / "refs" / "heads" / branch
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{oid}\n", encoding="ascii")


def _write_tree(git_dir: Path, tree: Mapping[str, Any]) -> str:
    """Write a tree and all below it; return its id."""
    rows = sorted(_row(git_dir, name, content) for name, content in tree.items())
    return loose_objects.write(git_dir, "tree", b"".join(row for _, row in rows))


def _row(git_dir: Path, name: str, content: str | Mapping[str, Any]) -> tuple[bytes, bytes]:
    """Return the key by which git sorts an entry, and the entry's line."""
    if isinstance(content, str):
        mode, oid = _mode(content), loose_objects.write(git_dir, "blob", content.encode())
    else:
        mode, oid = DIRECTORY, _write_tree(git_dir, content)
    line = f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid)
    return f"{name}/".encode() if mode == DIRECTORY else name.encode(), line


def _mode(text: str) -> str:
    return EXECUTABLE if text.startswith("#!") else ORDINARY
