"""Quality commands: which ones a project has, which of them bind, and what they say (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from shared.text import excerpt, printable
from worker_agent.tdd.runners.runner import Read

OUTPUT_BYTES = 4000
"""How much of one command's output a prompt quotes."""

NOT_BINDING = "not clean on the base, so it does not bind"


@dataclass(frozen=True, slots=True)
class Tool:
    """A linter or type checker, the files by which a project configures it, and sections that do the same."""

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
"""In the order in which they are run; a new one is one line here."""

FILES = tuple(sorted({name for tool in TOOLS for name in tool.sections}))
"""The files whose sections are looked into."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How one command ended; `code` None: stopped, and `output_tail` says why and what it printed last."""

    command: str
    code: int | None
    output_tail: str = ""

    @property
    def clean(self) -> bool:
        """Whether it found nothing."""
        return self.code == 0

    @property
    def ending(self) -> str:
        """For notes and pull requests."""
        if self.clean:
            return "clean"
        return "stopped" if self.code is None else f"exit code {self.code}"


def detected(paths: Collection[str], read: Read) -> tuple[str, ...]:
    """The commands of the tools that a repository with these `paths` configures in its top directory."""
    top = [path for path in paths if "/" not in path]
    return tuple(tool.command for tool in TOOLS if _is_used(tool, top, read))


def _is_used(tool: Tool, top: Collection[str], read: Read) -> bool:
    if any(re.fullmatch(tool.files, name) for name in top):
        return True
    found = ((read(name), section) for name, section in tool.sections.items() if name in top)
    return any(re.search(section, (text or b"").decode("utf-8", "replace"), re.MULTILINE) for text, section in found)


def loosened(changed: Iterable[str], planned: Collection[str]) -> tuple[str, ...]:
    """A sentence for each configuration of such a tool that a change touches without the specification's word."""
    names = "|".join(tool.files for tool in TOOLS)
    return tuple(
        f"{path}: the configuration of quality commands must stay as it is."
        for path in changed
        if path not in planned and re.fullmatch(names, PurePosixPath(path).name)
    )


def binding(base: Iterable[Ran]) -> tuple[str, ...]:
    """The commands that were clean on the base: only these bind."""
    return tuple(ran.command for ran in base if ran.clean)


def noted(base: Sequence[Ran], head: Sequence[Ran]) -> dict[str, str]:
    """Command -> how it ended on the head, for the note; of those that do not bind, that."""
    ended = {ran.command: ran.ending for ran in head}
    return {ran.command: ended.get(ran.command, NOT_BINDING) for ran in base}


def told(runs: Iterable[Ran]) -> str:
    """What the commands that are not clean have printed, for a prompt."""
    shown = (f"$ {ran.command}\n({ran.ending})\n{_cut(ran.output_tail)}" for ran in runs if not ran.clean)
    return "\n\n".join(shown)


def failures(runs: Iterable[Ran]) -> tuple[str, ...]:
    """One line for each command that is not clean, with the end of what it printed."""
    return tuple(f"`{ran.command}`: {ran.ending}: {_last_line(ran.output_tail)}" for ran in runs if not ran.clean)


def _cut(output: str) -> str:
    return excerpt(printable(output).strip(), OUTPUT_BYTES)


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(printable(output).splitlines()) if line.strip()), "no output")
