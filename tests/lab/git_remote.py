"""A git server for the tests of `shared/git`: a bare repository of the lab, by path or by HTTP."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG

from aiohttp import web
from aiohttp.test_utils import TestServer

from lab.github.repositories.bare import Bare
from lab.github.repositories.git_http import GitHttp
from shared.git.command import Git, Identity
from shared.git.credentials import Credentials
from shared.git.fences import Fences
from shared.git.mirror import Mirror
from shared.git.object_readers import ObjectReaders, opened
from shared.git.workspace import Workspace

ENVIRONMENT = {"PATH": os.environ["PATH"]}
ENGINE = Identity("engine", "1+engine@users.noreply.github.com")
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NAME = "acme/app"
TOKEN = "ghp_canary0123456789"

FILES = {
    "README.md": "# App\n",
    "src/app.py": "VALUE = 1\n",
    "src/.gitignore": "generated.py\n",
    "tests/test_app.py": "def test_app() -> None:\n    assert True\n",
    ".gitignore": "*.log\n/build/\n",
}


async def remote_at(path: Path, files: Mapping[str, str] = FILES) -> Bare:
    """Make a repository with one commit on `main`."""
    return await Bare.create(path, NAME, "main", files)


async def commit_to(remote: Bare, branch: str, files: Mapping[str, str], *, parent: str | None = None) -> str:
    """Commit text files to a branch of the server, and return the commit id."""
    lines = [f"commit refs/heads/{branch}\ncommitter Ada <ada@example.org> now\ndata 6\nChange\n"]
    start = parent or await remote.sha(branch)
    if start:
        lines.append(f"from {start}\n")
    for path, text in files.items():
        lines.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n")
    await remote.git.check("fast-import", "--quiet", "--force", "--date-format=now", stdin="".join(lines).encode())
    oid = await remote.sha(branch)
    assert oid is not None
    return oid


async def machine(
    directory: Path, url: str, credentials: Credentials | None = None, readers: ObjectReaders | None = None
) -> Mirror:
    """Return one agent's mirror of the server, on a machine of its own."""
    mirror = Mirror(Git(directory / "mirror.git", ENVIRONMENT, credentials=credentials, readers=readers), url)
    await mirror.ensure()
    return mirror


@asynccontextmanager
async def readers(*, open_ones: bool) -> AsyncIterator[ObjectReaders | None]:
    """Yield readers of objects that stay open, or None."""
    if not open_ones:
        yield None
        return
    async with opened() as made:
        yield made


async def workspace_of(mirror: Mirror, *, commit: str = "", ref: str = "") -> Workspace:
    """Open issue 42's workspace beside a mirror."""
    return await Workspace.open(mirror.git.git_dir.parent / "issue-42", mirror, ENGINE, commit=commit, ref=ref)


def fences_of(mirror: Mirror) -> Fences:
    """Return the fences that this machine sees."""
    return Fences(mirror, ENGINE)


async def work(workspace: Workspace, base: str, files: Mapping[str, str], message: str = "Work") -> str:
    """Commit files in a fresh tree, captured as after a coder's run; return the commit id."""
    tree = await workspace.reset_tree(base)
    for path, text in files.items():
        put(tree / path, text)
    return await workspace.commit(await workspace.capture(base), [base], message, AT)


def put(path: Path, text: str) -> None:
    """Write a file and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def listing(directory: Path) -> dict[str, str]:
    """Return the text of every file below a directory by relative path, without the files in a `.git`."""
    paths = (path.relative_to(directory) for path in sorted(directory.rglob("*")))
    files = (path for path in paths if ".git" not in path.parts and S_ISREG((directory / path).lstat().st_mode))
    return {str(path): (directory / path).read_text() for path in files}


@asynccontextmanager
async def served(remote: Bare, *, token: str = TOKEN, read_only: bool = False) -> AsyncIterator[str]:
    """Serve the repository over smart HTTP on loopback; yield the server's address without a path."""

    def authorise(given: str, full_name: str, write: bool) -> str | None:
        return "ada" if given == token and not (write and read_only) else None

    app = web.Application()
    app.add_routes(GitHttp(lambda name: remote if name == NAME else None, authorise).routes())
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")
