"""Signing in on a whole GitHub: as an App whose tokens rotate, and with what `gh` knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from engine import REPOSITORY, WRITES
from fakes.clock import PassingClock
from judge import Judge

from config.settings import Settings
from config.state import StateDirectory
from lab.github.clock import LabClock
from lab.github.fault_injection.lag import How
from lab.github.http.exchanges import Exchange
from lab.github.server import Lab
from runtime.building.assembly import Process, RepositoryAdapters, open_repositories
from shared.clock import Clock
from shared.errors import Misconfigured, MissingCredentials
from shared.github.tokens import of_gh
from shared.lock.write_permit import Notice
from shared.workflow import Role

HOUR = 3600


@dataclass
class Scene:
    """A lab with a registered App, its private key, and the tokens that were asked for."""

    lab: Lab
    directory: Path
    app_id: int
    key: Path
    tokens: list[Exchange] = field(default_factory=list)

    def note(self, exchange: Exchange) -> None:
        """Keep exchanges that made a token."""
        if exchange.path.endswith("/access_tokens"):
            self.tokens.append(exchange)

    @asynccontextmanager
    async def parts(
        self, *, local: Clock | None = None, repositories: tuple[str, ...] = ()
    ) -> AsyncIterator[RepositoryAdapters]:
        """Build the parts of an agent that is signed in as the App; `local` is the machine's own clock."""
        settings = Settings.model_validate(
            {
                "repositories": [{"name": name, "llm_backend": "scripted"} for name in repositories or (REPOSITORY,)],
                "state_dir": self.directory / "state",
                "github": {
                    "api_url": self.lab.url,
                    "write_interval_seconds": 0,
                    "app": {"id": self.app_id, "private_key_file": self.key},
                },
                "lock": {"settle": 0},
                "sandbox": "none",
                "llm": {"scenario": self.directory / "scenario.yml"},
            },
            strict=False,
        )
        (self.directory / "scenario.yml").write_text("- {call: plan, for: anything, answer: {}}\n")
        with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER, None) as identity:
            async with open_repositories(Process(settings, Role.WORKER, local or self.lab.clock, identity, {})) as (
                first,
                *_,
            ):
                yield first


@pytest.fixture
async def scene(tmp_path: Path, judge: Judge) -> AsyncIterator[Scene]:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    key = tmp_path / "app.pem"
    key.touch(mode=0o600)
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key.write_bytes(private.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    public = private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        repository = await lab.repository(REPOSITORY, {"README.md": "# Directory\n"})
        app = lab.world.apps.register("ada", "engine", public, WRITES)
        lab.account(app.bot, bot=True)
        lab.world.apps.install(app, "ada", (repository.facts.id,))
        made = Scene(lab, tmp_path, app.id, key)
        lab.exchanges.observe(made.note)
        yield made
        assert lab.unlisted == []
    assert judge.complaints == []


async def test_an_app_acts_as_its_bot_in_the_repositories_where_it_is_installed(scene: Scene) -> None:
    issue = scene.lab.issue(REPOSITORY, "Hello", author="ada")
    async with scene.parts() as parts:
        posted = await parts.github.comments.post(issue.number, "Hello.", Notice(issue.number, "hello"))
        bot = scene.lab.account("engine[bot]")
        assert (parts.github.account.login, parts.github.account.id) == (bot.login, bot.id)
        assert posted.author.id == bot.id
        assert parts.git.identity.email == f"{bot.id}+engine[bot]@users.noreply.github.com"
        assert await parts.git.mirror.tip("main") is not None
    (asked,) = scene.tokens
    assert asked.request_body == b'{"repositories": ["directory"]}'


async def test_its_token_is_replaced_before_it_expires_and_not_earlier(scene: Scene) -> None:
    async with scene.parts() as parts:
        scene.lab.clock.advance(HOUR - 5 * 60 - 10)
        await parts.github.issues.recent()
        assert len(scene.tokens) == 1
        scene.lab.clock.advance(20)
        await parts.github.issues.recent()
        assert len(scene.tokens) == 2
        scene.lab.clock.advance(2 * HOUR)
        await parts.git.mirror.fetch()
        await parts.github.issues.recent()
        assert len(scene.tokens) == 3


@pytest.mark.fault(5)
async def test_a_token_revoked_before_its_time_is_replaced_and_the_write_sent_once(scene: Scene) -> None:
    issue = scene.lab.issue(REPOSITORY, "Hello", author="ada")
    async with scene.parts() as parts:
        scene.lab.clock.advance(60)
        scene.lab.world.tokens.clear()
        await parts.github.comments.post(issue.number, "Hello.", Notice(issue.number, "hello"))
        assert len(scene.tokens) == 2
    assert len(scene.lab.at(REPOSITORY).comments.of(issue.number)) == 1
    assert [one.status for one in scene.lab.exchanges if one.path.endswith("/comments")] == [401, 201]


@pytest.mark.fault(5)
async def test_a_young_token_that_is_not_known_everywhere_is_tried_again_and_no_other_one_is_made(scene: Scene) -> None:
    scene.lab.lag.begin(3, share=1)
    async with scene.parts(local=PassingClock()) as parts:  # however slow this machine is, the token stays young
        (value,) = scene.lab.world.tokens
        for use in (parts.github.issues.recent, parts.git.mirror.fetch, parts.git.mirror.fetch):
            scene.lab.lag.forget_token(value)
            await use()
    assert scene.lab.lag.counts[How.UNAUTHORIZED] >= 3
    assert len(scene.tokens) == 1


@pytest.mark.parametrize("wrong_by", [-HOUR, HOUR])
async def test_a_wrong_local_clock_keeps_nobody_out(scene: Scene, wrong_by: float) -> None:
    async with scene.parts(local=LabClock(offset=wrong_by)) as parts:
        assert parts.github.account.login == "engine[bot]"


async def test_an_app_that_is_not_installed_says_where_to_install_it(scene: Scene) -> None:
    await scene.lab.repository("ada/other", {"README.md": "# Other\n"})
    with pytest.raises(Misconfigured, match="not installed in ada/other"):
        async with scene.parts(repositories=("ada/other",)):
            pass


async def test_a_file_without_a_key_is_refused_before_github_is_asked(scene: Scene) -> None:
    scene.key.write_text("ghp_something\n")
    with pytest.raises(
        MissingCredentials, match=r"app.pem \(github.app.private_key_file\) does not hold a private key"
    ):
        async with scene.parts():
            pass
    scene.key.write_text("-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")
    with pytest.raises(Misconfigured, match="no usable RSA key"):
        async with scene.parts():
            pass
    assert len(scene.lab.exchanges) == 0


@pytest.mark.parametrize(
    ("script", "token"),
    [
        ('[ "$*" = "auth token --hostname github.com" ] && echo ghp_found', "ghp_found"),
        ("echo not logged in >&2; exit 1", ""),
    ],
)
async def test_the_token_of_gh_is_what_it_prints(tmp_path: Path, script: str, token: str) -> None:
    program = tmp_path / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin"}
    assert await of_gh(str(program), "github.com", environment) == token
    assert await of_gh(str(tmp_path / "absent"), "github.com", environment) == ""
