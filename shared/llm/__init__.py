"""The registry of coding backends: adding one is one file with a `SPEC`, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from shared.errors import Misconfigured

if TYPE_CHECKING:
    from shared.llm.backend import BackendSpec, CliSpec, Setup
    from shared.llm.port import Coder

BACKENDS = {
    "claude": "shared.llm.claude",
    "codex": "shared.llm.codex",
    "qwen": "shared.llm.qwen",
    "mini": "shared.llm.mini",
    "scripted": "shared.llm.scripted",
}
"""The module whose `SPEC` describes each backend, by the word that stands for it in the configuration."""


def _spec(name: str) -> BackendSpec:
    """The backend called `name`; raises `Misconfigured`, naming what exists, when there is none."""
    if name not in BACKENDS:
        existing = ", ".join(sorted(BACKENDS))
        raise Misconfigured(f"There is no backend '{name}' in this version; llm_backend can be: {existing}.")
    spec: BackendSpec = import_module(BACKENDS[name]).SPEC  # only the one that is asked for is loaded
    return spec


def coder(name: str, setup: Setup) -> Coder:
    """The backend called `name`; raises `Misconfigured` when there is none or `setup` lacks what it needs."""
    return _spec(name).build(setup)


def cli_spec(name: str) -> CliSpec | None:
    """What is known of the program of the backend `name`; None for one without, or for no backend."""
    return _spec(name).cli if name in BACKENDS else None


def cli_backends() -> Mapping[str, CliSpec]:
    """All backends that are programs, in the order in which they are taken where a person has several."""
    return {name: found for name in BACKENDS if (found := cli_spec(name)) is not None}


def secrets(environment: Mapping[str, str]) -> list[str]:
    """The keys and logins of every backend, which no log may show."""
    return [secret for spec in cli_backends().values() for secret in spec.secrets(environment)]
