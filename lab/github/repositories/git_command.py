"""Runs git on one bare repository of the lab, with an environment given whole.

The machine's own git configuration, identities and credentials never reach it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from shared import process
from shared.errors import Misconfigured
from shared.process import CommandFailed, Finished

GITHUB = ("GitHub", "noreply@github.com")
"""Committer of GitHub's own commits: name, address."""


def environment() -> dict[str, str]:
    """Return the whole environment of the lab's git; raises Misconfigured when there is no git on PATH."""
    git = shutil.which("git")
    if git is None:
        raise Misconfigured("The lab needs git on PATH.")
    return {
        "PATH": os.pathsep.join((str(Path(git).parent), os.defpath)),
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }


def signed(author: tuple[str, str], committer: tuple[str, str], date: str = "") -> dict[str, str]:
    """The variables that make git sign a commit as these (name, address); `date` is the author's, if not now."""
    variables = {
        "GIT_AUTHOR_NAME": author[0],
        "GIT_AUTHOR_EMAIL": author[1],
        "GIT_COMMITTER_NAME": committer[0],
        "GIT_COMMITTER_EMAIL": committer[1],
    }
    return variables | ({"GIT_AUTHOR_DATE": date} if date else {})


class Git:
    """git on the repository in `directory`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._environment = environment()

    async def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Finished:
        """Run git and return its result, whatever the exit code."""
        variables = self._environment | dict(env or {})
        return await process.run(("git", *arguments), cwd=self.directory, env=variables, stdin=stdin)

    async def check(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Finished:
        """Run git and return its result; raises CommandFailed unless it exits 0."""
        finished = await self.run(*arguments, stdin=stdin, env=env)
        if finished.code != 0:
            raise CommandFailed(finished)
        return finished
