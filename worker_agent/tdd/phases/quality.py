"""Quality commands: those that a project has, those that are binding, and their output (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from shared.text import excerpt, printable
from worker_agent.tdd.runners.runner import Read
from worker_agent.tdd.setup.command_result import CommandResult

OUTPUT_BYTES = 4000
"""The most bytes of one command's output that a prompt quotes."""

NOT_BINDING = "not clean on the base, so it does not bind"


@dataclass(frozen=True, slots=True)
class Tool:
    """A linter or type checker, the files by which a project configures it, and sections with the same effect."""

    command: str
    files: str
    sections: Mapping[str, str]


TOOLS: tuple[Tool, ...] = (
    Tool("ruff check .", r"\.?ruff\.toml", {"pyproject.toml": r"^\[tool\.ruff\b"}),
    Tool("mypy .", r"\.?mypy\.ini", {"pyproject.toml": r"^\[tool\.mypy\b", "setup.cfg": r"^\[mypy\b"}),
    Tool("eslint .", r"eslint\.config\.[cm]?[jt]s|\.eslintrc(\..+)?", {"package.json": r'"eslintConfig"\s*:'}),
    Tool("tsc --noEmit", r"tsconfig\.json", {}),
    Tool("go vet ./...", r"go\.mod", {}),
    Tool("cargo clippy --quiet --offline -- -D warnings", r"\.?clippy\.toml|Cargo\.toml", {}),
)
"""The known tools in the order in which they are run; a new one is one line here."""

FILES = tuple(sorted({name for tool in TOOLS for name in tool.sections}))
"""The files that are searched for such sections."""


def detected(paths: Collection[str], read: Read) -> tuple[str, ...]:
    """Return the commands of the tools that a repository with these `paths` configures in its top directory."""
    top = [path for path in paths if "/" not in path]
    return tuple(tool.command for tool in TOOLS if _is_used(tool, top, read))


def _is_used(tool: Tool, top: Collection[str], read: Read) -> bool:
    if any(re.fullmatch(tool.files, name) for name in top):
        return True
    found = ((read(name), section) for name, section in tool.sections.items() if name in top)
    return any(re.search(section, (text or b"").decode("utf-8", "replace"), re.MULTILINE) for text, section in found)


def loosened(changed: Iterable[str], planned: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each tool configuration that a change touches without the specification's permission."""
    names = "|".join(tool.files for tool in TOOLS)
    return tuple(
        f"{path}: the configuration of quality commands must stay as it is."
        for path in changed
        if path not in planned and re.fullmatch(names, PurePosixPath(path).name)
    )


def binding(base: Iterable[CommandResult]) -> tuple[str, ...]:
    """Return the commands that were clean on the base: only these are binding."""
    return tuple(ran.command for ran in base if ran.clean)


def noted(base: Sequence[CommandResult], head: Sequence[CommandResult]) -> dict[str, str]:
    """Map each command to its result on the head, for the note; a command that is not binding to that fact."""
    ended = {ran.command: ran.ending for ran in head}
    return {ran.command: ended.get(ran.command, NOT_BINDING) for ran in base}


def outputs(runs: Iterable[CommandResult]) -> str:
    """Return the output of the commands that are not clean, for a prompt."""
    return "\n\n".join(
        f"$ {ran.command}\n({ran.ending})\n{excerpt(printable(ran.output_tail).strip(), OUTPUT_BYTES)}"
        for ran in runs
        if not ran.clean
    )


def failures(runs: Iterable[CommandResult]) -> tuple[str, ...]:
    """Return a line for each command that is not clean, with the end of its output."""
    return tuple(f"`{ran.command}`: {ran.ending}: {_last_line(ran.output_tail)}" for ran in runs if not ran.clean)


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(printable(output).splitlines()) if line.strip()), "no output")
