"""The coder of the demonstration: the scenario itself, or a real CLI at a scripted model or at its vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from config.engine import DEFAULT_STATE_DIR
from config.environment import child_environment
from config.loading import read, source
from lab.demo.model_script import script
from lab.demo.stories import Story, scenario
from lab.model_server import ModelServer
from shared.errors import Misconfigured, MissingCredentials
from shared.llm import BACKENDS, cli_spec
from shared.llm.backend import CliSpec
from shared.llm.cli.programs import newest
from shared.llm.endpoint import Endpoint
from shared.llm.scenario import Scenario

_STAND_IN = "no-key-is-needed-on-loopback"


@dataclass(frozen=True, slots=True)
class Playing:
    """The backend, its program, the variables by which its agents reach the model, and a sentence for the audience."""

    backend: str
    program: Path | None
    variables: Mapping[str, str]
    sentence: str
    paid: bool = False


def known_program(backend: str) -> CliSpec:
    """The program of a backend that is one and chooses its model; raises `Misconfigured` for every other word."""
    spec = cli_spec(backend)
    if spec is None or spec.needs_model:
        known = {name: cli_spec(name) for name in BACKENDS}
        played = [name for name, one in known.items() if one is None or not one.needs_model]
        words = sorted(played, key=lambda name: known[name] is not None)
        choice = f"{', '.join(words[:-1])} or {words[-1]}"
        problem = "there is no backend" if spec is None else "the demonstration has no model for the backend"
        raise Misconfigured(f"--llm: {problem} '{backend}'; choose {choice}.")
    return spec


@asynccontextmanager
async def playing(
    backend: str, stories: Sequence[Story], environment: Mapping[str, str], *, own_story: bool
) -> AsyncIterator[Playing]:
    """The coder for as long as the demonstration lasts; raises `Misconfigured`.

    With a key or a login in the environment it is the vendor's model, which costs money, and so it is with
    Codex's own login for an `own_story`; without, a scripted one on this machine, which knows no such story.
    """
    if backend == "scripted":
        yield Playing(backend, None, {}, "The coder follows a script; everything else is real.")
        return
    spec = known_program(backend)
    command, state = _configured_program(backend, environment)
    chosen = await newest(backend, command, state, child_environment(environment))
    path, instead = chosen.path, f" {chosen.sentence}" if chosen.sentence else ""
    access = _own_endpoint(spec, environment, own_story=own_story)
    if access is None:
        async with _scripted_model(backend, stories) as server:
            variables = {spec.keys[0]: _STAND_IN, spec.url: server.url}
            said = f"The coder is the real {path}, at a scripted model on {server.url}: no key, no cost.{instead}"
            yield Playing(backend, path, variables, said)
        return
    variables = {name: environment[name] for name in (*spec.keys, spec.url) if name in environment}
    if spec.login is not None and not spec.named(environment):
        variables[spec.login.variable] = str(spec.login.place(environment).parent)
    yield Playing(backend, path, variables, f"The coder is {path}, {_payment_phrase(spec, access)}{instead}", paid=True)


def _configured_program(backend: str, environment: Mapping[str, str]) -> tuple[str, Path]:
    """The command of the backend's program, and the state directory, as a configuration says it where there is one."""
    file = source(None, environment=environment)
    if file is None:
        return backend, DEFAULT_STATE_DIR.expanduser()
    settings = read(file, environment=environment)
    return settings.cli(backend), settings.state_dir


def _own_endpoint(spec: CliSpec, environment: Mapping[str, str], *, own_story: bool) -> Endpoint | None:
    """Return the endpoint of the person's environment, or None.

    A login that only lies on the machine counts for an `own_story` alone. An `own_story` without credentials raises
    `Misconfigured`.
    """
    try:
        access = spec.endpoint(environment)
    except MissingCredentials as error:
        if own_story:
            raise Misconfigured(f"A story of your own needs a model of your own. {error}") from None
        return None
    return access if own_story or spec.named(environment) else None


def _payment_phrase(spec: CliSpec, access: Endpoint) -> str:
    where = spec.company if access.base_url is None else access.base_url
    if access.login:
        return f"at {where}, by your subscription's login; {spec.not_enforced}."
    return f"at {where}, with the key of your environment: what that server charges is yours to pay."


@asynccontextmanager
async def _scripted_model(backend: str, stories: Sequence[Story]) -> AsyncIterator[ModelServer]:
    if len(stories) > 1:
        raise Misconfigured(f"The scripted model knows one story at a time: --llm {backend} without --stories.")
    async with ModelServer(script(Scenario.parse(scenario(stories)), backend)) as server:
        yield server
