"""The set-up step: `setup_command` once per repository and state of its lock files, kept in `env/<hash>/`.

It runs confined like tests, but with network; with no secret, no cache of others, and without the install scripts of
packages if the tool can leave them out. Its result is read-only afterwards. Also the copy in which a project is set up,
and the parts of it that stay: those that checkouts link to, or all if still referred to.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import structlog
from anyio import to_thread

from shared.errors import Blocked
from shared.filesystem import directories
from shared.filesystem.file_lock import FileLock
from shared.sandbox.confinement import Confinement
from worker_agent.tdd.runners import command_line
from worker_agent.tdd.setup.confined_command import ConfinedCommand
from worker_agent.tdd.setup.installed import LINKED, NOTHING, PACKAGES, Installed, filled_stores

log = structlog.get_logger()

PYTHON = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pyproject.toml", "setup.py", "setup.cfg")
OTHERS = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "package.json", ".npmrc")
COMPILED = (
    *("go.mod", "go.sum", "Cargo.toml", "Cargo.lock", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle"),
    *("settings.gradle.kts", "gradle.lockfile", "gradle/libs.versions.toml"),
    *("composer.json", "composer.lock", "Gemfile", "Gemfile.lock"),
)
REQUIREMENTS = ("requirements*.txt", "requirements/*.txt", "constraints*.txt")
"""The files by which one environment differs from another."""

CODE = frozenset({"setup.py"})
"""The files among them that are programs."""

Export = Callable[[Path], Awaitable[None]]
"""Writes the files of one commit into an empty directory."""

SETUP_SECONDS = 1800.0
"""The seconds that installing may take."""

IDLE_SECONDS = 14 * 24 * 3600.0
"""The seconds without use after which an environment is removed."""

NO_SCRIPTS: Mapping[str, str] = {
    "npm_config_ignore_scripts": "true",
    "npm_config_audit": "false",
    "npm_config_fund": "false",
    "YARN_ENABLE_SCRIPTS": "false",
    "PIP_ONLY_BINARY": ":all:",
    "PIP_REQUIRE_VIRTUALENV": "true",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "POETRY_VIRTUALENVS_CREATE": "false",
    "UV_LINK_MODE": "copy",
}
"""Variables so that no code of packages runs during installation; a `NAME=` before the command reverts one."""


class SetUpFailed(Blocked):
    """The set-up command of the repository failed."""


class SetUp:
    """The environments of one repository below `root`; several processes of a machine may share them."""

    def __init__(
        self, repository: str, command: str | None, root: Path, environment: Mapping[str, str], confinement: Confinement
    ) -> None:
        """`command` installs; None: nothing is installed.

        `environment` is visible to an installer: a PATH, proxies, the addresses of package registries. Packages
        installed for one `repository` (owner/name) are never offered to another one.
        """
        self._repository = repository
        self.command = command
        self._root = root
        self._environment = dict(environment)
        self._confinement = confinement
        self._base: Export | None = None

    def based(self, base: Export) -> SetUp:
        """Return the set-up of the project that `base` writes: a base commit, which no coder wrote.

        Of the checkout itself only its lock files are put over that: data about the packages to install, which may
        change with the approved specification, by the patch policy. `setup.py` is code and stays the base's.
        """
        bound = copy.copy(self)
        bound._base = base
        return bound

    def with_command(self, command: str | None) -> SetUp:
        """Return the set-up with another command; None: nothing is installed."""
        bound = copy.copy(self)
        bound.command = command
        return bound

    async def installed(self, checkout: Path, directory: str = "") -> Installed:
        """Return the packages for the lock files in a `directory` of a checkout, installed if they are not there yet.

        Raises `SetUpFailed` with the end of the command's output, and `Misconfigured` for a command that cannot be run.
        """
        if self.command is None:
            return NOTHING
        found = await to_thread.run_sync(lock_files, checkout / directory)
        place = self._root / digest(self._repository, f"{directory}:{self.command}", found)
        self._root.mkdir(mode=0o755, parents=True, exist_ok=True)
        async with FileLock(place.with_suffix(".lock")).held():  # who comes second finds what the first one made
            if not (place / "ready").is_file():
                await self._make(place, checkout, found, directory)
            os.utime(place)
        return Installed(place, directory)

    async def _make(self, place: Path, checkout: Path, found: Mapping[str, bytes], directory: str) -> None:
        log.info("set_up_started", command=self.command, environment=place.name)
        argv = command_line.split(self.command or "", key="setup_command")
        writable: tuple[Path, ...] = (place / "project", place / "home", place / PACKAGES, place / "venv")
        try:
            located = {f"{directory}/{name}".lstrip("/"): text for name, text in found.items()}
            await self._copy_project(place, checkout, located)
            inside = place / "project" / directory
            if _wants_python(found):
                await self._run((sys.executable, "-I", "-m", "venv", str(place / "venv")), place, writable, inside)
            else:
                (place / "venv").rmdir()
                writable = writable[:3]
            await self._run(argv, place, writable, inside)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(directories.remove, place)
            raise
        await to_thread.run_sync(directories.remove, place / "home")
        if not directory:
            await to_thread.run_sync(prune, place)
        (place / "ready").touch()
        log.info("set_up_completed", environment=place.name)
        await to_thread.run_sync(collect, self._root)

    async def _copy_project(self, place: Path, checkout: Path, found: Mapping[str, bytes]) -> None:
        project = await to_thread.run_sync(_create_place, place)
        if self._base is None:
            await to_thread.run_sync(copy_checkout, checkout, project)
            return
        project.mkdir()
        await self._base(project)
        data = {name: content for name, content in found.items() if name.rpartition("/")[2] not in CODE}
        await to_thread.run_sync(lay_over, project, data)

    async def _run(self, argv: tuple[str, ...], place: Path, writable: tuple[Path, ...], inside: Path) -> None:
        """Run one command in a directory of the copy of the project; its output goes to a file next to it."""
        home, said = place / "home", place / "output.log"
        venv = Installed(place).environment(self._environment)
        known = {
            **venv,
            **NO_SCRIPTS,
            **filled_stores(place / PACKAGES),
            "HOME": str(home),
            "TMPDIR": str(self._confinement.temporary(home)),
        }
        known = {name: value for name, value in known.items() if name not in {"UV_NO_SYNC", "UV_OFFLINE"}}
        confined = ConfinedCommand(argv, inside, writable, known, said, SETUP_SECONDS)
        try:
            failure = await confined.run(self._confinement)
        except OSError as error:
            raise SetUpFailed(f"The set-up command cannot be started: {error.strerror}.") from error
        if failure:
            raise SetUpFailed(f"The set-up command `{' '.join(argv)}` failed ({failure}):\n{confined.tail()}")


def lock_files(checkout: Path) -> dict[str, bytes]:
    """Return the files of a checkout that tell which packages to install; links are not followed."""
    paths = [checkout / name for name in (*PYTHON, *OTHERS, *COMPILED)]
    paths += [path for pattern in REQUIREMENTS for path in sorted(checkout.glob(pattern))]
    return {
        path.relative_to(checkout).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and not path.is_symlink()
    }


def digest(repository: str, command: str, files: Mapping[str, bytes]) -> str:
    """Return the name of the environment that `command` makes from a repository's files with this interpreter."""
    hashed = hashlib.sha256()
    for part in (repository.lower(), command, platform.python_version(), sys.prefix, platform.machine()):
        hashed.update(f"{len(part)}:{part}".encode())
    for name, content in sorted(files.items()):
        hashed.update(f"{len(name)}:{name}{len(content)}:".encode() + content)
    return hashed.hexdigest()[:32]


def collect(root: Path, *, idle_seconds: float = IDLE_SECONDS) -> tuple[Path, ...]:
    """Remove environments that were not used for long; ages are measured by the disk's own clock."""
    marker = root / ".swept"
    marker.touch()
    now = marker.stat().st_mtime
    gone = []
    directories.retry(root)
    for lock in sorted(root.glob("*.lock")):
        place = lock.with_suffix("")
        with suppress(OSError), FileLock(lock).at_once() as free:
            if not free:
                continue
            if not place.exists():
                lock.unlink()
            elif now - place.stat().st_mtime > idle_seconds:
                directories.remove(place)
                lock.unlink()
                gone.append(place)
    return tuple(gone)


def _wants_python(files: Mapping[str, bytes]) -> bool:
    return not files or any(name in PYTHON or name.endswith(".txt") for name in files)


def _create_place(place: Path) -> Path:
    """Create a fresh `place`; return the project's directory."""
    directories.renew(place)
    place.chmod(0o755)
    for name in ("home", "venv", PACKAGES):
        (place / name).mkdir()
    return place / "project"


RECORD_BYTES = 2**20
"""The most bytes of a record of an installed package; larger files are no records and are not read."""


def copy_checkout(checkout: Path, project: Path) -> None:
    """Copy a checkout without its `.git` and links of an earlier set-up; `project` does not exist yet."""
    left_out = {".git", *(name for name in LINKED if (checkout / name).is_symlink())}

    project.mkdir()
    for entry in directories.walk(checkout, deepest=directories.LONGEST_PATH):
        path = Path(entry.path).relative_to(checkout)
        if path.parts[0] in left_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            (project / path).mkdir()
        elif entry.is_symlink() or entry.is_file():
            shutil.copy2(entry.path, project / path, follow_symlinks=False)


def lay_over(project: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a project, replacing those of the same name, without following links in it."""
    for name, content in files.items():
        path = project / name
        if path.parent.resolve().is_relative_to(project.resolve()):
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)


def prune(place: Path) -> bool:
    """Remove all of `place/project` except `LINKED`, unless installed files refer to it; return whether they did.

    All of it was written by an untrusted command, which has ended.
    """
    project = place / "project"
    if any((project / name).is_symlink() for name in LINKED):
        return False  # an arrangement of the project's own
    kept = [project / name for name in LINKED if (project / name).is_dir()]
    if any(_refers(root, project, kept) for root in (place / "venv", *kept)):
        return False
    for path in project.iterdir():
        if path not in kept:
            directories.remove(path)
    return True


def _refers(root: Path, project: Path, kept: Sequence[Path]) -> bool:
    """Return whether a link below `root`, or an editable install, leads into the rest of the project."""
    real, kept = project.resolve(), [path.resolve() for path in kept]
    for entry in directories.walk(root, deepest=directories.LONGEST_PATH):
        path = Path(entry.path)
        if path.is_symlink():
            target = Path(os.path.realpath(path))
            if target.is_relative_to(real) and not any(target.is_relative_to(one) for one in kept):
                return True
        elif _is_editable(path, {project, real}):
            return True
    return False


def _is_editable(path: Path, projects: Collection[Path]) -> bool:
    """Return whether a file is an editable install's: by PEP 610, or by an older path file; True in doubt."""
    if path.name != "direct_url.json" and path.suffix not in {".pth", ".egg-link"}:
        return False
    try:
        if not path.is_file() or path.stat().st_size > RECORD_BYTES:
            return not path.is_dir()
        said = path.read_bytes()
        if path.name == "direct_url.json":
            return bool(json.loads(said).get("dir_info", {}).get("editable"))
    except (OSError, ValueError, AttributeError, RecursionError):
        return True
    return any(os.fsencode(project) in said for project in projects)
