"""The lab as one object: a whole GitHub that starts, serves, and lets tests act in it by hand.

Saves the lab's world before a change is answered, so that an answered change is on disk. Runs planned actions of
people right before another client's request is carried out.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import anyio
from aiohttp import web
from aiohttp.typedefs import Handler

from lab.github.admin import Admin
from lab.github.ci.behaviours import CiBehaviour, Wish
from lab.github.ci.builds import Ci, CiSettings
from lab.github.clock import LabClock
from lab.github.fault_injection.faults import Faults
from lab.github.fault_injection.lag import Lag
from lab.github.fault_injection.middleware import FaultMiddleware
from lab.github.fault_injection.sudden_changes import SuddenChanges
from lab.github.http import storage
from lab.github.http.exchanges import Exchanges
from lab.github.http.host import Host
from lab.github.http.service import Service
from lab.github.http.storage import Attachments
from lab.github.repositories.bare import Bare
from lab.github.repositories.git_http import GitHttp
from lab.github.repositories.pull_refs import catch_up, follow
from lab.github.repositories.ref_log import RefLog
from lab.github.routes import BESIDE_REST, OPERATIONS
from lab.github.site_actions import SiteActions
from lab.github.webhooks import Webhooks
from lab.github.wire.site import ServedRoot
from lab.github.world import store
from lab.github.world.accounts import HOURLY_LIMIT
from lab.github.world.hub import World
from lab.github.world.issues import EventRecord
from lab.github.world.records import Numbering
from lab.github.world.repository import RepositoryFacts, RepositoryRecord

CHECK_NAME = "test"
"""The name of the one job that `check_command` makes."""

LARGEST_BODY = 64 * 2**20
"""Bytes that one request may carry: a push goes through here too."""

Interlude = Callable[[str, str], Awaitable[None]]
"""Gets method and path of the request that comes next, git's too, and may change anything in the world before it."""


class Lab(SiteActions):
    """An embedded GitHub on 127.0.0.1; use it as `async with Lab(directory) as lab`.

    `state_dir` keeps the git repositories, and `world.json` between runs. `limit` is the number of
    charged REST requests per account and hour. `durable` writes `world.json` before each change is answered,
    so that a killed lab loses nothing that a client was told. `interludes` are called before every request.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        port: int = 0,
        unix_socket: Path | None = None,
        clock: LabClock | None = None,
        limit: int = HOURLY_LIMIT,
        durable: bool = False,
    ) -> None:
        self.clock = clock or LabClock()
        super().__init__(World(Numbering(self.clock), limit=limit))
        self.faults = Faults()
        self.exchanges = Exchanges()
        self.attachments = Attachments()
        self.interludes: list[Interlude] = []
        self.lag = Lag(self.clock.now, self._thread_events)
        self.webhooks = Webhooks(lambda: ServedRoot(self.url, self.world))
        self.admin_token = secrets.token_hex(16)
        self.ci: dict[int, Ci] = {}
        self._state_dir = state_dir.absolute()  # git runs elsewhere
        self._listen = (port, unix_socket)
        self._durable = durable
        self._host: Host | None = None
        self._service: Service | None = None

    def _thread_events(self) -> list[EventRecord]:
        return [event for one in self.world.repositories.values() for event in one.issues.events]

    async def __aenter__(self) -> Lab:
        for directory in ("git", "ci"):
            await anyio.Path(self._state_dir / directory).mkdir(parents=True, exist_ok=True)
        if await anyio.Path(self._world_file).exists():
            await store.restore(self.world, store.read(self._world_file), self._open)
            for repository in self.world.repositories.values():
                self._connect(repository)
                await catch_up(repository)
        self._host = Host(*self._listen)
        self._service = Service(ServedRoot(self._host.url, self.world), self.exchanges)
        await self._host.start(self._application(self._service))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._host is not None:
            await self._host.stop()
        for ci in self.ci.values():
            await ci.close()
        await self.webhooks.close()
        self.save()

    @property
    def url(self) -> str:
        """The API's root, without a final slash."""
        if self._host is None:
            raise RuntimeError("The lab has not been started.")
        return self._host.url

    @property
    def unlisted(self) -> list[str]:
        """Method and path of every request for which there is no operation."""
        return [] if self._service is None else self._service.unlisted

    def git_url(self, full_name: str) -> str:
        """Return the address from which git clones a repository and to which it pushes."""
        return f"{self.url}/{full_name}.git"

    def attach(self, content: bytes, *, leads_to: str = "") -> str:
        """Attach a file to a comment, as a person does; return its address.

        With `leads_to` a browser is sent there for it.
        """
        return f"{self.url}{self.attachments.add(content, leads_to=leads_to)}"

    def save(self) -> None:
        """Write the world to `world.json`."""
        store.save(self.world, self._world_file)

    async def idle(self) -> None:
        """Return when no CI job runs or is queued to run now."""
        for ci in self.ci.values():
            await ci.idle()

    def ci_jobs(
        self, full_name: str, jobs: Mapping[str, str], *, statuses: Mapping[str, str] | None = None
    ) -> CiSettings:
        """Set the jobs that CI runs on every push from now on: names of check runs and their commands.

        `statuses` are reported as commit statuses instead, by their context. Forgotten when the lab ends.
        """
        settings = self._ci_of(full_name).settings
        settings.jobs, settings.statuses = dict(jobs), dict(statuses or {})
        return settings

    def ci_mood(self, full_name: str, mood: CiBehaviour, *, job: str = "", branch: str = "", sha: str = "") -> None:
        """Let the CI runs that begin from now on be in a mood of `lab.github.ci.behaviours`; the newest one counts.

        `job` (a check run's name or a status's context), `branch` and `sha` narrow it down. A red
        base is `ci_mood(name, RED, branch="main")` and then `await ci_run(name)`.
        """
        self._add_wish(full_name, Wish(mood, job, branch, sha))

    def _add_wish(self, full_name: str, wish: Wish) -> None:
        self._ci_of(full_name).wish(wish)

    async def ci_run(self, full_name: str, branch: str | None = None) -> str:
        """Run CI on the tip of a branch (None: the default one), as a push would; return the commit."""
        repository = self.at(full_name)
        branch = branch or repository.facts.default_branch
        sha = await repository.bare.sha(f"refs/heads/{branch}")
        if sha is None:
            raise KeyError(branch)
        self._ci_of(full_name).run(sha, branch)
        return sha

    async def repository(
        self,
        full_name: str,
        files: Mapping[str, str],
        *,
        collaborators: Mapping[str, str] | None = None,
        check_command: str | None = None,
        default_branch: str = "main",
    ) -> RepositoryRecord:
        """A public repository with one commit of `files`; accounts it names are made.

        `collaborators` maps logins to `read`, `write` or `admin`. `check_command` is what CI runs on
        every push from now on (the first commit has no checks); None means no CI.
        """
        facts = RepositoryFacts(
            id=self.world.registrar.new_id(),
            full_name=full_name,
            created_at=self.world.registrar.now(),
            default_branch=default_branch,
            collaborators=dict(collaborators or {}),
            check_command=check_command,
        )
        for login in (facts.owner, *facts.collaborators):
            self.account(login)
        bare = await Bare.create(self._git_directory(facts), full_name, default_branch, files)
        repository = RepositoryRecord(facts, bare, self.world.registrar)
        self.world.repositories[facts.id] = repository
        self._connect(repository)
        return repository

    @property
    def _world_file(self) -> Path:
        return self._state_dir / "world.json"

    def _git_directory(self, facts: RepositoryFacts) -> Path:
        """Return the directory by the repository's id, because names change."""
        return self._state_dir / "git" / f"{facts.id}.git"

    async def _open(self, facts: RepositoryFacts) -> Bare:
        return await Bare.open(self._git_directory(facts), facts.full_name, facts.default_branch)

    def _connect(self, repository: RepositoryRecord) -> None:
        """Let moved refs reach the pull requests first and then CI."""
        ci = self._ci(repository)

        async def moved(ref: str, old: str | None, new: str | None) -> None:
            await follow(repository, ref, new)
            if new is not None and ref.startswith("refs/heads/"):
                self.lag.pushed(new)
            self.webhooks.pushed(repository, ref, old, new)
            await ci.pushed(ref, old, new)

        repository.bare.on_update = moved
        repository.bare.log_of_refs = RefLog(self._git_directory(repository.facts).with_suffix(".refs"), self.clock.now)
        self.webhooks.follow(repository)

    def _ci_of(self, full_name: str) -> Ci:
        return self.ci[self.at(full_name).facts.id]

    def _ci(self, repository: RepositoryRecord) -> Ci:
        command = repository.facts.check_command
        search_path = os.pathsep.join((str(Path(sys.executable).parent), os.defpath))
        settings = CiSettings({} if command is None else {CHECK_NAME: command}, search_path=search_path)
        ci = Ci(repository.checks, repository.bare, self._state_dir / "ci", self.clock, settings)
        self.ci[repository.facts.id] = ci
        repository.rerun = ci.rerun
        return ci

    def _application(self, service: Service) -> web.Application:
        spoiler = FaultMiddleware(self.faults, self.clock, SuddenChanges(self.world))
        saving = [self._save_changes] if self._durable else []
        layers = (*saving, self._play_interludes, service.record, spoiler.spoil, self.lag.answer)
        app = web.Application(middlewares=layers, client_max_size=LARGEST_BODY)
        app.add_routes(GitHttp(self._bare, self.world.authorise_git).routes())
        admin = Admin(self.admin_token, self.faults, self.clock, self._add_wish, self.lag)
        logs = web.get(storage.LOGS, partial(storage.serve_log, self.world))
        app.add_routes([*admin.routes(), logs, *self.attachments.routes()])
        service.mount(app.router, [*OPERATIONS, *BESIDE_REST])
        return app

    @web.middleware
    async def _play_interludes(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Run the planned actions in their order, then the request. Belongs around everything that is served."""
        for interlude in self.interludes:
            await interlude(request.method, request.path)
        return await handler(request)

    @web.middleware
    async def _save_changes(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Write the world to disk after every request that may have changed something."""
        response = await handler(request)
        if request.method not in {"GET", "HEAD"}:
            self.save()
        return response

    def _bare(self, full_name: str) -> Bare | None:
        found = self.world.repository_of_git(full_name)
        return None if found is None else found.bare
