"""The world on disk: one JSON file, written whole and renamed into place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lab.bare import Bare
from lab.world.accounts import AccountRecord, TokenRecord
from lab.world.checks import CheckRecord, RunRecord, StatusRecord
from lab.world.comments import CommentRecord
from lab.world.hub import World
from lab.world.issues import EventRecord, IssueRecord
from lab.world.labels import LabelRecord
from lab.world.pulls import InlineRecord, PullRecord, ReviewRecord
from lab.world.repository import RepositoryFacts, RepositoryRecord
from lab.world.shelf import Shelf

VERSION = 1
"""Of the file's format; another version is refused."""

OpenRepository = Callable[[RepositoryFacts], Awaitable[Bare]]


@dataclass(frozen=True, slots=True)
class SavedRepository:
    """One repository as it is written."""

    facts: RepositoryFacts
    labels: list[LabelRecord]
    issues: list[IssueRecord]
    deleted: list[int]
    events: list[EventRecord]
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
    former_names: dict[str, int]
    repositories: list[SavedRepository]


def save(world: World, path: Path) -> None:
    """Write the world to `path`; a reader sees the old file or the new one."""
    saved = SavedWorld(
        version=VERSION,
        next_id=world.registrar.next_id,
        accounts=list(world.accounts.values()),
        tokens=list(world.tokens.values()),
        former_names=world.former_names,
        repositories=[_saved(repository) for repository in world.repositories.values()],
    )
    draft = path.with_suffix(".new")
    draft.write_bytes(TypeAdapter(SavedWorld).dump_json(saved))
    draft.replace(path)


async def load(world: World, path: Path, open_repository: OpenRepository) -> None:
    """Fill an empty world from `path`; `open_repository` finds the git half of each repository."""
    saved = TypeAdapter(SavedWorld).validate_json(path.read_bytes())
    if saved.version != VERSION:
        raise ValueError(f"{path} was written by another version of the lab ({saved.version}, not {VERSION}).")
    world.registrar.next_id = saved.next_id
    world.accounts = {account.login.lower(): account for account in saved.accounts}
    world.tokens = {token.value: token for token in saved.tokens}
    world.former_names = saved.former_names
    for one in saved.repositories:
        bare = await open_repository(one.facts)
        world.repositories[one.facts.id] = _restored(one, RepositoryRecord(one.facts, bare, world.registrar))


def _saved(repository: RepositoryRecord) -> SavedRepository:
    return SavedRepository(
        facts=repository.facts,
        labels=repository.labels.values(),
        issues=repository.issues.records.values(),
        deleted=sorted(repository.issues.deleted),
        events=repository.issues.events,
        comments=repository.comments.records.values(),
        pulls=repository.pulls.records.values(),
        reviews=repository.pulls.reviews.values(),
        inline=repository.pulls.inline.values(),
        runs=repository.checks.runs.values(),
        checks=repository.checks.checks.values(),
        statuses=repository.checks.statuses.values(),
    )


def _restored(saved: SavedRepository, repository: RepositoryRecord) -> RepositoryRecord:
    for label in saved.labels:
        repository.labels.load(label)
    repository.issues.deleted = set(saved.deleted)
    repository.issues.events = saved.events
    by_number = [
        (repository.issues.records, saved.issues),
        (repository.pulls.records, saved.pulls),
    ]
    by_id = [
        (repository.comments.records, saved.comments),
        (repository.pulls.reviews, saved.reviews),
        (repository.pulls.inline, saved.inline),
        (repository.checks.runs, saved.runs),
        (repository.checks.checks, saved.checks),
        (repository.checks.statuses, saved.statuses),
    ]
    _fill(by_number, "number")
    _fill(by_id, "id")
    return repository


def _fill(shelves: list[tuple[Shelf[int, Any], list[Any]]], key: str) -> None:
    for shelf, records in shelves:
        for record in records:
            shelf.put(getattr(record, key), record)
