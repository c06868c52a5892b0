"""A cache on this machine for runs of base commits: a base's whole suite runs once, for all items and agents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import structlog
from anyio import to_thread
from pydantic import TypeAdapter, ValidationError

from worker_agent.tdd.runners.test_run import TestRun

log = structlog.get_logger()

KEPT = 40
"""The most runs of one repository that are kept, the latest used ones."""

_VERSION = 1


class BaseRuns:
    """The runs of one repository's base commits below `root`, which only the daemon writes; None: no cache."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    async def of(self, tree: str, about: Sequence[str], run: Callable[[], Awaitable[TestRun]]) -> TestRun:
        """Return the run of a tree under circumstances `about` (commands, environment), made by `run` if not cached.

        Only a run that was finished is cached.
        """
        if self._root is None:
            return await run()
        digest = hashlib.sha256(json.dumps([_VERSION, tree, *about]).encode()).hexdigest()[:40]
        place = self._root / f"{digest}.json"
        known = await to_thread.run_sync(_read, place)
        if known is not None:
            log.info("base_run_remembered", tree=tree[:12], outcome="skipped")
            return known
        found = await run()
        if found.finished:
            await to_thread.run_sync(_write, place, found)
        return found


def _read(place: Path) -> TestRun | None:
    try:
        run = TypeAdapter(TestRun).validate_python(json.loads(place.read_bytes()))
        place.touch()
    except (OSError, ValidationError, ValueError, RecursionError):
        return None
    return run


def _write(place: Path, run: TestRun) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = place.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(run)), encoding="utf-8")
    fresh.replace(place)
    known = sorted(place.parent.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for stale in known[KEPT:]:
        stale.unlink(missing_ok=True)
