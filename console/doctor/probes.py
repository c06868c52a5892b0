"""The examination: every probe in its order. A probe that breaks is a finding of its own, never the end."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from config.repository import RepositorySettings
from config.state import StateDirectory
from console.doctor import account, keys, machine, merging, programs, repository, suites, test_run, versions
from console.doctor.context import Machine, RepositoryContext
from console.doctor.finding import AGAIN, Finding, failed, skipped, unanswered
from runtime.building.assembly import Process, mirror_of
from runtime.building.connections import web_session
from runtime.building.sign_in import SignedIn, signed_in
from shared.errors import EngineError, Misconfigured, Transient
from shared.github.people import People
from shared.models import Account, Repository
from shared.process import CommandFailed
from shared.workflow import AGENTS, Role

OF_MACHINE: tuple[Callable[[Machine], Awaitable[Sequence[Finding]]], ...] = (
    machine.configuration,
    machine.state_directory,
    machine.swept,
    machine.disk,
    machine.git_version,
    machine.boot_clock,
    keys.key_files,
    programs.sandbox,
    programs.coding_backends,
)
"""What needs no GitHub."""

Probe = Callable[[RepositoryContext], Awaitable[Sequence[Finding]]]

OF_REPOSITORY: tuple[Probe, ...] = (
    repository.labels,
    repository.base_branch,
    merging.merge,
    repository.git_server,
    versions.versions,
    suites.tests,
    test_run.ci,
    test_run.test_run,
)
"""What is so for a repository, whoever asks."""

OF_IDENTITY: tuple[Probe, ...] = (repository.permissions, account.scopes, keys.agreement)
"""What depends on who asks."""


async def examine(patient: Machine, roles: frozenset[Role] = AGENTS) -> list[Finding]:
    """Everything that can be found out for these agents, on this machine and on GitHub."""
    found: list[Finding] = []
    for probe in OF_MACHINE:
        found += await _safely(probe.__name__.replace("_", " "), "", probe(patient))
    accounts: list[Account] = []
    async with web_session(patient.settings, patient.environment) as session:
        for number, group in enumerate(identities(patient, roles)):
            found += await _identity(patient, session, group, accounts, first=number == 0)
    if roles == AGENTS and accounts:
        found.append(account.two_accounts(patient.settings, accounts))
    return found


def identities(patient: Machine, roles: frozenset[Role]) -> list[frozenset[Role]]:
    """The agents that share an account: the reviewer may have one of its own."""
    alone = roles & {Role.REVIEWER} if account.reviews_alone(patient.settings) else frozenset()
    return [group for group in (roles - alone, alone) if group]


async def _identity(
    patient: Machine, session: aiohttp.ClientSession, roles: frozenset[Role], accounts: list[Account], *, first: bool
) -> list[Finding]:
    """One identity in all repositories; its account is added to `accounts`."""
    found: list[Finding] = []
    try:
        async with acting(patient, session, roles) as (process, known):
            me = next(iter(known.values()))
            accounts.append(me.account)
            found.append(account.signed_in(me.account, roles))
            if first:
                found.append(account.clock(me.github))
            for name, signed in known.items():
                found += await _repository(patient, process, name, signed, roles, first=first)
    except Transient as error:
        found.append(unanswered("token", str(error)))
    except EngineError as error:
        found.append(failed("token", str(error), "Set the token, and try again."))
    return found


@asynccontextmanager
async def acting(
    patient: Machine, session: aiohttp.ClientSession, roles: frozenset[Role]
) -> AsyncIterator[tuple[Process, Mapping[str, SignedIn]]]:
    """Signed in from a state directory that is removed again: no agent's own identity is touched."""
    role = next(iter(sorted(roles)))
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=_scratch(patient.settings.state_dir)) as place:
        settings = patient.settings.model_copy(update={"state_dir": Path(place)})
        with StateDirectory(settings.state_dir).open().claim_identity(role) as agent:
            process = Process(settings, role, patient.clock, agent, patient.environment)
            async with signed_in(process, session) as known:
                yield process, known


async def _repository(
    patient: Machine, process: Process, name: str, me: SignedIn, roles: frozenset[Role], *, first: bool
) -> list[Finding]:
    configured = next(one for one in patient.settings.repositories if one.name == name)
    try:
        seen = await People(me.github, name).repository()
    except Misconfigured as error:
        return [failed("repository", str(error), "Then try again.", name)]
    except Transient as error:
        return [unanswered("repository", str(error), name)]
    except EngineError as error:
        return [failed("repository", str(error), AGAIN, name)]
    found = repository.described(configured, seen) if first else []
    if seen.archived:
        return [*found, skipped("everything else", "Nothing can be tried in an archived repository.", seen.full_name)]
    visit = visit_of(Visitor(patient, process, me, roles), configured, seen)
    for probe in (*OF_IDENTITY, *OF_REPOSITORY) if first else OF_IDENTITY:
        found += await _safely(probe.__name__.replace("_", " "), seen.full_name, probe(visit))
    return found


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at repositories: signed in as `me`, for the agents `roles`."""

    patient: Machine
    process: Process
    me: SignedIn
    roles: frozenset[Role]


def visit_of(visitor: Visitor, configured: RepositorySettings, seen: Repository) -> RepositoryContext:
    """One repository, with a git that signs in as the visitor."""
    me = visitor.me
    mirror = mirror_of(visitor.process, me.answers, seen.full_name)
    return RepositoryContext(visitor.patient, configured, visitor.roles, me, seen, mirror.git, mirror.url)


async def _safely(subject: str, where: str, probing: Awaitable[Sequence[Finding]]) -> Sequence[Finding]:
    """What a probe found, or that it broke."""
    try:
        return await probing
    except Transient as error:
        return [unanswered(subject, f"It could not be tried: {error}", where)]
    except (EngineError, CommandFailed, OSError) as error:
        return [failed(subject, f"It could not be tried: {error}", "See what the sentence says.", where)]


def _scratch(state_dir: Path) -> Path | None:
    """Where temporary files may lie: in the state directory if there is one, else where the system keeps them."""
    usable = state_dir.is_dir() and machine.writable(state_dir)
    return state_dir if usable else None
