"""Which coder plays in the demonstration: the scenario itself, or a real CLI at a scripted model or at its vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from config.credentials import MissingCredentials
from config.environment import child_environment
from config.model_access import anthropic, openai
from config.settings import DEFAULT_STATE_DIR
from lab.demo.model_script import script
from lab.demo.stories import Story, scenario
from lab.model_server import ModelServer
from shared.errors import Misconfigured
from shared.llm.cli.programs import PACKAGES, program
from shared.llm.scenario import Scenario

_ACCESS = {"claude": anthropic, "codex": openai}
_VENDOR = {"claude": "Anthropic", "codex": "OpenAI"}
_VARIABLES = {
    "claude": ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    "codex": ("OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"),
}
_STAND_IN = "no-key-is-needed-on-loopback"


@dataclass(frozen=True, slots=True)
class Playing:
    """The backend, its program, the variables by which its agents reach the model, and a sentence for the audience."""

    backend: str
    program: Path | None
    variables: Mapping[str, str]
    sentence: str
    paid: bool = False


@asynccontextmanager
async def playing(
    backend: str, told: Sequence[Story], environment: Mapping[str, str], *, own: bool
) -> AsyncIterator[Playing]:
    """The coder for as long as the demonstration lasts; raises `Misconfigured`.

    With a key or a login in the environment it is the vendor's model, which costs money; without, a
    scripted one on this machine, which knows the stories of the demonstration and no `own` one.
    """
    if backend == "scripted":
        yield Playing(backend, None, {}, "The coder follows a script; everything else is real.")
        return
    if backend not in PACKAGES:
        raise Misconfigured(f"--llm: there is no backend '{backend}'; choose scripted, claude or codex.")
    state = DEFAULT_STATE_DIR.expanduser()
    path = program(backend, backend, state, child_environment(environment)["PATH"])
    try:
        _ACCESS[backend](environment)
    except MissingCredentials as error:
        if own:
            raise Misconfigured(f"A story of your own needs a model of your own. {error}") from None
        async with _scripted(backend, told) as server:
            known = dict.fromkeys(_VARIABLES[backend][:1], _STAND_IN) | {_VARIABLES[backend][2]: server.url}
            said = f"The coder is the real {path}, at a scripted model on {server.url}: no key, no cost."
            yield Playing(backend, path, known, said)
        return
    known = {name: environment[name] for name in _VARIABLES[backend] if name in environment}
    where = known.get(_VARIABLES[backend][2]) or _VENDOR[backend]
    said = f"The coder is {path}, at {where}, with the key or login of your environment: this costs money."
    yield Playing(backend, path, known, said, paid=True)


@asynccontextmanager
async def _scripted(backend: str, told: Sequence[Story]) -> AsyncIterator[ModelServer]:
    if len(told) > 1:
        raise Misconfigured(f"The scripted model knows one story at a time: --llm {backend} without --stories.")
    async with ModelServer(script(Scenario.parse(scenario(told)), backend)) as server:
        yield server
