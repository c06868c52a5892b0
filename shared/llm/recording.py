"""Recordings of exchanges with a backend: written one file each, read back as the answers of a scenario.

A file is `NNNNNN-CALL.json`: the request, the outcome, and the whole files of the tree that the run has
changed. Failures of one call in a row become one answer that first fails as often.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog

from shared.clock import Clock
from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.llm.port import Coder, CoderCall, Ending, Request, RunOutcome

log = structlog.get_logger()

VERSION = 1
"""Version of the files' format."""

PATTERN = "[0-9]*-*.json"
"""Pattern of the files' names."""

LARGEST_FILE = 1_000_000
"""Bytes above which a changed file is only named in a recording."""

_Stamp = tuple[int, int, int]
_SKIPPED = frozenset({".git", ".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def exchange_of(
    request: Request, outcome: RunOutcome, edits: Iterable[Mapping[str, Any]], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one exchange as JSON; `edits` are as in a scenario, `about` are facts that the recorder adds."""
    usage = outcome.usage
    return {
        "v": VERSION,
        **about,
        "call": request.call,
        "item": request.item,
        "title": request.title,
        "body": request.body,
        "role": request.role,
        "attempt": request.attempt,
        "round": request.round,
        "retry": request.retry,
        "model": request.model or usage.model,
        "prompt": request.prompt,
        "schema": request.schema,
        "ending": outcome.ending,
        "text": outcome.text,
        "answer": outcome.answer,
        "edits": list(edits),
        "notes": list(outcome.notes),
        "usage": {
            "input": usage.input_tokens,
            "output": usage.output_tokens,
            "cached": usage.cached_tokens,
            "written": usage.cache_write_tokens,
            "usd": usage.cost_usd,
            "source": usage.cost_source,
        },
    }


def tree_of(directory: Path, item: str) -> Path:
    """Return the path of the archive with the files that an item began with."""
    return directory / f"{''.join(character for character in item if character.isalnum()) or 'item'}.tar.gz"


def exchanges(directory: Path) -> list[dict[str, Any]]:
    """Return the exchanges recorded in `directory`, in their order; raise `Misconfigured` for what is no recording."""
    found = []
    for file in sorted(directory.glob(PATTERN)):
        try:
            exchange = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise Misconfigured(f"The recording {file} cannot be read: {error}.") from error
        if not isinstance(exchange, dict) or exchange.get("v") != VERSION:
            raise Misconfigured(f"{file} is no recording of this version: replay it with the version that made it.")
        found.append(exchange)
    if not found:
        raise Misconfigured(f"{directory} holds no recording: set llm.record to a directory and let an agent work.")
    return found


def scenario(found: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of the scenario that answers as the recorded backend did."""
    calls: dict[tuple[object, ...], list[Mapping[str, Any]]] = {}
    for one in found:
        key = tuple(one[name] for name in ("call", "title", "attempt", "round", "retry"))
        calls.setdefault(key, []).append(one)
    return json.dumps([_answer(same) for same in calls.values()], indent=1)


def _answer(same: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one call's entry: its last success, after as many failures as there were."""
    done = [one for one in same if one["ending"] == Ending.COMPLETED]
    failed = [one for one in same if one["ending"] != Ending.COMPLETED]
    last = (done or failed)[-1]
    entry: dict[str, Any] = {"call": last["call"], "for": last["title"]}
    entry |= {name: last[name] for name in ("attempt", "round", "retry")}
    if failed:
        entry["fails"] = failed[0]["ending"]
        if done:
            entry["times"] = len(failed)
    if not done:
        return entry | ({"text": last["text"]} if last["text"] else {})
    if last["answer"] is not None:
        entry["answer"] = last["answer"]
    elif last["text"]:
        entry["text"] = last["text"]
    if last["edits"]:
        entry["edits"] = last["edits"]
    return entry


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
        kept = tree_of(self.directory, item)
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
            exchange = _hide_secrets(exchange_of(request, outcome, edits, about), self.hide)
            text = json.dumps(exchange, indent=1, ensure_ascii=True) + "\n"
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


def _hide_secrets(value: Any, hide: Callable[[str], str]) -> Any:
    """Return a JSON value with each string filtered as it is, before JSON escapes it."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {key: _hide_secrets(part, hide) for key, part in value.items()}
    return [_hide_secrets(part, hide) for part in value] if isinstance(value, list | tuple) else value


def _add_file(directory: Path, call: CoderCall, text: str) -> None:
    """Write a new file with the next number, atomically; several processes may write at once."""
    number = max((int(file.name.partition("-")[0]) for file in directory.glob(PATTERN)), default=0)
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
