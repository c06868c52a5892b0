"""Programs that the engine runs beside git: coding backends and the sandbox."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio

from config.credentials import MissingCredentials
from config.environment import child_environment
from config.model_access import anthropic, openai
from console.doctor.context import Machine
from console.doctor.finding import Finding, failed, passed, skipped, warned
from runtime.building.backends import UNPRICED, unpriced
from runtime.building.logins import NOT_ENFORCED
from shared.errors import Misconfigured
from shared.llm.claude import Claude
from shared.llm.cli.launch import Launcher
from shared.llm.cli.version_choice import newest
from shared.llm.codex import dialect
from shared.llm.codex_login_lease import unwritable
from shared.llm.prices import Prices
from shared.process import Finished
from shared.sandbox import cgroup, self_test
from shared.sandbox.wrap import Kind, Wrap

PROGRAM_SECONDS = 30.0
"""How long a program may take to tell its version or to start nothing."""


async def coding_backends(machine: Machine) -> Sequence[Finding]:
    """Whether the configured coding backends are there, and can be bounded and kept apart from a repository's files."""
    settings = machine.settings
    wanted = {repository.llm_backend for repository in settings.repositories}
    wanted |= {role.backend for role in settings.roles.values() if role.backend is not None}
    findings: list[Finding] = []
    for name, command in (("claude", settings.claude_cli), ("codex", settings.codex_cli)):
        if name in wanted:
            findings.append(await _backend(machine, name, command))
        else:
            findings.append(skipped(name, "It is not configured."))
    if "codex" in wanted and (models := unpriced(settings)):
        step = "Add them to `prices`, or give the roles a model of the list in shared/llm/prices.yml."
        findings.append(warned("model prices", f"{', '.join(models)}: {UNPRICED}", step))
    keyed = [name for name in _ACCESS if name in wanted]
    return [*findings, model_key(machine.environment, keyed)] if keyed else findings


async def _backend(machine: Machine, name: str, command: str) -> Finding:
    environment = child_environment(machine.environment)
    step = f"workflow-engine install-cli {name}, or the path of another program in {name}_cli."
    try:
        chosen = await newest(name, command, machine.settings.state_dir, environment)
        with anyio.fail_after(PROGRAM_SECONDS):
            finding = await _LOOKS[name](machine, chosen.path, environment)
            return replace(finding, sentence=f"{finding.sentence} {chosen.sentence}".strip())
    except Misconfigured as error:
        return failed(name, str(error), step)
    except TimeoutError:
        return failed(name, f"{command} did not say what it is within {PROGRAM_SECONDS:.0f} s.", step)


async def _claude(machine: Machine, path: Path, environment: Mapping[str, str]) -> Finding:
    """What the adapter itself asks before its first call."""
    claude = Claude(path, {**environment, "HOME": machine.environment.get("HOME", "/")})
    await claude.ready()
    if "--restricted" not in claude.flags:
        step = "Upgrade Claude Code: a version with --restricted keeps more of a repository's own settings out."
        return warned("claude", f"{path} {claude.version} has no --restricted.", step)
    return passed("claude", f"{path} {claude.version}.")


async def _codex(machine: Machine, path: Path, environment: Mapping[str, str]) -> Finding:
    """The same; its sandbox is started once, around nothing."""
    with tempfile.TemporaryDirectory(prefix="workflow-engine-") as scratch:
        settings, place = machine.settings, Path(scratch)
        tests = await self_test.wrapper(settings.sandbox, environment, settings.work_dir)
        held = await self_test.for_backends(tests, environment)
        launcher = Launcher(held, machine.clock, environment, place, place, readable=(settings.state_dir / "cli",))
        codex = dialect(path, launcher, Prices({}), login=_login(machine.environment))
        await codex.ready()
    return passed("codex", f"{codex.program} {codex.version}, and its sandbox starts.")


def _login(environment: Mapping[str, str]) -> Path | None:
    """The file of the login that Codex would be lent, which its tools must not read; `model_key` tells of a bad one."""
    with suppress(MissingCredentials, Misconfigured):
        return openai(environment).file
    return None


_LOOKS = {"claude": _claude, "codex": _codex}

_ACCESS = {"claude": anthropic, "codex": openai}


def model_key(environment: Mapping[str, str], backends: Sequence[str]) -> Finding:
    """Whether there is something to sign in with at the models' vendors; it is not tried, because that may cost."""
    try:
        found = {name: _ACCESS[name](environment) for name in backends}
    except (MissingCredentials, Misconfigured) as error:
        return failed("model key", str(error), "Set it.")
    kinds = (f"{'a login' if endpoint.login else 'a key'} for {name}" for name, endpoint in found.items())
    sentence = f"There is {' and '.join(kinds)}; it was not tried."
    held = {name: endpoint for name, endpoint in found.items() if endpoint.login}
    for endpoint in held.values():
        if endpoint.file is not None and (refusal := unwritable(endpoint.file)):
            return failed("model key", refusal, "Let this account write there: its Codex has to, too.")
    if not held:
        return passed("model key", sentence)
    missing = " ".join(f"With a login for {name}, {NOT_ENFORCED[name]}." for name in held)
    return warned("model key", f"{sentence} {missing}", "Set a key: then the model proxy enforces it.")


async def sandbox(machine: Machine) -> Sequence[Finding]:
    """Whether the configured sandbox starts on this machine."""
    mode = machine.settings.sandbox
    if mode == "none":
        sentence = "Switched off: tests and coding backends run with this account's rights."
        return [warned("sandbox", sentence, "Use a machine or a container that was made for the engine.")]
    environment = child_environment(machine.environment)
    held = passed("limits", cgroup.told(cgroup.delegated()))
    if mode == "bubblewrap":
        return [sandbox_finding(await self_test.tried(Wrap(Kind.SEALED), environment)), held]
    try:
        await self_test.wrapper(mode, environment, machine.settings.work_dir)
    except Misconfigured as error:
        return [failed("sandbox", str(error), "See docs/security.md, or choose another mode.")]
    return [passed("sandbox", f"Children run as the account '{self_test.ACCOUNT}'."), held]


def sandbox_finding(answer: Finished | str) -> Finding:
    """How `bwrap` ended (a text: why it does not run), judged, with the setting to change."""
    if refused := self_test.diagnosis(answer):
        return failed("sandbox", *refused)
    return passed("sandbox", "bubblewrap starts with namespaces and a /proc of its own.")
