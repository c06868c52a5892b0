"""The coding backend of `start`: its key or login, found or asked for, and its program, found or fetched."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from config.environment import child_environment
from config.settings import Settings
from console.install_cli import install
from console.start.draft import Draft
from console.start.questions import Nobody, NotReady, Person, ask
from runtime.output import show
from shared.errors import Misconfigured, MissingCredentials
from shared.llm import cli_backends
from shared.llm.backend import CliSpec
from shared.llm.cli.programs import newest


def chosen(
    draft: Draft, environment: Mapping[str, str], person: Person, backend: str | None
) -> tuple[Draft, Mapping[str, str]]:
    """The backend in the draft, its key in the environment, its program on this machine.

    Raises `NotReady` where there is no key and nobody can be asked for one, `NotInstalled` without the program.
    """
    name = draft.settings(environment).repositories[0].llm_backend if draft.known else backend
    if name is not None and name not in cli_backends():
        show(f"{name}: it follows a script, which needs no key and no program.")
        return draft.choosing(llm_backend=name), environment
    name, environment = _find_access(name, environment, person)
    draft = draft.choosing(llm_backend=name)
    anyio.run(_find_program, name, draft.settings(environment), environment)
    return draft, environment


def _find_access(backend: str | None, environment: Mapping[str, str], person: Person) -> tuple[str, Mapping[str, str]]:
    specs = cli_backends()
    for name in specs if backend is None else (backend,):
        if specs[name].needs_model and backend is None:
            continue  # nobody has said which model of which server
        with suppress(MissingCredentials):
            endpoint = specs[name].endpoint(environment)
            show(f"{name}: there is {'a login' if endpoint.login else 'a key'} for it.")
            return name, environment
    if backend is not None and not specs[backend].beginnings:
        raise NotReady(f"Nothing can be coded: set {specs[backend].keys[0]} and {specs[backend].url}, and start again.")
    show(how_to())
    if isinstance(person, Nobody):
        raise NotReady(_fault_of_key("", backend))
    question = "Paste the key (it is not shown)"
    key = ask(person, question, lambda text: _fault_of_key(text, backend), secret=True, otherwise=NotReady)
    _, name, variable = next(row for row in _keys() if key.startswith(row[0]))
    show(f"Used by this command alone and not kept: before you start agents yourself, export {variable}=...")
    return name, {**environment, variable: key}


def _fault_of_key(key: str, backend: str | None) -> str:
    if not key:
        variables = " or ".join(spec.keys[0] for name, spec in _of_vendors() if backend in {None, name})
        return f"Without a key nothing can be coded: set {variables}, and start again."
    row = next((row for row in _keys() if key.startswith(row[0])), None)
    if row is None or not key.isascii() or " " in key:
        return f"That is no key of {_shapes(' or ')}."
    if backend is not None and row[1] != backend:
        return f"That key is for {row[1]}, and {backend} was asked for."
    return ""


async def _find_program(name: str, settings: Settings, environment: Mapping[str, str]) -> None:
    """Say which program is used; fetch it where there is none."""
    command = settings.cli(name)
    try:
        path: Path = (await newest(name, command, settings.state_dir, child_environment(environment))).path
    except Misconfigured:
        if command != name:  # a path that a person has written
            raise
        package = cli_backends()[name].package.requirement
        show(f"Fetching {package}, its vendor's own package, into {settings.state_dir} ...")
        path = await install(name, settings.state_dir.absolute(), environment)
    show(f"{name}: {path}")


BY_PATH = '"$(workflow-engine install-cli codex)" login'
"""Command that signs in with a program that only `install-cli` has: it prints the path, and nothing else."""


def how_to() -> str:
    """The ways to a model, one a line."""
    ways = [spec.subscription for _, spec in _of_vendors()]
    ways.insert(0, f"a key of {_shapes(' or of ')}, from the vendor's console")
    needed = "There is no key of a model's vendor yet. One of these is needed:\n  " + ";\n  ".join(ways)
    return f"{needed}.\nWithout such a program on PATH it is fetched and called in one: {BY_PATH}"


def _shapes(between: str) -> str:
    return between.join(f"{spec.company} ({spec.key_shape})" for _, spec in _of_vendors())


def _of_vendors() -> list[tuple[str, CliSpec]]:
    """The backends of one vendor each, whose keys can be told apart."""
    return [(name, spec) for name, spec in cli_backends().items() if spec.beginnings]


def _keys() -> list[tuple[str, str, str]]:
    """Return beginnings of keys, their backend, and the variable that holds them; the longest beginning first."""
    rows = [(first, name, key) for name, spec in cli_backends().items() for first, key in spec.beginnings.items()]
    return sorted(rows, key=lambda row: -len(row[0]))
