"""Construction of coding backends: the program is found and checked, it gets its wrapper and its endpoint.

A run passes, from the outside: `BudgetedCoder` (reserved and settled), `RoleRouter` (backend, model and limits of its
role), `CircuitBreaker` (pauses, limits runs at once, an event), `Recorder` if runs are recorded, then `CliCoder` with
the dialect of its program, or `Scripted`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from config.environment import child_environment
from config.proxies import proxy_for
from runtime.building import confinement
from shared.errors import Misconfigured
from shared.llm import cli_backends, cli_spec, coder
from shared.llm.backend import CliSpec, Program, Setup
from shared.llm.circuit_breaker import Breaker, CircuitBreaker
from shared.llm.cli import directory
from shared.llm.cli.coder import CliCoder
from shared.llm.cli.launch import Launcher
from shared.llm.cli.programs import newest
from shared.llm.endpoint import Endpoints
from shared.llm.port import Coder, CoderCall
from shared.llm.prices import Price, Prices, Tokens
from shared.llm.proxy.api_protocols import OFFICIAL, Upstream
from shared.llm.proxy.server import ModelProxy
from shared.llm.proxy.vendor_tools import VendorTool
from shared.llm.recording import Recorder
from shared.llm.role_router import RoleOverride, RoleRouter, Rung
from shared.sandbox.confinement import Confinement
from shared.telemetry.events import EventKind

if TYPE_CHECKING:
    from pathlib import Path

    from config.repository import RepositorySettings
    from config.settings import Settings
    from runtime.building.process import Process

log = structlog.get_logger()


async def backend(process: Process, configured: RepositorySettings, tests: Confinement) -> Coder:
    """Return the router from roles to backends in one repository; raises `Misconfigured` for an unusable backend."""
    usual, settings = configured.llm_backend, process.settings
    built: dict[str, Coder] = {}
    asked = [own.backend for own in settings.roles.values()] + [rung.backend for rung in configured.ladder]
    for name in (usual, *asked):
        if name is not None and name not in built:
            built[name] = await _limited_backend(process, configured, name, tests)
    overrides: dict[str, RoleOverride] = {}
    for role, own in settings.roles.items():
        seconds = None if own.timeout_minutes is None else 60 * own.timeout_minutes
        other = built[own.backend] if own.backend else None
        overrides[role] = RoleOverride(other, own.model, own.max_turns, own.budget, seconds)
    ladder = tuple(Rung(built[one.backend] if one.backend else None, one.model) for one in configured.ladder)
    phases = {CoderCall(call): role for call, role in settings.phases.items()}
    return RoleRouter(built[usual], overrides, phases, built, process.choices[configured.name], ladder)


async def _limited_backend(process: Process, configured: RepositorySettings, name: str, tests: Confinement) -> Coder:
    """Return one backend with a limit of runs at once, and none while it is paused after failures."""
    settings = process.settings
    used = settings.state_dir / "scripted" if settings.llm.scenario else None
    spec = cli_spec(name)
    runs = await _program(process, name, spec, tests) if spec else None
    made = coder(name, Setup(process.clock, settings.llm.scenario, used, runs))
    if isinstance(made, CliCoder):
        await made.ready()
    if settings.llm.record is not None:
        about = {"repository": configured.name, "test_command": configured.test_command}
        made = Recorder(made, settings.llm.record, process.clock, process.outgoing.hide, about)
    breaker = process.breakers.setdefault(name, Breaker())
    tell = partial(process.telemetry.event_recorder(configured.name).tell, EventKind.LLM_CALL)
    return CircuitBreaker(made, breaker, process.clock, process.paid_runs, tell)


async def _program(process: Process, name: str, spec: CliSpec, tests: Confinement) -> Program:
    settings, state = process.settings, process.settings.state_dir
    environment = child_environment(process.environment)
    chosen = await newest(name, settings.cli(name), state, environment)
    if chosen.sentence:
        log.info("program_chosen", backend=name, sentence=chosen.sentence)
    calls = confinement.calls(settings)
    directory.sweep(calls, spared=_lent_logins(process))
    confined = await confinement.for_backends(tests, process.environment)
    if lacking := modelless(settings, name, spec):
        raise Misconfigured(lacking)
    confined = replace(
        confined,
        hidden=(*confined.hidden, confinement.environments(settings)),  # a call is shown its own one alone
        readable=(state / "cli", *confined.readable),
    )
    launcher = Launcher(confined, process.clock, environment, calls, state / "kept" / "calls")
    if name not in process.endpoints:
        process.endpoints[name] = endpoints(process, name, spec)
        if not spec.reports_cost and (models := unpriced(settings)):
            log.warning("models_without_price", backend=name, models=models, sentence=UNPRICED)
    model = settings.llm.models.get(name)
    return Program(chosen.path, launcher, process.endpoints[name], _prices(settings), model)


def modelless(settings: Settings, name: str, spec: CliSpec) -> str:
    """Return what is missing if a backend has no model of its own, and none is configured; else empty."""
    if not spec.needs_model or settings.llm.models.get(name):
        return ""
    return f"The {name} backend has no model of its own: name the server's one under `llm.models.{name}`."


def _lent_logins(process: Process) -> tuple[Path, ...]:
    """Return the copies of logins that calls have, after what killed calls had renewed is brought back."""
    found: list[Path] = []
    for login in (spec.login for spec in cli_backends().values() if spec.login is not None):
        place = login.place(process.environment)
        login.recover(place)
        found += [copy for copy in (login.lent(place),) if copy is not None]
    return tuple(found)


def endpoints(process: Process, name: str, spec: CliSpec) -> Endpoints:
    """Return the model proxy with the real key; with a subscription's login there is none, because it is no key."""
    own = spec.endpoint(process.environment)
    if own.login:
        reason = "a subscription's login cannot be kept from the CLI"
        log.warning("model_proxy_off", backend=name, reason=reason, not_enforced=spec.not_enforced)
        return spec.by_login(own)
    url = own.base_url or OFFICIAL[spec.protocol]
    upstream = Upstream(spec.protocol, url, own.token, proxy_for(url, process.environment))
    sockets = process.settings.state_dir / "sockets" if process.settings.sandbox == "bubblewrap" else None
    tools = frozenset(map(VendorTool, process.settings.llm.vendor_tools))
    return ModelProxy([upstream], _prices(process.settings), process.clock, sockets, tools)


UNPRICED = "Their price is not known: each run counts as `budgets.unknown_run`, until `prices` lists them."
"""The consequence for models that have no price."""


def unpriced(settings: Settings) -> list[str]:
    """Return the models without a listed price that roles ask of a backend which does not report its costs itself."""
    silent = {name for name, spec in cli_backends().items() if not spec.reports_cost}
    usual = {repository.llm_backend for repository in settings.repositories}
    named = {model for name, model in settings.llm.models.items() if name in silent & settings.backends()}
    asked = named | {
        role.model
        for role in settings.roles.values()
        if role.model is not None and silent & ({role.backend} if role.backend is not None else usual)
    }
    known = _prices(settings)
    return sorted(model for model in asked if known.cost(Tokens(model)) is None)


def _prices(settings: Settings) -> Prices:
    return Prices.listed({model: Price(**price.model_dump()) for model, price in settings.prices.items()})
