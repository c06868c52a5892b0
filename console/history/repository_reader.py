"""Read access to repositories: signed in, with a mirror on this machine, under no agent's name."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass

from config.credentials import signing_keys
from config.repository import RepositorySettings
from config.settings import Settings
from console.machine_faults import as_engine_error
from runtime.building.assembly import Process, mirror_of
from runtime.building.github_adapters import GitHubAdapters, github_adapters
from runtime.building.sign_in import Identities, SignedIn, visitor
from shared.clock import Clock
from shared.errors import EngineError, Gone, Misconfigured, Transient, Unauthorized
from shared.git.mirror import Mirror
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.process import CommandFailed
from shared.text.comment_signatures import Key, Keyring


@dataclass(frozen=True)
class OpenRepository:
    """One repository that can be looked at."""

    configured: RepositorySettings
    adapters: GitHubAdapters
    mirror: Mirror
    keys: Keyring


@asynccontextmanager
async def visited(
    settings: Settings, environment: Mapping[str, str], clock: Clock
) -> AsyncIterator[tuple[tuple[OpenRepository, ...], Mapping[str, EngineError]]]:
    """Give the configured repositories that can be looked at, in their order, and why others cannot.

    Two requests for each; its mirror is made where there is none. Raises `Misconfigured`, `Unauthorized`, `NotAllowed`,
    `Gone` and `Transient` where none can be looked at.
    """
    with ExitStack() as stack:
        process = stack.enter_context(visitor(settings, environment, clock, apart=False))
        keys = tuple(Key.of(secret) for secret in signing_keys(settings.lock))
        unusable: dict[str, EngineError] = {}
        async with process.connections.line(settings, environment, process.outgoing) as line:
            identities, found = Identities(process, line, stack), []
            for configured in settings.repositories:
                try:
                    found.append(await _visit(process, await identities.of(configured.name), configured, keys))
                except (Transient, Unauthorized):
                    raise
                except EngineError as error:
                    unusable[configured.name] = error
                except (CommandFailed, OSError) as error:  # git or a disk may be in its way, too
                    unusable[configured.name] = unreadable(configured.name, error)
            if not found:
                raise next(iter(unusable.values()))
            yield tuple(found), unusable


def unreadable(repository: str, error: Exception) -> Misconfigured:
    """Return the error that says what of git or of this machine's disk prevents reading the repository."""
    if isinstance(error, OSError) and error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        error = Misconfigured(
            f"the state directory cannot be used: {error.filename}: {error.strerror}. "
            "Make it writable for this account, or give another state_dir."
        )
    error = as_engine_error(error) or error
    return Misconfigured(f"{repository} cannot be read on this machine: {error}")


async def _visit(process: Process, me: SignedIn, one: RepositorySettings, keys: tuple[Key, ...]) -> OpenRepository:
    seen = await github_adapters(process.role, me, one)
    mirror = mirror_of(process, me.answers, one.name)
    await mirror.ensure()
    ring = Keyring(seen.repository.id, keys, outgoing=process.outgoing)
    return OpenRepository(one, seen, mirror, ring)


async def branch_commit(github: GitHub, name: str, branch: str) -> str | None:
    """Return the newest commit of a branch on GitHub; None when there is no such branch."""
    try:
        found = await github.get(f"/repos/{name}/branches/{segment(branch)}")
    except Gone:
        return None
    return wire.read(lambda value: str(value["commit"]["sha"]), found)
