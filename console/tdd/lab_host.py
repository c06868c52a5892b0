"""The place of a task: a GitHub of its own on loopback with a copy of the person's repository, and the two agents."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import anyio.to_thread

from config.settings import Settings
from config.state import AgentIdentity, StateDirectory
from console.tdd import run_settings
from console.tdd.checkout import Checkout
from console.tdd.task import Task
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.agents import at_work
from lab.github.server import Lab
from runtime.building.assembly import Process
from shared.errors import Blocked, Misconfigured
from shared.filesystem import directories
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.workflow import Role

BASE = "main"
"""Name of the base branch in the copy."""

PERSON = "you"
"""The account that the specification is written by."""

_LOGIN = {Role.WORKER: ENGINE, Role.REVIEWER: REVIEWER}


ROOM_BYTES = 2**20
"""With less than that left on a disk nothing is written reliably."""


class TaskDiskFull(Blocked):
    """The disk is full: nobody can write down what is done."""


def check_disk_space(place: Path, least: int = ROOM_BYTES) -> None:
    """Raise `TaskDiskFull` unless the disk of an existing directory has `least` bytes left."""
    if shutil.disk_usage(place).free < least:
        raise TaskDiskFull(f"The disk of {place} is full: make room there first.")


@dataclass(frozen=True, slots=True)
class TaskPlace:
    """One task's place while this process has it to itself."""

    task: Task
    settings: Settings
    environment: Mapping[str, str]
    identities: Mapping[Role, AgentIdentity]

    @property
    def place(self) -> Path:
        """Everything that the engine writes for this task."""
        return Path(self.task.place)

    @asynccontextmanager
    async def lab(self, checkout: Checkout) -> AsyncIterator[Lab]:
        """The task's GitHub, as it was when it was left, however that was; furnished at the first time."""
        github = self.place / "github"
        if not await anyio.Path(github / "world.json").exists():
            await anyio.to_thread.run_sync(directories.remove, github)  # left before anything was begun
        stack = AsyncExitStack()
        try:
            lab = await _start_lab(stack, github, anyio.Path(self.place / "port"))
            if lab.world.repository(self.task.order.name) is None:
                await self._furnish(lab, checkout)
                lab.save()
            yield lab
        finally:
            with anyio.CancelScope(shield=True):
                await stack.aclose()

    @asynccontextmanager
    async def agents(self, lab: Lab) -> AsyncIterator[tuple[Loop, ...]]:
        """The worker and the reviewer, ready to run; so many reviews may be given as were, and as are asked for."""
        order = replace(self.task.order, max_reviews=self.task.before + self.task.order.max_reviews)
        settings = run_settings.on_own_github(self.settings, order, lab.url, self.place, self.environment)
        clock = RealClock()
        async with AsyncExitStack() as stack:
            loops = []
            for role, login in _LOGIN.items():
                variables = {**self.environment, settings.github.token_env: _token(lab, login)}
                process = Process(settings, role, clock, self.identities[role], variables)
                loop, _ = await stack.enter_async_context(at_work(process, interval_seconds=run_settings.POLL_SECONDS))
                loops.append(loop)
            yield tuple(loops)

    async def _furnish(self, lab: Lab, checkout: Checkout) -> None:
        order = self.task.order
        people = {ENGINE: "write", REVIEWER: "write", PERSON: "admin"}
        repository = await lab.repository(order.name, {}, collaborators=people, default_branch=BASE)
        async with repository.bare.changing():
            await checkout.copy(order.commit, repository.bare.path, BASE)
        for login in (ENGINE, REVIEWER):
            lab.token(login, PERMISSIONS[login])
        lab.issue(order.name, order.title, order.text, author=PERSON, labels=("status:ready",))


@asynccontextmanager
async def alone(task: Task, settings: Settings, environment: Mapping[str, str]) -> AsyncIterator[TaskPlace]:
    """The task's place for this process alone; raises `Misconfigured` while another process works there."""
    place = Path(task.place)
    await anyio.to_thread.run_sync(_prepare, place)
    state = StateDirectory(place / "state").open()
    async with AsyncExitStack() as stack:
        try:
            held = {role: stack.enter_context(state.claim_identity(role, str(role))) for role in _LOGIN}
        except Misconfigured as error:
            raise Misconfigured(f"The task {task.id} is being worked on by another process. {error}") from None
        yield TaskPlace(task, settings, environment, held)


def _prepare(place: Path) -> None:
    """The directory, and in it the key that signs the engine's comments; whole or not at all."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = place / "lock.key"
    if not key.exists():
        draft = place / f".key.{secrets.token_hex(4)}"
        directories.write(draft, secrets.token_hex(32).encode(), durable=True)
        draft.replace(key)


async def _start_lab(stack: AsyncExitStack, github: Path, port: anyio.Path) -> Lab:
    """The lab, at the port that it had before where that is free: the agents' mirrors are kept by address."""
    if await port.exists():
        with suppress(OSError):  # somebody else has it now: another one, and mirrors are made again
            return await stack.enter_async_context(Lab(github, port=int(await port.read_text()), durable=True))
    lab = await stack.enter_async_context(Lab(github, durable=True))
    await port.write_text(lab.url.rpartition(":")[2])
    return lab


def _token(lab: Lab, login: str) -> str:
    return next(token.value for token in lab.world.tokens.values() if token.login == login)
