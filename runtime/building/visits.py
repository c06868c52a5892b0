"""A visit to GitHub: under an identity of its own, never that of an agent, of which nothing is left afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from config.settings import Settings
from config.state import StateDirectory
from runtime.building.connections import web_session
from runtime.building.process import Process
from runtime.building.sign_in import SignedIn, signed_in
from shared.clock import Clock
from shared.workflow import Role


@contextmanager
def visitor(
    settings: Settings,
    environment: Mapping[str, str],
    clock: Clock,
    role: Role = Role.WORKER,
    *,
    apart: bool = True,
    within: Path | None = None,
) -> Iterator[Process]:
    """Give a process for a visit.

    With `apart` its state is in the same temporary directory, made `within`, as its identity; else it works with the
    mirrors of `settings`.
    """
    with tempfile.TemporaryDirectory(prefix="visit-", dir=within) as place:
        own = settings.model_copy(update={"state_dir": Path(place)}) if apart else settings
        with StateDirectory(Path(place)).open().claim_identity(role) as identity:
            yield Process(own, role, clock, identity, environment)


@asynccontextmanager
async def visiting(process: Process) -> AsyncIterator[Mapping[str, SignedIn]]:
    """Sign in; give the identity for each repository."""
    async with web_session(process.settings, process.environment) as session, signed_in(process, session) as known:
        yield known
