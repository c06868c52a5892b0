"""The registry of coding backends: adding one is one file with a `build`, and one line here."""

from __future__ import annotations

from collections.abc import Callable

from shared.errors import Misconfigured
from shared.llm import claude, codex, scripted
from shared.llm.port import Coder
from shared.llm.setup import Program, Setup

__all__ = ["BACKENDS", "Program", "Setup", "coder"]

BACKENDS: dict[str, Callable[[Setup], Coder]] = {
    "claude": claude.build,
    "codex": codex.build,
    "scripted": scripted.build,
}
"""How to build each backend, by the word that stands for it in the configuration."""


def coder(name: str, setup: Setup) -> Coder:
    """The backend called `name`; raises `Misconfigured`, naming what exists, when there is none."""
    build = BACKENDS.get(name)
    if build is None:
        existing = ", ".join(sorted(BACKENDS))
        raise Misconfigured(f"There is no backend '{name}' in this version; llm_backend can be: {existing}.")
    return build(setup)
