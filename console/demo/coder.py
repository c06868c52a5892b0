"""Which coder plays in the demonstration: the scenario itself, or a real CLI at a scripted model or at its vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from config.credentials import MissingCredentials
from config.environment import child_environment
from config.loading import read, source
from config.model_access import anthropic, login_file, openai
from config.settings import DEFAULT_STATE_DIR
from lab.demo.model_script import script
from lab.demo.stories import Story, scenario
from lab.model_server import ModelServer
from runtime.building.logins import NOT_ENFORCED
from shared.errors import Misconfigured
from shared.llm.cli.programs import PACKAGES
from shared.llm.cli.version_choice import newest
from shared.llm.endpoint import Endpoint
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

    With a key or a login in the environment it is the vendor's model, which costs money, and so it is with
    Codex's own login for an `own` story; without, a scripted one on this machine, which knows no `own` story.
    """
    if backend == "scripted":
        yield Playing(backend, None, {}, "The coder follows a script; everything else is real.")
        return
    if backend not in PACKAGES:
        raise Misconfigured(f"--llm: there is no backend '{backend}'; choose scripted, claude or codex.")
    command, state = _configured(backend, environment)
    chosen = await newest(backend, command, state, child_environment(environment))
    path, instead = chosen.path, f" {chosen.sentence}" if chosen.sentence else ""
    access = _access(backend, environment, own=own)
    if access is None:
        async with _scripted(backend, told) as server:
            known = dict.fromkeys(_VARIABLES[backend][:1], _STAND_IN) | {_VARIABLES[backend][2]: server.url}
            said = f"The coder is the real {path}, at a scripted model on {server.url}: no key, no cost.{instead}"
            yield Playing(backend, path, known, said)
        return
    known = {name: environment[name] for name in _VARIABLES[backend] if name in environment}
    if not _named(backend, environment):
        known["CODEX_HOME"] = str(login_file(environment).parent)
    yield Playing(backend, path, known, f"The coder is {path}, {_with(backend, access)}{instead}", paid=True)


def _configured(backend: str, environment: Mapping[str, str]) -> tuple[str, Path]:
    """`claude_cli` or `codex_cli`, and the state directory, as a configuration says it where there is one."""
    file = source(None, environment=environment)
    if file is None:
        return backend, DEFAULT_STATE_DIR.expanduser()
    settings = read(file, environment=environment)
    return {"claude": settings.claude_cli, "codex": settings.codex_cli}[backend], settings.state_dir


def _access(backend: str, environment: Mapping[str, str], *, own: bool) -> Endpoint | None:
    """What the person's environment leads to; a login that only lies on the machine is for an `own` story alone."""
    try:
        access = _ACCESS[backend](environment)
    except MissingCredentials as error:
        if own:
            raise Misconfigured(f"A story of your own needs a model of your own. {error}") from None
        return None
    return access if own or _named(backend, environment) else None


def _named(backend: str, environment: Mapping[str, str]) -> bool:
    """Whether a key or a login stands in the environment itself."""
    return any(environment.get(name, "").strip() for name in _VARIABLES[backend][:2])


def _with(backend: str, access: Endpoint) -> str:
    """Where the model is and what pays for it."""
    where = _VENDOR[backend] if access.base_url is None else access.base_url
    if access.login:
        return f"at {where}, by your subscription's login; {NOT_ENFORCED[backend]}."
    return f"at {where}, with the key of your environment: what that server charges is yours to pay."


@asynccontextmanager
async def _scripted(backend: str, told: Sequence[Story]) -> AsyncIterator[ModelServer]:
    if len(told) > 1:
        raise Misconfigured(f"The scripted model knows one story at a time: --llm {backend} without --stories.")
    async with ModelServer(script(Scenario.parse(scenario(told)), backend)) as server:
        yield server
