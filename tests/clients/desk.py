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
    """Whose home it is, and what the environment says beside the usual; nothing of this machine's is seen."""

    login: str
    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    async def run(self, *argv: str, cwd: Path | None = None, stdin: str = "") -> Finished:
        """What a program answers, whatever its exit code; a machine without it skips the test."""
        usual = {"PATH": os.defpath, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
        usual |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_MERGE_AUTOEDIT": "no"}
        found = program(argv[0])
        with anyio.fail_after(PATIENCE_SECONDS):
            return await process.run(
                (found, *argv[1:]), cwd=cwd or self.home, env={**usual, **self.variables}, stdin=stdin.encode()
            )

    async def ok(self, *argv: str, cwd: Path | None = None, stdin: str = "") -> str:
        """What a program prints that ends well."""
        finished = await self.run(*argv, cwd=cwd, stdin=stdin)
        assert finished.code == 0, (argv, finished.stdout, finished.stderr)
        return finished.text


def program(name: str) -> str:
    """The path of a program of this machine; without it the test is skipped."""
    found = shutil.which(name, path=os.defpath) or shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def desk(scene: Scene, login: str, home: Path, **variables: str) -> Desk:
    """The desk of somebody in a scene."""
    return desk_at(scene.lab.url, login, scene.tokens[login], home, **variables)


def desk_at(url: str, login: str, token: str, home: Path, **variables: str) -> Desk:
    """A home where git knows its person and the token for the lab, as `git config` and `git credential` leave it."""
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
    """A clone of the scene's repository on a desk."""
    await owner.ok("git", "clone", "--quiet", *options, scene.lab.git_url(NAME), name)
    return owner.home / name


@contextmanager
def short_directory() -> Iterator[Path]:
    """A directory whose path is short enough for a unix socket in it (108 bytes on Linux, 104 on macOS)."""
    with tempfile.TemporaryDirectory(prefix="lab-") as directory:
        yield Path(directory)
