"""The world on disk: one JSON file, written whole and renamed into place."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lab.github.repositories.bare import Bare
from lab.github.world.accounts import AccountRecord, AppRecord, InstallationRecord, TokenRecord
from lab.github.world.checks import CheckRecord, RunRecord, StatusRecord
from lab.github.world.comments import CommentRecord, ReactionRecord
from lab.github.world.hub import World
from lab.github.world.issues import EventRecord, IssueRecord
from lab.github.world.labels import LabelRecord
from lab.github.world.pulls import InlineRecord, PullRecord, ReviewRecord
from lab.github.world.records import VersionedRecords
from lab.github.world.repository import RepositoryFacts, RepositoryRecord

VERSION = 3
"""Of the file's format; another version is refused."""

OpenRepository = Callable[[RepositoryFacts], Awaitable[Bare]]


@dataclass(frozen=True, slots=True)
class SavedRepository:
    """One repository as it is written."""

    facts: RepositoryFacts
    pushed_at: int
    labels: list[LabelRecord]
    issues: list[IssueRecord]
    deleted: list[int]
    events: list[EventRecord]
    moved: dict[int, tuple[int, int]]
    parents: dict[int, int]
    blockers: dict[int, list[int]]
    reactions: list[ReactionRecord]
    comments: list[CommentRecord]
    pulls: list[PullRecord]
    reviews: list[ReviewRecord]
    inline: list[InlineRecord]
    runs: list[RunRecord]
    checks: list[CheckRecord]
    statuses: list[StatusRecord]


@dataclass(frozen=True, slots=True)
class SavedWorld:
    """The whole file."""

    version: int
    next_id: int
    accounts: list[AccountRecord]
    tokens: list[TokenRecord]
    apps: list[AppRecord]
    installations: list[InstallationRecord]
    former_names: dict[str, int]
    repositories: list[SavedRepository]


def save(world: World, path: Path) -> None:
    """Write the world to `path`; a reader sees the old file or the new one."""
    saved = SavedWorld(
        version=VERSION,
        next_id=world.registrar.next_id,
        accounts=list(world.accounts.values()),
        tokens=list(world.tokens.values()),
        apps=list(world.apps.records.values()),
        installations=list(world.apps.installations.values()),
        former_names=world.former_names,
        repositories=[_save_repository(repository) for repository in world.repositories.values()],
    )
    draft = path.with_suffix(".new")
    draft.write_bytes(_adapter().dump_json(saved))
    draft.replace(path)


def read(path: Path) -> SavedWorld:
    """The file's content; raises ValueError when another version wrote it."""
    content = path.read_bytes()
    version = json.loads(content)["version"]
    if version != VERSION:
        raise ValueError(f"{path} was written by another version of the lab ({version}, not {VERSION}).")
    return _adapter().validate_json(content)


async def restore(world: World, saved: SavedWorld, open_repository: OpenRepository) -> None:
    """Fill an empty world; `open_repository` finds the git half of each repository."""
    world.registrar.next_id = saved.next_id
    world.accounts = {account.login.lower(): account for account in saved.accounts}
    world.tokens = {token.value: token for token in saved.tokens}
    world.apps.records = {app.id: app for app in saved.apps}
    world.apps.installations = {one.id: one for one in saved.installations}
    world.former_names = saved.former_names
    for one in saved.repositories:
        bare = await open_repository(one.facts)
        world.repositories[one.facts.id] = _restore_repository(one, RepositoryRecord(one.facts, bare, world.registrar))


@cache
def _adapter() -> TypeAdapter[SavedWorld]:
    return TypeAdapter(SavedWorld)


def _save_repository(repository: RepositoryRecord) -> SavedRepository:
    return SavedRepository(
        facts=repository.facts,
        pushed_at=repository.pushed_at,
        labels=repository.labels.values(),
        deleted=sorted(repository.issues.deleted),
        events=repository.issues.events,
        moved=repository.issues.moved,
        parents=repository.relations.parents,
        blockers=repository.relations.blockers,
        reactions=repository.comments.reactions,
        **{name: records.values() for name, records in _records(repository).items()},
    )


def _restore_repository(saved: SavedRepository, repository: RepositoryRecord) -> RepositoryRecord:
    repository.pushed_at = saved.pushed_at
    for label in saved.labels:
        repository.labels.load(label)
    repository.issues.deleted = set(saved.deleted)
    repository.issues.events = saved.events
    repository.issues.moved = saved.moved
    repository.relations.parents, repository.relations.blockers = saved.parents, saved.blockers
    repository.comments.reactions = saved.reactions
    for name, records in _records(repository).items():
        for record in getattr(saved, name):
            records.put(record.number if name in _NUMBERED else record.id, record)
    return repository


_NUMBERED = frozenset({"issues", "pulls"})
"""Fields whose records are found by their number; all others by their id."""


def _records(repository: RepositoryRecord) -> dict[str, VersionedRecords[int, Any]]:
    """The records with versions, by the field of `SavedRepository` that they are written to."""
    pulls, checks = repository.pulls, repository.checks
    return {
        "issues": repository.issues.records,
        "comments": repository.comments.records,
        "pulls": pulls.records,
        "reviews": pulls.reviews,
        "inline": pulls.inline,
        "runs": checks.runs,
        "checks": checks.checks,
        "statuses": checks.statuses,
    }
