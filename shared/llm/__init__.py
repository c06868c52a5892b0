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
"""Name of each backend in the configuration -> the module whose `SPEC` describes it."""

PROGRAMS = tuple(name for name in BACKENDS if name != "scripted")
"""Names of the backends that are programs, for help texts."""


def _spec(name: str) -> BackendSpec:
    """Return the backend called `name`; raise `Misconfigured`, listing those that exist, if there is none."""
    if name not in BACKENDS:
        existing = ", ".join(sorted(BACKENDS))
        raise Misconfigured(f"There is no backend '{name}' in this version; llm_backend can be: {existing}.")
    spec: BackendSpec = import_module(BACKENDS[name]).SPEC  # only the one that is asked for is loaded
    return spec


def coder(name: str, setup: Setup) -> Coder:
    """Build the backend called `name`; raise `Misconfigured` if there is none or `setup` lacks what it needs."""
    return _spec(name).build(setup)


def cli_spec(name: str) -> CliSpec | None:
    """Return the description of the backend's program; None for a backend without one, or for no backend."""
    return _spec(name).cli if name in BACKENDS else None


def cli_backends() -> Mapping[str, CliSpec]:
    """Return all backends that are programs, in the order of preference if a person has several."""
    return {name: found for name in BACKENDS if (found := cli_spec(name)) is not None}


def secrets(environment: Mapping[str, str]) -> list[str]:
    """Return the keys and logins of every backend, which no log may show."""
    return [secret for spec in cli_backends().values() for secret in spec.secrets(environment)]
