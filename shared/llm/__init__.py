"""The registry of coding backends: adding one is one file with a `build`, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from shared.errors import Misconfigured
from shared.llm.port import Coder
from shared.llm.setup import Program, Setup

__all__ = ["BACKENDS", "Program", "Setup", "coder"]

BACKENDS = {
    "claude": "shared.llm.claude",
    "codex": "shared.llm.codex",
    "scripted": "shared.llm.scripted",
}
"""The module whose `build` makes each backend, by the word that stands for it in the configuration."""


def coder(name: str, setup: Setup) -> Coder:
    """The backend called `name`; raises `Misconfigured`, naming what exists, when there is none."""
    module = BACKENDS.get(name)
    if module is None:
        existing = ", ".join(sorted(BACKENDS))
        raise Misconfigured(f"There is no backend '{name}' in this version; llm_backend can be: {existing}.")
    build: Callable[[Setup], Coder] = import_module(module).build  # only the one that is used is loaded
    return build(setup)
