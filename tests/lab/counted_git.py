"""A git directory that is asked twice: through readers that stay open, and by a process for each question."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from git_remote import ENVIRONMENT

from shared.git import object_readers
from shared.git.command import Git
from shared.process import Finished


class Counting(Git):
    """Notes the verb of each git that was started to do one thing."""

    started: list[str]

    async def run(self, *args: str, **options: object) -> Finished:
        self.started.append(args[0])
        return await super().run(*args, **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Twice:
    """The same directory: `git` has readers, `plain` has none."""

    git: Counting
    plain: Git


@asynccontextmanager
async def twice(git_dir: Path) -> AsyncIterator[Twice]:
    """Yield an empty new git directory; its readers end with the block."""
    async with object_readers.opened() as readers:
        plain = Git(git_dir, ENVIRONMENT)
        await plain.init()
        git = Counting(git_dir, ENVIRONMENT, readers=readers)
        git.started = []
        yield Twice(git, plain)
