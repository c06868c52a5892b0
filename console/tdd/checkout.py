"""A person's own repository: read with their git configuration; written are one new branch and one exclude line.

No hook runs, no index is refreshed, and no branch that anybody has checked out is moved.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from config.environment import child_environment
from shared import process
from shared.errors import Blocked, Misconfigured
from shared.process import Finished

RECORDS = ".workflow"
"""The directory of task records, at the top of the work tree."""

_OPTIONS = (
    "--no-optional-locks",
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    *("-c", "fetch.writeCommitGraph=false"),
    *("-c", "protocol.file.allow=always"),
)

_FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-prune")


class Diverged(Blocked):
    """The branch has commits of its own, or is checked out: it was left as it is."""


class GitRefused(Blocked):
    """git refuses to work in the person's repository."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """One work tree: its top, and the git directory that it shares with other work trees of its repository."""

    top: Path
    common: Path
    environment: Mapping[str, str]

    @classmethod
    async def around(cls, directory: Path, environment: Mapping[str, str]) -> Checkout:
        """The work tree that `directory` lies in; raises `Misconfigured` with git's own reason."""
        own = {name: environment[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in environment}
        fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
        variables = child_environment(environment) | own | fixed
        here = cls(directory, directory, variables)
        top = await here._git("rev-parse", "--path-format=absolute", "--show-toplevel")
        if top.code != 0 and _line(await here._git("rev-parse", "--is-inside-work-tree")) == "false":
            raise Misconfigured(f"{directory} is in a git repository without a work tree: start inside a checkout.")
        if top.code != 0:
            raise Misconfigured(f"{directory} is in no git work tree ({_first(top)}): start inside a checkout.")
        common = await here._check("rev-parse", "--path-format=absolute", "--git-common-dir")
        return cls(Path(_line(top)), Path(common), variables)

    async def commit(self, name: str) -> str | None:
        """The commit that a branch or `HEAD` names; None when there is none."""
        found = await self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return _line(found) if found.code == 0 else None

    async def tip(self, branch: str) -> str | None:
        """The commit of a local branch; None when there is no such branch."""
        return await self.commit(f"refs/heads/{branch}")

    async def branch(self) -> str | None:
        """The branch that is checked out here; None when `HEAD` is detached."""
        return _line(await self._git("symbolic-ref", "--short", "--quiet", "HEAD")) or None

    async def branches(self) -> frozenset[str]:
        """All local branches."""
        listed = await self._check("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/")
        return frozenset(listed.splitlines())

    async def checked_out(self) -> frozenset[str]:
        """The branches that are checked out in this work tree or another one of the repository."""
        lines = (await self._check("worktree", "list", "--porcelain")).splitlines()
        return frozenset(line.removeprefix("branch refs/heads/") for line in lines if line.startswith("branch "))

    async def allows(self, branch: str) -> bool:
        """Return whether git takes this as the name of a branch."""
        if branch == "HEAD" or branch.startswith("-"):
            return False
        return (await self._git("check-ref-format", f"refs/heads/{branch}")).code == 0

    async def contains(self, descendant: str, ancestor: str) -> bool:
        """Return whether `descendant` is `ancestor` or built on it."""
        return (await self._git("merge-base", "--is-ancestor", ancestor, descendant)).code == 0

    async def uncommitted(self) -> tuple[str, ...]:
        """Return uncommitted files, as paths from the top; a directory without any tracked file is one path."""
        options = ("--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
        status = await self._check("status", *options)
        return tuple(re.sub(r"^\s*\S{1,2}\s", "", entry) for entry in status.split("\0") if entry.strip())

    async def shallow(self) -> bool:
        """Return whether the history is cut off."""
        return await self._check("rev-parse", "--is-shallow-repository") == "true"

    async def push_url(self, remote: str) -> str | None:
        """Return the target of `git push REMOTE`, after the person's own rewriting of URLs; None for no such remote."""
        found = await self._git("remote", "get-url", "--push", remote)
        return _line(found) if found.code == 0 else None

    async def exclude(self) -> None:
        """Keep the task records out of `git status`, by the repository's own exclude file."""
        file = Path(await self._check("rev-parse", "--path-format=absolute", "--git-path", "info/exclude"))
        await anyio.to_thread.run_sync(_append, file, f"/{RECORDS}/")

    async def copy(self, commit: str, bare: Path, branch: str) -> None:
        """Put a commit with its history into another git directory, as its branch; no file is shared."""
        await self._check(f"--git-dir={bare}", *_FETCH, self.top.as_uri(), f"+{commit}:refs/heads/{branch}")

    async def receive(self, bare: Path, ref: str, branch: str) -> None:
        """Fetch `ref` of another git directory into a branch: new, or fast-forward; raises `Diverged`.

        A branch that contains it already stays as it is, even with commits on top and wherever it is checked out.
        """
        wanted = await self._check(f"--git-dir={bare}", "rev-parse", "--verify", f"{ref}^{{commit}}")
        if await self.contains(f"refs/heads/{branch}", wanted):
            return
        by_hand = f"Take it yourself: git fetch {shlex.quote(str(bare))} {ref}:refs/heads/NAME"
        if branch in await self.checked_out():
            raise Diverged(f"The branch '{branch}' is checked out, so it was not moved. {by_hand}")
        fetched = await self._git(*_FETCH, str(bare), f"{ref}:refs/heads/{branch}")
        if fetched.code != 0:
            raise Diverged(f"The branch '{branch}' was left as it is ({_first(fetched)}). {by_hand}")

    async def _check(self, *arguments: str) -> str:
        finished = await self._git(*arguments)
        if finished.code != 0:
            verb = next(word for word in arguments if not word.startswith("-"))
            raise GitRefused(f"git {verb} did not work in {self.top}: {_first(finished)}")
        return _line(finished)

    async def _git(self, *arguments: str) -> Finished:
        try:
            return await process.run(("git", *_OPTIONS, *arguments), cwd=self.top, env=self.environment)
        except FileNotFoundError as error:
            raise Misconfigured("There is no git on PATH: install git 2.38 or newer.") from error


def _line(finished: Finished) -> str:
    """Return git's output without the end of its last line; a path may begin or end with a space."""
    return finished.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def _first(finished: Finished) -> str:
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1] if said else f"git ended with {finished.code}"


def _append(file: Path, line: str) -> None:
    """Add a line to a file unless it has it; the file is made where there is none."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape") if file.exists() else ""
    if line not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as sink:
            sink.write("\n" * bool(text and not text.endswith("\n")) + f"{line}\n")
