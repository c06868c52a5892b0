"""Programs that the engine runs beside git: coding backends and the sandbox."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from config.environment import child_environment
from console.doctor.finding import Finding, Machine, failed, passed, skipped, warned
from console.manual import link
from runtime.building.backends import UNPRICED, modelless, unpriced
from shared.errors import Misconfigured, MissingCredentials
from shared.llm import cli_backends
from shared.llm.backend import CliSpec, Probe
from shared.llm.cli.launch import Launcher
from shared.llm.cli.programs import newest
from shared.process import Finished
from shared.sandbox import cgroup, self_test
from shared.sandbox.confinement import Confinement, Isolation, Wrap

SANDBOX_MODES = "docs/security.md#sandbox-modes"
SIGNING_IN = "docs/backends.md#installing-and-signing-in"
PRICES = "docs/configuration.md#pricesname"
LIST = "shared/llm/prices.yml"

PROGRAM_SECONDS = 30.0
"""Seconds that a program may take to tell its version or to start nothing."""


async def coding_backends(machine: Machine) -> Sequence[Finding]:
    """Report whether the configured coding backends exist, and can be bounded and kept out of a repository's files."""
    settings = machine.settings
    wanted, specs = settings.backends(), cli_backends()
    findings: list[Finding] = []
    for name, spec in specs.items():
        if name in wanted:
            findings.append(await _backend(machine, name, spec))
        else:
            step = f"Nothing has to be done; `llm_backend: {name}` in a repository's entry would use it."
            findings.append(skipped(name, "It is not configured.", step))
    if models := unpriced(settings):
        step = f"Add them to `prices` ({link(PRICES)}), or give the roles a model that has a price: {link(LIST)}"
        findings.append(warned("model prices", f"{', '.join(models)}: {UNPRICED}", step))
    keyed = [name for name in specs if name in wanted]
    return [*findings, model_key(machine.environment, keyed)] if keyed else findings


def _installing(machine: Machine, name: str) -> str:
    """Return how to get the program: what `install-cli` installs is used only where no path is configured."""
    install = f"`{machine.command(f'install-cli {name}')}`"
    if machine.settings.cli(name) == name:
        return f"Run {install}, or name the path of another program in {name}_cli."
    return f"Name the path of another program in {name}_cli, or take that key out and run {install}."


async def _backend(machine: Machine, name: str, spec: CliSpec) -> Finding:
    command = machine.settings.cli(name)
    environment = child_environment(machine.environment)
    step = _installing(machine, name)
    try:
        chosen = await newest(name, command, machine.settings.state_dir, environment)
        with anyio.fail_after(PROGRAM_SECONDS):
            probe = Probe(chosen.path, machine.environment, environment, lambda: _launcher(machine, environment))
            found = await spec.probe(probe)
    except Misconfigured as error:
        return failed(name, str(error), step)
    except TimeoutError:
        return failed(name, f"{command} did not say what it is within {PROGRAM_SECONDS:.0f} s.", step)
    if lacking := modelless(machine.settings, name, spec):
        return failed(name, lacking, f"Write it as in `llm: {{models: {{{name}: MODEL}}}}`.")
    sentence = f"{found.sentence} {chosen.sentence}".strip()
    return warned(name, sentence, found.step) if found.step else passed(name, sentence)


@asynccontextmanager
async def _launcher(machine: Machine, environment: Mapping[str, str]) -> AsyncIterator[Launcher]:
    """Yield the launcher that starts a backend's program as a call would, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="workflow-engine-") as scratch:
        settings, place = machine.settings, Path(scratch)
        tests = await self_test.wrapper(settings.sandbox, environment, settings.work_dir)
        held = await self_test.for_backends(tests, environment)
        confined = Confinement(held, readable=(settings.state_dir / "cli",))
        yield Launcher(confined, machine.clock, environment, place, place)


def model_key(environment: Mapping[str, str], backends: Sequence[str]) -> Finding:
    """Report whether there are credentials for the models' vendors; they are not tried, because that may cost."""
    specs = {name: spec for name, spec in cli_backends().items() if name in backends}
    try:
        found = {name: spec.endpoint(environment) for name, spec in specs.items()}
    except (MissingCredentials, Misconfigured) as error:
        step = f"Export it where the agents are started, or use a login: {link(SIGNING_IN)}"
        return failed("model key", str(error), step)
    kinds = (f"{'a login' if endpoint.login else 'a key'} for {name}" for name, endpoint in found.items())
    sentence = f"There is {' and '.join(kinds)}; it was not tried."
    held = {name: endpoint for name, endpoint in found.items() if endpoint.login}
    for name, endpoint in held.items():
        login = specs[name].login
        if login is not None and endpoint.file is not None and (refusal := login.refusal(endpoint.file)):
            return failed("model key", refusal, "Let this account write there: its Codex has to, too.")
    if not held:
        return passed("model key", sentence)
    missing = " ".join(f"With a login for {name}, {specs[name].not_enforced}." for name in held)
    return warned("model key", f"{sentence} {missing}", "Set a key: then the model proxy enforces it.")


async def sandbox(machine: Machine) -> Sequence[Finding]:
    """Report whether the configured sandbox starts on this machine."""
    mode = machine.settings.sandbox
    if mode == "none":
        sentence = "Switched off: tests and coding backends run with this account's rights."
        return [warned("sandbox", sentence, "Use a machine or a container that was made for the engine.")]
    environment = child_environment(machine.environment)
    held = passed("limits", cgroup.limits_text(cgroup.delegated()))
    if mode == "bubblewrap":
        return [sandbox_finding(await self_test.tried(Wrap(Isolation.SANDBOX), environment)), held]
    try:
        await self_test.wrapper(mode, environment, machine.settings.work_dir)
    except Misconfigured as error:
        return [failed("sandbox", str(error), f"Do that, or choose another mode: {link(SANDBOX_MODES)}")]
    return [passed("sandbox", f"Children run as the account '{self_test.OS_USER}'."), held]


def sandbox_finding(answer: Finished | str) -> Finding:
    """Judge how `bwrap` ended (a text: why it does not run), and name the setting to change."""
    if refused := self_test.diagnosis(answer):
        return failed("sandbox", *refused)
    return passed("sandbox", "bubblewrap starts with namespaces and a /proc of its own.")
