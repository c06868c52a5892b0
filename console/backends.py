"""Where coding backends are built: the program found and looked at, its wrapper, its endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from config.environment import child_environment
from config.model_access import anthropic
from shared.llm import Program, Setup, coder
from shared.llm.bounded import Bounded
from shared.llm.cli import directory, wrap
from shared.llm.cli.coder import CliCoder
from shared.llm.cli.launch import Launcher
from shared.llm.cli.programs import PACKAGES, program
from shared.llm.endpoint import Fixed
from shared.llm.port import Coder

if TYPE_CHECKING:
    from config.repository import RepositorySettings
    from config.settings import Settings
    from console.assembly import Process


async def backend(process: Process, configured: RepositorySettings) -> Coder:
    """The coding backend of one repository, bounded; raises `Misconfigured` for one that cannot be used here."""
    settings, name = process.settings, configured.llm_backend
    used = settings.state_dir / "scripted" if settings.llm.scenario else None
    runs = await _program(process, name) if name in PACKAGES else None
    made = coder(name, Setup(process.clock, settings.llm.scenario, used, runs))
    if isinstance(made, CliCoder):
        await made.ready()
    return Bounded(made, process.paid_runs)


async def _program(process: Process, name: str) -> Program:
    settings, state = process.settings, process.settings.state_dir
    environment = child_environment(process.environment)
    command = {"claude": settings.claude_cli, "codex": settings.codex_cli}[name]
    path = program(name, command, state, environment["PATH"])
    calls = state / "calls"
    directory.sweep(calls)
    launcher = Launcher(
        wrap=await wrap.probe(environment),
        clock=process.clock,
        environment=environment,
        calls=calls,
        logs=state / "kept" / "calls",
        hidden=(state, *_secret_files(settings)),
        readable=(state / "cli",),
    )
    return Program(path, launcher, Fixed(anthropic(process.environment)))


def _secret_files(settings: Settings) -> tuple[Path, ...]:
    """Files of the engine's own that no backend has to read."""
    github = settings.github
    named = (github.token_file, github.reviewer_token_file, github.app.private_key_file if github.app else None)
    return (*(file for file in named if file is not None), *settings.lock.key_files)
