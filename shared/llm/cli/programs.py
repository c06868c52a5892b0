"""The programs of coding CLIs: the configured one, else the newest of the installed one and the one in PATH.

Before one is used it is asked for its version and its options.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from shared import llm, process
from shared.errors import Misconfigured

ASK_SECONDS = 30.0
"""Seconds that a program may take to print its version."""


def home(state_dir: Path, name: str) -> Path:
    """Return the directory in which the versions of one CLI are installed."""
    return state_dir / "cli" / name


def installed(state_dir: Path, name: str) -> Path | None:
    """Return the newest version that `install-cli` has put into the state directory, or None."""
    spec = llm.cli_spec(name)
    program = spec.package.program if spec else name
    found = [place for place in home(state_dir, name).glob("[0-9]*") if (place / program).is_file()]
    newest = max(found, key=lambda place: [int(part) for part in re.findall(r"\d+", place.name)], default=None)
    return None if newest is None else newest / program


def program(name: str, configured: str, state_dir: Path, search_path: str) -> Path:
    """Return the first of `programs`."""
    return programs(name, configured, state_dir, search_path)[0]


def installing(name: str, configured: str) -> str:
    """Return how backend `name` gets its program, as a part of a sentence; a path in its key is the only one."""
    away = "" if configured == name else f"take {name}_cli out of the configuration and "
    return f"{away}run `workflow-engine install-cli {name}`"


def programs(name: str, configured: str, state_dir: Path, search_path: str) -> tuple[Path, ...]:
    """Return the executables of backend `name`, links followed; raise `Misconfigured` saying how to get one.

    `configured` is the value of the backend's key; a value other than the plain name is the only one.
    """
    own = installed(state_dir, name) if configured == name else None
    named = shutil.which(Path(configured).expanduser(), path=search_path)
    found = [Path(one).resolve() for one in (own, named) if one is not None]
    if not found:
        raise Misconfigured(
            f"There is no program '{configured}' ({name}_cli): {installing(name, configured)}, "
            f"or write the path of an installed one into {name}_cli."
        )
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen program; `versions` are those of all compared programs, empty if there was nothing to choose."""

    path: Path
    versions: Mapping[Path, str]

    @property
    def sentence(self) -> str:
        """Sentence for people: the program used, and the others; empty if there was no choice."""
        others = [f"{path} ({version})" for path, version in self.versions.items() if path != self.path]
        if not others:
            return ""
        return f"The newest program found is used: {self.path} ({self.versions[self.path]}), not {', '.join(others)}."


async def newest(name: str, configured: str, state_dir: Path, environment: Mapping[str, str]) -> Chosen:
    """Return the newest program of backend `name`; raises `Misconfigured` as `programs` does.

    `environment` needs a PATH. A program that is the only one is not asked for its version.
    """
    found = programs(name, configured, state_dir, environment["PATH"])
    if len(found) == 1:
        return Chosen(found[0], {})
    versions = {path: await _version(path, name, environment) for path in found}
    return Chosen(max(found, key=lambda path: _version_key(versions[path])), versions)


async def _version(path: Path, name: str, environment: Mapping[str, str]) -> str:
    """Return the version that the program prints, or the reason why it prints none."""
    spec = llm.cli_spec(name)
    try:
        with anyio.fail_after(ASK_SECONDS):
            argv = spec.version_command(path) if spec else (str(path), "--version")
            text = await program_output(argv, f"{name}_cli", environment)
    except (Misconfigured, TimeoutError):
        return "does not run"
    version = re.search(r"\d+(?:\.\d+){1,3}", text)
    return version[0] if version else "says no version"


def _version_key(version: str) -> list[int]:
    return [int(part) for part in version.split(".")] if version[:1].isdigit() else []


async def program_output(argv: Sequence[str], key: str, environment: Mapping[str, str]) -> str:
    """Return the output of `argv`; `key` is the configuration key that names the program.

    Raises `Misconfigured`, with the end of its output, if it cannot be run or fails.
    """
    try:
        finished = await process.run(argv, cwd=Path("/"), env=environment)
    except OSError as error:
        raise Misconfigured(f"{argv[0]} ({key}) cannot be run: {error.strerror}.") from None
    if finished.code != 0:
        words = finished.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Misconfigured(f"`{' '.join(argv[:2])}` ({key}) failed with {finished.code}: {words}")
    return finished.text.strip()


def check_options(help_text: str, needed: Iterable[str], program: str, name: str) -> None:
    """Raise `Misconfigured` if `program`, that of backend `name`, lacks an option in its `--help`."""
    if missing := [option for option in needed if option not in help_text]:
        raise Misconfigured(
            f"{program} is too old: it does not know {', '.join(missing)}. Run `workflow-engine install-cli {name}`."
        )
