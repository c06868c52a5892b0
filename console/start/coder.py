"""Who codes: a backend with its key or login, found or asked for, and its program, found or fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from config.credentials import MissingCredentials
from config.environment import child_environment
from config.model_access import anthropic, openai
from config.settings import Settings
from console.install_cli import install
from console.start.draft import Draft
from console.start.printed_steps import show
from console.start.questions import Person, asked
from shared.errors import Misconfigured
from shared.llm.cli.programs import PACKAGES
from shared.llm.cli.version_choice import newest
from shared.llm.endpoint import Endpoint

ACCESS: Mapping[str, Callable[[Mapping[str, str]], Endpoint]] = {"claude": anthropic, "codex": openai}
"""In the order in which they are taken where a person has both."""

_KEYS: tuple[tuple[str, str, str], ...] = (
    ("sk-ant-oat", "claude", "CLAUDE_CODE_OAUTH_TOKEN"),
    ("sk-ant-", "claude", "ANTHROPIC_API_KEY"),
    ("sk-", "codex", "OPENAI_API_KEY"),
)
"""How keys begin, whose they are, and the variable that holds them."""

HOW_TO = (
    "There is no key of a model's vendor yet. One of these is needed:\n"
    "  a key of Anthropic (sk-ant-...) or of OpenAI (sk-...), from the vendor's console;\n"
    "  a Claude subscription: the token that `claude setup-token` prints (sk-ant-oat...);\n"
    "  a ChatGPT subscription: leave here, run `codex login`, and start again."
)


def chosen(
    draft: Draft, environment: Mapping[str, str], person: Person, wanted: str | None
) -> tuple[Draft, Mapping[str, str]]:
    """The backend in the draft, its key in the environment, its program on this machine.

    Raises `Misconfigured` where there is no key and nobody can be asked for one, `NotInstalled` without the program.
    """
    name = draft.settings(environment).repositories[0].llm_backend if draft.known else wanted
    if name is not None and name not in ACCESS:
        show(f"{name}: it follows a script, which needs no key and no program.")
        return draft.choosing(llm_backend=name), environment
    name, environment = _with_access(name, environment, person)
    draft = draft.choosing(llm_backend=name)
    anyio.run(_program, name, draft.settings(environment), environment)
    return draft, environment


def _with_access(wanted: str | None, environment: Mapping[str, str], person: Person) -> tuple[str, Mapping[str, str]]:
    for name in ACCESS if wanted is None else (wanted,):
        with suppress(MissingCredentials):
            endpoint = ACCESS[name](environment)
            show(f"{name}: there is {'a login' if endpoint.login else 'a key'} for it.")
            return name, environment
    show(HOW_TO)
    key = asked(person, "Paste the key (it is not shown)", lambda text: _wrong(text, wanted), secret=True)
    _, name, variable = next(row for row in _KEYS if key.startswith(row[0]))
    show(f"Used by this command alone and not kept: before you start agents yourself, export {variable}=...")
    return name, {**environment, variable: key}


def _wrong(key: str, wanted: str | None) -> str:
    if not key:
        return "Without a key nothing can be coded: set ANTHROPIC_API_KEY or OPENAI_API_KEY, and start again."
    row = next((row for row in _KEYS if key.startswith(row[0])), None)
    if row is None or not key.isascii() or " " in key:
        return "That is no key of Anthropic (sk-ant-...) or OpenAI (sk-...)."
    if wanted is not None and row[1] != wanted:
        return f"That key is for {row[1]}, and {wanted} was asked for."
    return ""


async def _program(name: str, settings: Settings, environment: Mapping[str, str]) -> None:
    """Say which program is used; fetch it where there is none."""
    command = {"claude": settings.claude_cli, "codex": settings.codex_cli}[name]
    try:
        path: Path = (await newest(name, command, settings.state_dir, child_environment(environment))).path
    except Misconfigured:
        if command != name:  # a path that a person has written
            raise
        show(f"Fetching {PACKAGES[name].requirement}, its vendor's own package, into {settings.state_dir} ...")
        path = await install(name, settings.state_dir.absolute(), environment)
    show(f"{name}: {path}")
