"""Programs that the engine runs beside git: coding backends and the sandbox."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from config.credentials import MissingCredentials
from config.environment import child_environment
from config.model_access import anthropic
from console.doctor.finding import Finding, failed, passed, skipped, warned
from console.doctor.patient import Machine
from shared import process
from shared.errors import Misconfigured
from shared.llm.cli.programs import program
from shared.process import Finished

PROGRAM_SECONDS = 30.0
"""How long a program may take to tell its version or to start nothing."""

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")

_BWRAP = ("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
"""What the sandbox asks of this machine, with nothing in it."""


async def coding_backends(machine: Machine) -> Sequence[Finding]:
    """Whether the configured coding backends are there, and new enough to be kept apart from a repository's files."""
    settings = machine.settings
    wanted = {repository.llm_backend for repository in settings.repositories}
    wanted |= {role.backend for role in settings.roles.values() if role.backend is not None}
    findings: list[Finding] = []
    for name, command in (("claude", settings.claude_cli), ("codex", settings.codex_cli)):
        if name in wanted:
            findings.append(await _backend(machine, name, command))
        else:
            findings.append(skipped(name, "It is not configured."))
    return [*findings, model_key(machine.environment)] if "claude" in wanted else findings


async def _backend(machine: Machine, name: str, command: str) -> Finding:
    search_path = child_environment(machine.environment)["PATH"]
    try:
        path = str(program(name, command, machine.settings.state_dir, search_path))
    except Misconfigured as error:
        return failed(name, str(error), f"workflow-engine install-cli {name}")
    version = await _said(machine, path, "--version")
    described = await _said(machine, path, "--help") if name == "claude" else version
    return backend_finding(name, path, version, described)


def model_key(environment: Mapping[str, str]) -> Finding:
    """Whether there is something to sign in with at the model's vendor; it is not tried, because that may cost."""
    try:
        endpoint = anthropic(environment)
    except MissingCredentials as error:
        return failed("model key", str(error), "Set one of them.")
    return passed("model key", f"There is {'a login' if endpoint.login else 'a key'} for claude; it was not tried.")


def backend_finding(name: str, command: str, version: Finished | str, described: Finished | str) -> Finding:
    """What a backend's command answers to `--version` and `--help` (a text: why it does not run), judged."""
    step = f"Install it, or give its path in {name}_cli."
    for answer in (version, described):
        if isinstance(answer, str):
            return failed(name, f"{command} does not run: {answer}.", step)
        if answer.code != 0:
            return failed(name, f"{command} does not tell its version (exit code {answer.code}).", step)
    number = _VERSION.search(version.text) if isinstance(version, Finished) else None
    if number is None:
        return failed(name, f"{command} is not {name}: it does not tell a version.", step)
    if name == "claude" and isinstance(described, Finished) and b"--restricted" not in described.stdout:
        step = "Upgrade Claude Code: a version with --restricted keeps more of a repository's own settings out."
        return warned(name, f"{command} {number[0]} has no --restricted.", step)
    return passed(name, f"{command} {number[0]}.")


async def sandbox(machine: Machine) -> Sequence[Finding]:
    """Whether the configured sandbox starts on this machine."""
    match machine.settings.sandbox:
        case "none":
            sentence = "Switched off: tests and coding backends run with this account's rights."
            return [warned("sandbox", sentence, "Use a machine or a container that was made for the engine.")]
        case "container":
            return [skipped("sandbox", "The container is the platform's; nothing is tried here.")]
        case "bubblewrap":
            return [sandbox_finding(await _said(machine, *_BWRAP, "true"))]


def sandbox_finding(answer: Finished | str) -> Finding:
    """How `bwrap` ended (a text: why it does not run), judged, with the setting to change."""
    if isinstance(answer, str):
        return failed(
            "sandbox", f"bwrap does not run: {answer}.", "Install bubblewrap (Debian: apt install bubblewrap)."
        )
    if answer.code == 0:
        return passed("sandbox", "bubblewrap starts with namespaces and a /proc of its own.")
    said = answer.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it says nothing"]
    return failed("sandbox", f"bubblewrap does not start: {said[0]}", _setting(said[0]))


def _setting(said: str) -> str:
    """Which setting of the machine or the container keeps bubblewrap from starting."""
    if "/proc" in said or "mount proc" in said:
        return (
            "/proc is masked. Docker: --security-opt systempaths=unconfined; Kubernetes: securityContext.procMount: "
            "Unmasked; systemd: ProtectKernelTunables=no."
        )
    if "loopback" in said or "NETLINK" in said:
        return "Docker: --security-opt seccomp=unconfined; systemd: RestrictAddressFamilies= must contain AF_NETLINK."
    return (
        "User namespaces are off. Linux: sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000 "
        "kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt seccomp=unconfined --security-opt "
        "apparmor=unconfined; systemd: RestrictNamespaces=no."
    )


async def _said(machine: Machine, *argv: str) -> Finished | str:
    """How a program ended, or why it does not run."""
    env = child_environment(machine.environment) | {"HOME": machine.environment.get("HOME", "/")}
    try:
        with anyio.fail_after(PROGRAM_SECONDS):
            return await process.run(argv, cwd=Path("/"), env=env)
    except FileNotFoundError:
        return "it is not on PATH"
    except PermissionError:
        return "it is not executable"
    except OSError as error:
        return str(error.strerror or error)
    except TimeoutError:
        return f"it did not end within {PROGRAM_SECONDS:.0f} s"
