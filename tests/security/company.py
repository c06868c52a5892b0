"""A whole engine on one machine with every kind of secret, as real processes, and everything that they leave behind."""

from __future__ import annotations

import json
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import anyio
from aiohttp import web
from anyio.abc import Process
from engine import OWNER, REPOSITORY, WRITES
from project_pytest import ALONE

from lab import target_project
from lab.github.http.exchanges import Exchange
from lab.github.server import CHECK_NAME, Lab
from security import places, thief
from security.canaries import Canaries
from security.watch import Watch
from shared import process

ROOT = Path(__file__).parents[2]
PEOPLE = {"engine[bot]": "the App's token", "reviewer": "the reviewer's token"}
CI = "grep -q 'Say hello' directory/greeting.py || { echo 'greeting.py: no docstring'; exit 1; }"
WAIT_SECONDS = 100


TIMES = {"settle": 0.1, "timeout": 30, "self_fence": 25, "heartbeat": 5}
SETTINGS: Mapping[str, object] = {
    "repositories": [
        {
            "name": REPOSITORY,
            "llm_backend": "scripted",
            "poll_interval": 0.2,
            "refactor": "off",
            "test_command": f"{ALONE} {shlex.quote(sys.executable)} -m pytest -q",
            "quality_commands": [],
            "approval": "auto",
            "merge": "auto",
            "review": {"second_pass": False},
        }
    ],
    "roles": {role: {"backend": "claude"} for role in ("test-automation", "developer", "debugger")},
    "phases": {"diagnose": "generalist"},
    "cooldown": 0,
}
"""Settings without any secret: the coder that edits files is the thief, everything else is scripted."""


@dataclass
class Company:
    """The lab, the canaries, and the agents of one machine whose coder is a thief."""

    lab: Lab
    root: Path
    canaries: Canaries
    sandbox: str
    scenario: str
    watch: Watch = field(default_factory=Watch)
    asked: list[Exchange] = field(default_factory=list)
    told: list[bytes] = field(default_factory=list)
    """The bodies that the webhook's receiver was sent."""
    traced: list[bytes] = field(default_factory=list)
    """The requests that the collector of traces was sent."""
    scraped: dict[str, bytes] = field(default_factory=dict)
    answered: dict[str, bytes] = field(default_factory=dict)
    """The output of each command."""
    port: int = 0

    @classmethod
    @asynccontextmanager
    async def at_work(cls, root: Path, *, sandbox: str, scenario: str) -> AsyncIterator[Company]:
        """Yield a repository, a receiver of messages and a watch over processes; no agent runs yet."""
        (root / "secrets").mkdir(mode=0o700)
        canaries = Canaries(root / "secrets")
        async with Lab(root / "github") as lab, anyio.create_task_group() as group:
            await lab.repository(REPOSITORY, target_project.files(), collaborators={"reviewer": "write"})
            lab.ci_jobs(REPOSITORY, {CHECK_NAME: CI})
            self = cls(lab, root, canaries, sandbox, scenario, port=_free_port())
            lab.exchanges.observe(self.asked.append)
            group.start_soon(self.watch.over)
            async with self._receiver() as url:
                self._configure(url)
                yield self
            group.cancel_scope.cancel()

    @property
    def state(self) -> Path:
        """The agents' state directory."""
        return self.root / "state"

    @property
    def secrets(self) -> Mapping[str, str]:
        """Every secret of this machine, and every token that GitHub made."""
        made = self.lab.world.tokens.values()
        return self.canaries.named({f"{PEOPLE[one.login]}, {number}": one.value for number, one in enumerate(made)})

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment of the agents on this machine and of the person at the console."""
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.root), **self.canaries.environment}

    def hire(self, *, waits: bool = False) -> Path:
        """Let the coder be a thief who knows where to look; with `waits` one that does not end where it is told so."""
        places = (self.canaries.place, self.state, self.root / "config.yml", self.root / "database.yml")
        return thief.hire(self.root / "claude", places, waits=waits)

    def ready(self, title: str, body: str) -> int:
        """Write a specification as the owner and set `status:ready`."""
        return self.lab.issue(REPOSITORY, title, body, author=OWNER, labels=("status:ready",)).number

    def label(self, number: int) -> frozenset[str]:
        """Return the labels of a thread."""
        return frozenset(self.lab.at(REPOSITORY).issues.require(number).labels)

    @asynccontextmanager
    async def agent(self, role: str) -> AsyncIterator[Process]:
        """Run one agent by its own command; stop it at the end, unless it was killed."""
        config = self.root / ("database.yml" if role == "reviewer" else "config.yml")
        argv = (sys.executable, "-m", f"{role}_agent", "--config", str(config), "--verbose")
        env = self.environment
        log = self.root / "logs" / f"{role}.log"
        log.parent.mkdir(exist_ok=True)
        async with process.started(argv, cwd=ROOT, env=env, log=log) as child:
            self.watch.agents.add(child.pid)
            yield child
            if child.returncode is None:
                await self._scrape()
                child.terminate()
                with anyio.fail_after(WAIT_SECONDS):
                    await child.wait()

    async def until(self, done: Callable[[], bool], what: str) -> None:
        """Wait until something has happened; fails with the ends of the logs when it does not."""
        with anyio.move_on_after(WAIT_SECONDS):
            while not done():  # noqa: ASYNC110 - processes of their own tell nobody
                await anyio.sleep(0.1)
            return
        ends = "\n".join(path.read_text()[-2000:] for path in sorted((self.root / "logs").iterdir()))
        raise AssertionError(f"{what} did not happen:\n{ends}")

    async def published(self) -> dict[str, bytes]:
        """Return everything that has left this machine."""
        repository = self.lab.at(REPOSITORY)
        found = {**places.of_threads(repository), **await places.of_git(repository), **places.of_requests(self.asked)}
        found |= {f"trace {number}": body for number, body in enumerate(self.traced)}
        return found | {f"message {number}": body for number, body in enumerate(self.told)}

    async def everywhere(self) -> dict[str, bytes]:
        """Return everything published, and everything that was left on this machine or could be seen of it."""
        local = {**places.of_files(self.state), **places.of_files(self.root / "logs"), **self.watch.seen}
        recorded = places.of_files(self.root / "recorded", "recording")
        return {**await self.published(), **local, **recorded, **self.scraped, **self.answered}

    async def ask(self) -> None:
        """Run every command that prints JSON for a person, and keep its output."""
        asked: tuple[tuple[str, ...], ...] = (("events", REPOSITORY), ("status",), ("report", REPOSITORY), ("doctor",))
        for words in asked:
            argv = (sys.executable, "-m", "console", *words, "--json", "--config", str(self.root / "config.yml"))
            said = await process.run(argv, cwd=ROOT, env=self.environment)
            self.answered[f"command {words[0]}"] = said.stdout + b"\n" + said.stderr

    async def _scrape(self) -> None:
        async with aiohttp.ClientSession() as session:
            for port in range(self.port, self.port + 3):
                for page in ("metrics", "healthz", "readyz"):
                    try:
                        async with session.get(f"http://127.0.0.1:{port}/{page}") as answer:
                            self.scraped[f"page {port} {page}"] = await answer.read()
                    except aiohttp.ClientConnectionError:
                        continue

    @asynccontextmanager
    async def _receiver(self) -> AsyncIterator[str]:
        async def take(request: web.Request) -> web.Response:
            (self.traced if request.path == "/v1/traces" else self.told).append(await request.read())
            return web.Response(status=204)

        app = web.Application()
        app.router.add_post("/{path:.*}", take)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    def _configure(self, receiver: str) -> None:
        (self.root / "scenario.yml").write_text(self.scenario, encoding="utf-8")
        settings = {
            **SETTINGS,
            "claude_cli": str(self.root / "claude"),
            "state_dir": str(self.state),
            "sandbox": self.sandbox,
            "github": self._identities(),
            "lock": {**TIMES, "key_files": [str(self.canaries.file("lock.key", self.canaries.lock_key * 2))]},
            "notify": {
                "webhook": f"{receiver}/{self.canaries.webhook_path}",
                "webhook_secret_file": str(self.canaries.file("webhook.secret", self.canaries.webhook_secret)),
                "smtp": f"smtp://engine:{self.canaries.mail_password}@127.0.0.1:9",
                "sender": "engine@example.org",
                "to": ["ada@example.org"],
            },
            "health": {"port": self.port},
            "webhook": {"port": 0, "secret_file": str(self.canaries.file("hook.secret", self.canaries.hook_secret))},
            "telemetry": {"otlp_endpoint": receiver},
            "llm": {"scenario": str(self.root / "scenario.yml"), "record": str(self.root / "recorded")},
        }
        away = f"postgresql://engine:{self.canaries.database_password}@127.0.0.1:9/engine"
        for name, more in (("config.yml", {}), ("database.yml", {"events": {"url": away}})):
            path = self.root / name
            path.touch(mode=0o600)
            path.write_text(json.dumps({**settings, **more}), encoding="utf-8")  # JSON is YAML
        self.hire()

    def _identities(self) -> Mapping[str, object]:
        """Make an App that writes, and an account with a token that reviews; return their settings."""
        lab, made = self.lab, self.canaries
        app = lab.app("engine", owner=OWNER, public_key=made.public_pem, permissions=WRITES)
        lab.install(app, REPOSITORY)
        return {
            "api_url": lab.url,
            "write_interval_seconds": 0,
            "app": {"id": app.id, "private_key_file": str(made.file("app.pem", made.pem))},
            "reviewer_token_file": str(made.file("reviewer.token", lab.token("reviewer", WRITES))),
            "accounts": [lab.account(login).id for login in PEOPLE],
        }


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
