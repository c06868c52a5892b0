"""A person's own repository in the lab: a copy goes in, one file with the new commits comes out."""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from lab.demo.setup import REPOSITORY
from lab.github.repositories.git_command import Git, signed
from lab.github.server import Lab
from shared.errors import Misconfigured

RESULT = "refs/heads/main"
"""The branch of the copy on which the result lies."""


@dataclass(frozen=True, slots=True)
class ProjectSource:
    """A repository on this machine and the commit that the copy begins with."""

    path: Path
    commit: str
    branch: str
    dirty: bool


async def look(path: Path) -> ProjectSource:
    """Return the repository at `path`; raises `Misconfigured` for what is no repository with a commit."""
    place = await anyio.Path(path).resolve()
    if not await place.is_dir():
        raise Misconfigured(f"--repo {path}: there is no such directory.")
    git = Git(Path(place))
    head = await git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head.code != 0:
        said = head.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[0] if said else "it has no commit yet"
        raise Misconfigured(f"--repo {path} cannot be used: {why}.")
    shallow = await git.check("rev-parse", "--is-shallow-repository")
    if shallow.text.strip() == "true":
        raise Misconfigured(f"--repo {path} is a shallow clone: run `git fetch --unshallow` there first.")
    branch = (await git.run("symbolic-ref", "--short", "--quiet", "HEAD")).text.strip()
    # Without locks and without looking into submodules or running anything of the repository's own.
    safe = ("-c", "core.fsmonitor=false", "--no-optional-locks")
    status = await git.run(*safe, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    return ProjectSource(Path(place), head.text.strip(), branch or "a detached HEAD", bool(status.text.strip()))


async def bring(lab: Lab, source: ProjectSource) -> None:
    """Make the lab's repository a copy of `source` at its commit: through git's protocol, so no file is shared.

    The commit is the repository's beginning and no push: nobody is notified, and CI does not run on it.
    """
    bare = lab.at(REPOSITORY).bare
    await bare.git.check("fetch", "--no-tags", "--quiet", source.path.as_uri(), f"+{source.commit}:{RESULT}")


async def unpacked(archive: Path, directory: Path) -> ProjectSource:
    """A repository in `directory` whose one commit has the files of a recording's `archive`."""

    def unpack() -> None:
        directory.mkdir(parents=True)
        with tarfile.open(archive) as tar:
            tar.extractall(directory, filter="data")

    await anyio.to_thread.run_sync(unpack)
    git, engine = Git(directory), ("Engine", "engine@example.invalid")
    await git.check("init", "--quiet", "--initial-branch=main")
    await git.check("add", "--all", "--force")
    await git.check("commit", "--quiet", "--message", "What the recording began with", env=signed(engine, engine))
    return await look(directory)


async def bundled(lab: Lab, source: ProjectSource, file: Path) -> bool:
    """Write the commits on top of the source's into `file`; False when there are none."""
    bare = lab.at(REPOSITORY).bare
    if await bare.sha(RESULT) in {None, source.commit}:
        return False
    await bare.git.check("bundle", "create", "--quiet", str(file), f"{source.commit}..{RESULT}")
    return True


def branch_name(story: str) -> str:
    """A branch name for the result, from the story's first line."""
    words = re.sub(r"[^a-z0-9]+", "-", story.strip().splitlines()[0].casefold()).strip("-")[:40].strip("-")
    return f"engine/{words or 'story'}"
