"""Who a process is on GitHub: its client, git's answers and its account - by a token, or as an App per owner."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import anyio

from config.credentials import app_key, credentials, hook_secret, signing_keys, webhook_secret
from config.environment import for_gh
from config.model_access import model_secrets
from config.settings import GitHubApp, LockSettings, Settings
from shared.errors import Misconfigured, Transient, Unauthorized
from shared.git.credentials import Credentials
from shared.github.client import GitHub, TokenSource
from shared.github.pacing import Pacing
from shared.github.people import People
from shared.github.tokens import Installation, Kept, Proof, bot, of_gh
from shared.models import Account
from shared.workflow import Role

if TYPE_CHECKING:
    import aiohttp
    from pydantic import SecretStr

    from console.assembly import Process


_FRAME = "-----"
"""Begins and ends the lines around a PEM file's content, which are no secret."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One identity at one server."""

    github: GitHub
    answers: Credentials
    account: Account
    app: GitHub | None = None
    """Speaks as the App itself, where one is used."""


def secret(process: Process) -> SecretStr:
    """What signs in, and no log may show: the role's token, or the App's key; raises `MissingCredentials`."""
    github, reviewer = process.settings.github, process.role is Role.REVIEWER
    if app_of(process) is not None:
        return app_key(github, reviewer=reviewer)
    return credentials(github, process.environment, reviewer=reviewer)


def known_secrets(process: Process) -> list[str]:
    """Every secret value that the process is configured with; of a PEM file its lines, without the frame."""
    keys = [key.decode("ascii", "replace") for key in _readable_keys(process.settings.lock)]
    told = [
        secret(process).get_secret_value(),
        *keys,
        *model_secrets(process.environment),
        *_database(process.settings),
        *_receivers(process.settings),
        *_hook(process),
    ]
    return [line for value in told for line in value.split() if _FRAME not in line]


def _receivers(settings: Settings) -> Iterator[str]:
    """What a webhook's address and a mail server's password would let others do."""
    notify = settings.notify
    if notify.webhook is not None:
        yield notify.webhook.get_secret_value()
        with suppress(Misconfigured, Unauthorized):  # whoever signs with it refuses it
            yield webhook_secret(notify).decode()
    if notify.smtp is not None:
        yield from filter(None, [unquote(urlsplit(notify.smtp.get_secret_value()).password or "")])


def _hook(process: Process) -> Iterator[str]:
    """What signs GitHub's webhooks, where they are taken."""
    webhook = process.settings.webhook
    if webhook.port is not None:
        with suppress(Misconfigured, Unauthorized):  # whoever checks by it refuses it
            yield hook_secret(webhook, process.environment).decode()


def _database(settings: Settings) -> Iterator[str]:
    """The password of the database of events, as it is written in the URL and as it is meant."""
    url = settings.events.url
    password = urlsplit(url.get_secret_value()).password if url is not None else None
    if password:
        yield from {password, unquote(password)}


def _readable_keys(lock: LockSettings) -> Iterator[bytes]:
    """`init` signs in before there is a key, the doctor to tell of a bad one; whoever signs with it refuses it."""
    for file in lock.key_files:
        with suppress(Misconfigured):
            yield from signing_keys(lock.model_copy(update={"key_files": (file,)}))


def app_of(process: Process) -> GitHubApp | None:
    """The App that this role signs in as; None where it has a token."""
    github = process.settings.github
    if process.role is not Role.REVIEWER:
        return github.app
    return github.reviewer_app or (github.app if github.reviewer_token_file is None else None)


def completed(settings: Settings, environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment; where nothing else holds a token, with what `gh auth token` says (none for loopback)."""
    github = settings.github
    if github.app or github.token_file or environment.get(github.token_env, "").strip() or github.loopback:
        return environment
    host = urlsplit(git_server(github.api_url)).netloc
    token = anyio.run(of_gh, settings.gh_cli, host, for_gh(environment))
    return {**environment, github.token_env: token} if token else environment


def siblings_of(process: Process, me: Account) -> frozenset[int]:
    """The account ids that other agents of this engine sign in with."""
    return frozenset(process.settings.github.accounts) - {me.id}


@asynccontextmanager
async def signed_in(process: Process, session: aiohttp.ClientSession) -> AsyncIterator[Mapping[str, SignedIn]]:
    """Every configured repository's full name -> who acts there; the token files are removed at the end.

    Raises `Misconfigured`, `Unauthorized` and `Transient`.
    """
    settings = process.settings.github
    pacing = Pacing(process.clock, share=settings.share, write_interval_seconds=settings.write_interval_seconds)

    def client(token: TokenSource) -> GitHub:
        return GitHub(
            session,
            token=token,
            api_url=settings.api_url,
            clock=process.clock,
            pacing=pacing,
            outgoing=process.outgoing,
        )

    acting = app_of(process)
    app = _app(process, acting, client) if acting is not None else None
    found: dict[str, SignedIn] = {}
    with ExitStack() as stack:
        for group, names in _groups(process, by_owner=app is not None).items():
            token = Kept(lambda: secret(process).get_secret_value()) if app is None else Installation(app, names)
            github = client(token)
            answers = Credentials(_place(process, group), git_server(settings.api_url), token)
            stack.callback(answers.remove)
            account = await (People(github, names[0]).me() if app is None else bot(app, github))
            found |= dict.fromkeys(names, SignedIn(github, answers, account, app))
        yield found


def git_server(api_url: str) -> str:
    """Scheme and host that git talks to, for an API root: github.com for api.github.com."""
    parts = urlsplit(api_url)
    host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
    return f"{parts.scheme}://{host}"


def _app(process: Process, acting: GitHubApp, client: Callable[[TokenSource], GitHub]) -> GitHub:
    """A client that speaks as the App itself; its proofs are dated by GitHub's time once that is known."""
    known: list[GitHub] = []

    def now() -> float:
        try:
            return known[0].server_time.timestamp()
        except (IndexError, Transient):
            return process.clock.now()

    known.append(client(Proof(acting.id, secret(process).get_secret_value(), now)))
    return known[0]


def _groups(process: Process, *, by_owner: bool) -> dict[str, list[str]]:
    """The repositories that share an identity: all of them, or as an App those of each owner."""
    groups: dict[str, list[str]] = {}
    for repository in process.settings.repositories:
        owner = repository.name.partition("/")[0] if by_owner else ""
        groups.setdefault(owner.casefold(), []).append(repository.name)
    return groups


def _place(process: Process, group: str) -> Path:
    name = f"{process.agent.id}.{group}.askpass" if group else f"{process.agent.id}.askpass"
    return process.settings.state_dir / "agents" / name
