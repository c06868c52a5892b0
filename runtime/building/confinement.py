"""The sandbox of one process: its mode tried on this machine, with the configured limits and toolchains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from config.environment import child_environment
from config.settings import Settings
from shared.sandbox import cgroup, self_test
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import GIB, ProcessLimits


async def confinement(settings: Settings, environment: Mapping[str, str]) -> Confinement:
    """Return how tests are confined; raises `Misconfigured` with the setting to change if the mode does not work."""
    known = child_environment(environment)
    wrap = await self_test.wrapper(settings.sandbox, known, settings.work_dir)
    hidden = (settings.state_dir, *secret_files(settings))
    found = cgroup.taken()
    groups = found if isinstance(found, cgroup.Delegated) else None
    return Confinement(wrap, limits(settings), settings.sandbox_readable, hidden, groups)


async def for_backends(tests: Confinement, environment: Mapping[str, str]) -> Confinement:
    """Return the same for coding CLIs, which see less of the state directory and are held together in every mode."""
    return replace(tests, wrap=await self_test.for_backends(tests.wrap, child_environment(environment)))


def limits(settings: Settings) -> ProcessLimits:
    """Return the configured limits in bytes and seconds."""
    one = settings.sandbox_limits
    return ProcessLimits(
        memory_bytes=int(one.memory_gib * GIB),
        processes=one.processes,
        disk_bytes=int(one.disk_gib * GIB),
        files=one.files,
        cpu_seconds=60 * one.cpu_minutes,
    )


def environments(settings: Settings) -> Path:
    """Return the place of set-up results: in the state directory, unless another account has to reach them."""
    return (settings.work_dir if settings.sandbox == "container" else settings.state_dir) / "env"


def calls(settings: Settings) -> Path:
    """Return the place for the directories of calls of coding CLIs, by the same rule."""
    return (settings.work_dir if settings.sandbox == "container" else settings.state_dir) / "calls"


def secret_files(settings: Settings) -> tuple[Path, ...]:
    """Return files of the engine's own that no child has to read."""
    github = settings.github
    apps = [app.private_key_file for app in (github.app, github.reviewer_app) if app is not None]
    secrets = (settings.notify.webhook_secret_file, settings.webhook.secret_file)
    named = (github.token_file, github.reviewer_token_file, *secrets, *apps)
    return (*(file for file in named if file is not None), *settings.lock.key_files)
