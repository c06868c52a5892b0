"""A coder that records each of its exchanges; see `recording` for the files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog

from shared.clock import Clock
from shared.filesystem import directories
from shared.llm import recording
from shared.llm.port import Coder, CoderCall, Request, RunOutcome

log = structlog.get_logger()

LARGEST_FILE = 1_000_000
"""Bytes above which a changed file is only named in a recording."""

_Stamp = tuple[int, int, int]
_SKIPPED = frozenset({".git", ".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


@dataclass(frozen=True, slots=True)
class Recorder:
    """Another coder, each of whose runs leaves one file in `directory`, with the secrets that `hide` knows removed.

    Before the first edit of an item its tree is kept as `ITEM.tar.gz`, so that it can be replayed.
    A recording that cannot be written is logged and stops nothing.
    """

    coder: Coder
    directory: Path
    clock: Clock
    hide: Callable[[str], str]
    about: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The coder's name in the configuration."""
        return self.coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call and record it."""
        before = await anyio.to_thread.run_sync(self._stamps_before, request)
        began = self.clock.boot()
        outcome = await self.coder.run(request)
        about = {**self.about, "backend": self.name, "seconds": round(self.clock.boot() - began, 3)}
        await anyio.to_thread.run_sync(self._write, request, outcome, before, about)
        return outcome

    def _stamps_before(self, request: Request) -> Mapping[str, _Stamp]:
        tree = request.tree
        if tree is None or not request.call.edits:
            return {}
        try:
            if request.call is CoderCall.WRITE_TESTS:
                self._keep_tree(tree, request.item)
            return dict(_stamps(tree))
        except OSError as error:
            log.warning("not_recorded", outcome="failed", error=str(error))
            return {}

    def _keep_tree(self, tree: Path, item: str) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = recording.tree_of(self.directory, item)
        if kept.exists():
            return
        import tarfile  # large, and seldom asked for

        partial = kept.with_suffix(f".{os.getpid()}")
        with tarfile.open(partial, "w:gz") as archive:
            for path, _ in sorted(_stamps(tree)):
                archive.add(tree / path, path, recursive=False)
        partial.replace(kept)

    def _write(
        self, request: Request, outcome: RunOutcome, before: Mapping[str, _Stamp], about: Mapping[str, Any]
    ) -> None:
        try:
            edits = list(_edits(request.tree, before)) if request.tree and request.call.edits else []
            text = _hide_secrets(recording.written(request, outcome, edits, about), self.hide)
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _add_file(self.directory, request.call, text)
        except OSError as error:
            log.warning("not_recorded", outcome="failed", error=str(error))


def _stamps(tree: Path) -> Iterator[tuple[str, _Stamp]]:
    """Yield every plain file of a tree, with values that differ after a change of it."""
    for entry in directories.walk(tree, skipped=_SKIPPED, deepest=directories.LONGEST_PATH):
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            yield Path(entry.path).relative_to(tree).as_posix(), (found.st_mtime_ns, found.st_size, found.st_ino)


def _edits(tree: Path, before: Mapping[str, _Stamp]) -> Iterator[dict[str, Any]]:
    now = dict(_stamps(tree))
    for path in sorted(before.keys() - now.keys()):
        yield {"path": path, "delete": True}
    for path, stamp in sorted(now.items()):
        if before.get(path) == stamp:
            continue
        if stamp[1] > LARGEST_FILE:
            log.warning("not_recorded", outcome="skipped", path=path, size=stamp[1])
            continue
        with directories.open_regular(tree / path) as file:
            yield {"path": path, "content": file.read(LARGEST_FILE).decode("utf-8", "surrogateescape")}


def _hide_secrets(text: str, hide: Callable[[str], str]) -> str:
    """Remove secrets from JSON text: each string is examined decoded, not as JSON writes it."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, dict):
            return {key: cleaned(part) for key, part in value.items()}
        return [cleaned(part) for part in value] if isinstance(value, list) else value

    return json.dumps(cleaned(json.loads(text)), indent=1, ensure_ascii=True) + "\n"


def _add_file(directory: Path, call: CoderCall, text: str) -> None:
    """Write a new file with the next number, atomically; several processes may write at once."""
    number = max((int(file.name.partition("-")[0]) for file in directory.glob(recording.PATTERN)), default=0)
    partial = directory / f".{os.getpid()}.partial"
    partial.write_text(text, encoding="utf-8")
    partial.chmod(0o600)
    while True:
        number += 1
        if any(directory.glob(f"{number:06d}-*.json")):
            continue
        try:
            os.link(partial, directory / f"{number:06d}-{call}.json")
        except FileExistsError:
            continue
        partial.unlink()
        return
