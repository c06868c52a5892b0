"""A person's desk: a home directory of its own, from which programs are run that nobody here wrote."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from lab_scene import NAME, Scene

from shared import process
from shared.process import Finished

PATIENCE_SECONDS = 60.0
"""No program needs more than a second or two; this ends one that waits for something."""


@dataclass(frozen=True)
class Desk:
    """One user's home directory and additional environment; a program sees nothing else of this machine."""

    login: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    async def run(self, *argv: str, cwd: Path | None = None, stdin: str = "") -> Finished:
        """Run a program and return its result, whatever the exit code; skip the test if it is not installed."""
        usual = {"PATH": os.defpath, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
        usual |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_MERGE_AUTOEDIT": "no"}
        found = program(argv[0])
        with anyio.fail_after(PATIENCE_SECONDS):
            return await process.run(
                (found, *argv[1:]), cwd=cwd or self.home, env={**usual, **self.variables}, stdin=stdin.encode()
            )

    async def ok(self, *argv: str, cwd: Path | None = None, stdin: str = "") -> str:
        """Run a program that must succeed, and return its standard output."""
        finished = await self.run(*argv, cwd=cwd, stdin=stdin)
        assert finished.code == 0, (argv, finished.stdout, finished.stderr)
        return finished.text


def program(name: str) -> str:
    """Return the path of a program on this machine; skip the test if it is missing."""
    found = shutil.which(name, path=os.defpath) or shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def desk(scene: Scene, login: str, home: Path, **variables: str) -> Desk:
    """Return the desk of one login in a scene."""
    return desk_at(scene.lab.url, login, scene.tokens[login], home, **variables)


def desk_at(url: str, login: str, token: str, home: Path, **variables: str) -> Desk:
    """Make a home in which git knows its user and the lab's token, as `git config` and `git credential` leave it."""
    home.mkdir()
    settings = {
        "user": {"name": login.title(), "email": f"{login}@example.org"},
        "credential": {"helper": "store"},
        "init": {"defaultBranch": "main"},
        "pull": {"rebase": "true"},
        "advice": {"detachedHead": "false"},
    }
    lines = [f"[{name}]\n" + "".join(f"\t{k} = {v}\n" for k, v in pairs.items()) for name, pairs in settings.items()]
    (home / ".gitconfig").write_text("".join(lines))
    address = urlsplit(url)
    credentials = home / ".git-credentials"
    credentials.write_text(f"{address.scheme}://{login}:{token}@{address.netloc}\n")
    credentials.chmod(0o600)
    return Desk(login, home, variables)


async def clone(owner: Desk, scene: Scene, *options: str, name: str = "thing") -> Path:
    """Clone the scene's repository on a desk, and return the clone's path."""
    await owner.ok("git", "clone", "--quiet", *options, scene.lab.git_url(NAME), name)
    return owner.home / name


@contextmanager
def short_directory() -> Iterator[Path]:
    """Yield a directory whose path is short enough for a unix socket (108 bytes on Linux, 104 on macOS)."""
    with tempfile.TemporaryDirectory(prefix="lab-") as directory:
        yield Path(directory)
