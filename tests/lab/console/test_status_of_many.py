"""A board of several repositories: what keeps one of them from being read keeps nobody from reading the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from engine import ENGINE, REPOSITORY, WRITES, Engine

from console.history.repository_reader import OpenRepository, visited
from shared.errors import EngineError, Misconfigured
from shared.git.names import mirror_path

OTHER = "eve/other"


@asynccontextmanager
async def looked_at(
    engine: Engine, *names: str
) -> AsyncIterator[tuple[tuple[OpenRepository, ...], Mapping[str, EngineError]]]:
    """Yield both repositories; the mirror of `eve/other` cannot be made because a file is in its place."""
    await engine.lab.repository(OTHER, {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
    settings = engine.settings("reader")
    mirror = mirror_path(settings.state_dir / "mirrors", urlsplit(engine.lab.url).netloc, OTHER)
    mirror.parent.parent.mkdir(parents=True)
    mirror.parent.write_text("in the way", encoding="ascii")
    (one,) = settings.repositories
    repositories = tuple(one.model_copy(update={"name": name}) for name in names)
    token = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    async with visited(settings.model_copy(update={"repositories": repositories}), token, engine.clock) as found:
        yield found


async def test_a_disk_in_the_way_of_one_repository_leaves_the_others_readable(engine: Engine) -> None:
    async with looked_at(engine, REPOSITORY, OTHER) as (visits, unusable):
        assert [one.configured.name for one in visits] == [REPOSITORY]
        assert list(unusable) == [OTHER]
        assert str(unusable[OTHER]).startswith(f"{OTHER} cannot be read on this machine: ")


async def test_where_it_is_the_only_one_that_is_the_answer(engine: Engine) -> None:
    with pytest.raises(Misconfigured, match=f"{OTHER} cannot be read on this machine"):
        async with looked_at(engine, OTHER):
            raise AssertionError("there is nothing to look at")
