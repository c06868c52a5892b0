"""The native program of Codex, and the package with the helpers that it starts."""

from __future__ import annotations

from pathlib import Path

from shared.errors import Misconfigured


def native(program: Path) -> Path:
    """The program itself for npm's `codex`, a script that a kill does not pass on; raises `Misconfigured`."""
    if program.suffix != ".js":
        return program
    script = program.parents[1]
    for place in (script.parent, script / "node_modules" / "@openai"):
        if found := sorted(place.glob("codex-*/vendor/*/bin/codex")):
            return found[0]
    raise Misconfigured(f"{program} (codex_cli) lacks its platform's package: run `workflow-engine install-cli codex`.")


def package(program: Path) -> tuple[Path, ...]:
    """The directory with the helpers that the program starts, where it has come as a package."""
    directory = program.parents[1]
    return (directory,) if (directory / "codex-package.json").is_file() else ()
