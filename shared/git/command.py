"""git as verbs on one git directory: the only module that spells git's environment and options.

Nothing of the machine's git configuration reaches it, no hook, filter or helper runs, no directory is changed into,
and only the protocol that the given URL needs is allowed. Which remotes git may talk to: one protocol per URL, and
plain http on loopback only.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.abc import Process

from shared import process
from shared.errors import Misconfigured, Transient, UnknownOutcome
from shared.filesystem.disk_space import as_disk_full, full
from shared.git import bare_directory, failures, loose_objects, names
from shared.git.credentials import Credentials
from shared.git.object_readers import COMMAND, ObjectReaders, Question
from shared.git.settled_answers import AnswersByDirectory, Asked
from shared.lock.port import RefUpdate
from shared.process import Finished

T = TypeVar("T")

NETWORK_SECONDS = 120.0
"""Seconds that one fetch or push may take before the server counts as not answering."""

NO_HOOKS = Path("/dev/null")
"""Hooks directory without hooks."""

_PASSED_ON = frozenset(
    f"{name}" for base in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (base, base.upper())
) | {"PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}
"""The only variables that git gets from its surroundings."""

_AUTHORITIES = {"SSL_CERT_FILE": "GIT_SSL_CAINFO", "SSL_CERT_DIR": "GIT_SSL_CAPATH"}
"""git's own names for certificate variables: a curl built with GnuTLS, as in Debian's git, does not read the others."""

_FIXED = {
    "HOME": "/nonexistent",  # curl would answer from a ~/.netrc
    "LC_ALL": "C",
    "GIT_ASKPASS": "",  # set and empty: git asks nobody, not even SSH_ASKPASS
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
}

_SETTINGS = {
    "core.hooksPath": str(NO_HOOKS),
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "false",
    "core.packedRefsTimeout": "10000",
    "credential.helper": "",
    "gc.auto": "0",
    "init.defaultBranch": "main",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
}
"""Settings as for `-c`; passed by environment, so that an error shows the verb and not these."""


_READING = {"core.deltaBaseCacheLimit": "4m"}
"""Additional settings of a reader that stays open: it keeps little in memory."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Author and committer of commits: the engine's account, never a person."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Signature:
    """Identity and time of a commit; without `at` the time is now, by the clock of the disk."""

    by: Identity
    at: datetime | None = None

    def variables(self) -> dict[str, str]:
        """Return the environment variables that make git commit as this."""
        when = f"{int(self.at.timestamp())} +0000" if self.at else ""
        return {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", self.by.name), ("EMAIL", self.by.email), ("DATE", when))
            if value
        }


class Git:
    """Verbs on one git directory."""

    def __init__(
        self,
        git_dir: Path,
        environment: Mapping[str, str],
        *,
        credentials: Credentials | None = None,
        hide: Callable[[str], str] = str,
        readers: ObjectReaders | None = None,
        answers: AnswersByDirectory | None = None,
    ) -> None:
        """`environment` needs `PATH`; of the rest only proxies and certificate paths are passed on.

        `hide` takes the secrets out of commit messages. Objects are read by `readers`, or by a process each time;
        settled answers are kept in `answers`, for all users of the same directory.
        """
        self.git_dir = git_dir.absolute()
        passed_on = {name: environment[name] for name in environment if name in _PASSED_ON}
        authorities = {ours: environment[name] for name, ours in _AUTHORITIES.items() if name in environment}
        self._environment = passed_on | authorities | _FIXED
        self._credentials = credentials
        self._hide = hide
        self._readers = readers
        self._answers = answers or AnswersByDirectory()
        self._settled = self._answers.of(self.git_dir)

    def at(self, git_dir: Path) -> Git:
        """Return the same git on another directory."""
        return Git(
            git_dir,
            self._environment,
            credentials=self._credentials,
            hide=self._hide,
            readers=self._readers,
            answers=self._answers,
        )

    async def run(
        self,
        *args: str,
        stdin: bytes = b"",
        work_tree: Path | None = None,
        index: Path | None = None,
        ok: Collection[int] = (0,),
        signature: Signature | None = None,
        cap: int = process.OUTPUT_CAP,
    ) -> Finished:
        """Run a command that uses no network.

        Raises `TooMuchOutput`, and for an exit code outside `ok` `StaleLock`, `Transient` (disk
        full) or `CommandFailed`.
        """
        place = [f"--git-dir={self.git_dir}"] + ([f"--work-tree={work_tree}"] if work_tree else [])
        variables = {"GIT_INDEX_FILE": str(index)} if index else {}
        if signature:
            variables |= signature.variables()
        finished = await self._start((*place, *args), variables, stdin, cap=cap)
        if finished.truncated:
            raise failures.TooMuchOutput(f"git {args[0]} printed more than {cap // 2**20} MiB.")
        if finished.code not in ok:
            raise failures.local(finished)
        return finished

    async def settled(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Collection[int] = (0,),
        holds: Callable[[Finished], bool] = lambda finished: finished.code == 0,
    ) -> Finished:
        """Ask as `run`, but only once, a question that only objects answer, which are named by their whole ids.

        `holds` returns whether an answer stays true: that an object is missing does not.
        """
        return await self._ask_once((args, stdin), partial(self.run, *args, stdin=stdin, ok=ok), holds)

    async def objects(self, object_names: Sequence[bytes], *, contents: bool, settles: bool = False) -> Finished:
        """Return the output of `git cat-file --batch` for these names, or without `contents` of `--batch-check`.

        With `settles` they are named by their whole ids. At most 16 MiB; raises `TooMuchOutput` above that.
        """
        verb = ("cat-file", "--batch" if contents else "--batch-check", "-z")
        stdin = b"".join(name + b"\0" for name in object_names)

        async def ask() -> Finished:
            if self._readers is not None:
                question = Question(object_names, contents, process.OUTPUT_CAP)
                found = await self._readers.ask(self.git_dir, self._reader, question)
                if found is not None:
                    return Finished(("git", *verb), 0, found, b"")
            return await self.run(*verb, stdin=stdin)

        return await (self._ask_once((verb, stdin), ask, _is_whole) if settles else ask())

    @property
    def has_readers(self) -> bool:
        """True if many small questions about objects cost no process each."""
        return self._readers is not None

    async def leave(self) -> None:
        """Close the reader of the directory, which is about to be removed."""
        if self._readers is not None:
            await self._readers.leave(self.git_dir)

    def _reader(self) -> AbstractAsyncContextManager[Process]:
        env = {**self._environment, **_as_variables({**_SETTINGS, **_READING})}
        return process.piped(("git", f"--git-dir={self.git_dir}", *COMMAND), cwd=Path("/"), env=env)

    async def _ask_once(
        self, question: Asked, ask: Callable[[], Awaitable[Finished]], holds: Callable[[Finished], bool]
    ) -> Finished:
        known = self._settled.find(question)
        if known is not None:
            return known
        answer = await ask()
        if holds(answer):
            self._settled.keep(question, answer)
        return answer

    async def make(self) -> None:
        """Make the git directory, bare and empty, without a process. Raises `DiskFull`, and `OSError` if it exists."""
        try:
            await anyio.to_thread.run_sync(bare_directory.make, self.git_dir)
        except OSError as error:
            raise as_disk_full(error, self.git_dir) or error from error

    async def init(self, *, bare: bool = True) -> None:
        """Make the git directory; with `bare=False` its parent becomes a work tree."""
        shape = ("--bare", str(self.git_dir)) if bare else (str(self.git_dir.parent),)
        finished = await self._start(("init", "--quiet", "--template=", *shape), {})
        if finished.code != 0:
            raise failures.local(finished)

    async def clone(self, source: Path) -> None:
        """Make the git directory a bare copy of another one of ours.

        Without `--local` git links objects where it can and copies them where it cannot (another
        file system).
        """
        verb = ("clone", "--bare", "--quiet", "--no-tags", "--template=", "--", str(source), str(self.git_dir))
        finished = await self._talk(source, verb, NETWORK_SECONDS)
        if finished is None:
            raise Transient(f"git clone did not end within {NETWORK_SECONDS:.0f} s.")
        if finished.code != 0:
            raise failures.local(finished)

    async def fetch(
        self,
        source: str | Path,
        *refspecs: str,
        options: Sequence[str] = (),
        deadline_seconds: float = NETWORK_SECONDS,
    ) -> None:
        """Fetch from a URL, or from another git directory of ours (a Path).

        Raises `NoSuchRef`, `Transient`, `Unauthorized`, `NotAllowed`, `Gone`, `StaleLock`.
        """
        fixed = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet")
        verb = (f"--git-dir={self.git_dir}", "fetch", *fixed, *options, "--end-of-options", str(source), *refspecs)
        finished = await self._talk(source, verb, deadline_seconds)
        if finished is None:
            raise Transient(f"git fetch did not end within {deadline_seconds:.0f} s.")
        if finished.code != 0:
            raise failures.fetching(finished)

    async def push(
        self, url: str, moves: Sequence[RefUpdate], *, deadline_seconds: float = NETWORK_SECONDS, hooks: Path = NO_HOOKS
    ) -> bool:
        """Move all these refs or none, each from its expected value; an empty `new` deletes.

        False if a ref had another value. Raises `UnknownOutcome` if the reply was lost, and
        `Transient`, `Unauthorized`, `NotAllowed`, `Gone` if certainly nothing moved. `hooks` has a
        `pre-push` that runs between reading the server's refs and the push.
        """
        leases = [f"--force-with-lease={names.ref(m.ref)}:{names.oid(m.expected) if m.expected else ''}" for m in moves]
        refspecs = [f"{names.oid(m.new) if m.new else ''}:{m.ref}" for m in moves]
        fixed = ("--atomic", "--porcelain", "--no-signed", "--no-recurse-submodules")
        verb = (f"--git-dir={self.git_dir}", "push", *fixed, *leases, "--end-of-options", url, *refspecs)
        finished = await self._talk(url, verb, deadline_seconds, hooks)
        if finished is None:
            raise UnknownOutcome(f"git push did not end within {deadline_seconds:.0f} s.")
        return failures.moved(finished)

    async def commit(self, tree: str, parents: Sequence[str], message: str, signature: Signature) -> str:
        """Write a commit object and return its id; no ref moves. It is not checked that its tree and parents are here.

        Raises `DiskFull`, and `CommandFailed` for data of which git makes no commit.
        """
        by, at = signature.by, int(signature.at.timestamp()) if signature.at else None
        lineage = [names.oid(parent) for parent in parents]
        text = self._hide(message).encode("utf-8", "replace")
        words = loose_objects.Words(names.oid(tree), lineage, by.name, by.email, text)
        return await write_below(self.git_dir, partial(loose_objects.commit, self.git_dir, words, at))

    async def store(self, kind: loose_objects.Kind, content: bytes) -> str:
        """Write a small object of the engine's own and return its id; raises as `commit`."""
        return await write_below(self.git_dir, partial(loose_objects.write, self.git_dir, kind, content))

    async def _talk(
        self, remote: str | Path, verb: Sequence[str], deadline_seconds: float, hooks: Path = NO_HOOKS
    ) -> Finished | None:
        """Run one network command; again if the server refused the token, so did nothing, and a new token may work."""
        settings = allowed(remote) | {"core.hooksPath": str(hooks)}
        credentials = None if isinstance(remote, Path) else self._credentials
        while True:
            variables = await credentials.variables() if credentials else {}
            finished = None
            with anyio.move_on_after(deadline_seconds):
                finished = await self._start(verb, variables, settings=settings)
            refused = finished is not None and finished.code != 0 and failures.unauthorized(finished)
            if credentials is None or not refused or not await credentials.renew():
                return finished

    async def _start(
        self,
        args: Sequence[str],
        variables: Mapping[str, str],
        stdin: bytes = b"",
        settings: Mapping[str, str] = MappingProxyType({}),
        cap: int = process.OUTPUT_CAP,
    ) -> Finished:
        env = {**self._environment, **_as_variables({**_SETTINGS, **settings}), **variables}
        try:
            # The root directory is never a work tree and always there; every path is absolute.
            finished = await process.run(("git", *args), cwd=Path("/"), env=env, stdin=stdin, cap=cap)
        except FileNotFoundError as error:
            raise Misconfigured("There is no git on PATH: install git 2.38 or newer.") from error
        if finished.code != 0 and failures.NO_SPACE.search(finished.stderr):
            raise full(self.git_dir)
        return finished


async def write_below(place: Path, write: Callable[[], T]) -> T:
    """Write below a place and return the result; raises `DiskFull`, and `CommandFailed` for any other obstacle."""
    try:
        return await anyio.to_thread.run_sync(write)
    except (loose_objects.Unwritable, OSError) as error:
        room = as_disk_full(error, place) if isinstance(error, OSError) else None
        raise room or failures.unwritten(error) from error


def _is_whole(finished: Finished) -> bool:
    """Return whether nothing is missing: the commit of a missing path may come with the next fetch."""
    return b" missing\n" not in finished.stdout


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings as environment variables.

    https://git-scm.com/docs/git-config#Documentation/git-config.txt-GITCONFIGCOUNT
    """
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


_LOOPBACK = re.compile(r"http://(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?/[^\s]*")
_SECURE = re.compile(r"https://[A-Za-z0-9.:\[\]-]+/[^\s]*")
_PLAIN_FILE = re.compile(r"(?:file://)?/[^\n]*")


def allowed(remote: str | Path) -> dict[str, str]:
    """Return the settings that allow only the protocol that this remote needs; raises `Misconfigured` for others."""
    if isinstance(remote, Path):
        return {"protocol.file.allow": "always"}
    if _SECURE.fullmatch(remote):
        return {"protocol.https.allow": "always"}
    if _LOOPBACK.fullmatch(remote):
        return {"protocol.http.allow": "always", "http.proxy": ""}
    if _PLAIN_FILE.fullmatch(remote):
        return {"protocol.file.allow": "always"}
    raise Misconfigured(f"Repositories are reached by https only, not by {remote.rpartition('@')[2]!r}.")
