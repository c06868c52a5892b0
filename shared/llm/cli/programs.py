"""Where the coding CLIs are: what the configuration names, else the newest that was installed, and PATH."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shared.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Package:
    """An official Python package that brings the CLI along, so that no Node is needed.

    `directory` is what has to be kept of it, `program` the executable in there.
    """

    requirement: str
    version: str
    directory: str
    program: str


PACKAGES: Mapping[str, Package] = {
    "claude": Package("claude-agent-sdk", "0.2.187", "claude_agent_sdk/_bundled", "claude"),
    "codex": Package("openai-codex-cli-bin", "0.163.0", "codex_cli_bin", "bin/codex"),
}
"""By the backend's name; the version is the one that was tried."""


def home(state_dir: Path, name: str) -> Path:
    """Where the versions of one CLI are installed."""
    return state_dir / "cli" / name


def installed(state_dir: Path, name: str) -> Path | None:
    """The newest version that `install-cli` has put into the state directory."""
    found = [place for place in home(state_dir, name).glob("[0-9]*") if (place / PACKAGES[name].program).is_file()]
    newest = max(found, key=lambda place: [int(part) for part in re.findall(r"\d+", place.name)], default=None)
    return None if newest is None else newest / PACKAGES[name].program


def program(name: str, configured: str, state_dir: Path, search_path: str) -> Path:
    """The first of `programs`."""
    return programs(name, configured, state_dir, search_path)[0]


def programs(name: str, configured: str, state_dir: Path, search_path: str) -> tuple[Path, ...]:
    """The executables of backend `name`, links followed; raises `Misconfigured` saying how to get one.

    `configured` is the value of the backend's key; a value other than the plain name is the only one.
    """
    own = installed(state_dir, name) if configured == name else None
    named = shutil.which(Path(configured).expanduser(), path=search_path)
    found = [Path(one).resolve() for one in (own, named) if one is not None]
    if not found:
        raise Misconfigured(
            f"There is no program '{configured}' ({name}_cli): run `workflow-engine install-cli {name}`, "
            f"or write the path of an installed one into {name}_cli."
        )
    return tuple(dict.fromkeys(found))
