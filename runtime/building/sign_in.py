"""The identity of a process on GitHub: its client, git's answers and its account, by a token or as an App per owner."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from config.credentials import OF_GH, TOKEN_ORIGIN, replacement
from config.engine import GitHubApp
from config.environment import for_gh
from config.settings import Settings
from config.state import StateDirectory
from runtime.building.connections import Announced, Connection, Pace, web_session
from runtime.building.process import Process
from shared.clock import Clock
from shared.errors import Transient, Unauthorized
from shared.git.credentials import Credentials
from shared.github.client import GitHub, TokenSource
from shared.github.kept_answers import KeptAnswers
from shared.github.people import People
from shared.github.points import MINUTE
from shared.github.tokens import Installation, Kept, Proof, bot, of_gh
from shared.models import Account
from shared.workflow import Role

ANSWERS = Path("answers") / "answers.db"
"""The file in the state directory that keeps GitHub's answers; all agents of a machine use it."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One identity at one server."""

    github: GitHub
    answers: Credentials
    account: Account
    pace: Pace
    """The pace at which it may write."""
    app: GitHub | None = None
    """A client that speaks as the App itself, if one is used."""


def with_gh_token(settings: Settings, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment; if nothing else holds a token, with what `gh auth token` says (none for loopback)."""
    github = settings.github
    if github.app or github.token_file or environment.get(github.token_env, "").strip() or github.loopback:
        return environment
    host = urlsplit(git_server(github.api_url)).netloc
    token = anyio.run(of_gh, settings.gh_cli, host, for_gh(environment))
    return {**environment, github.token_env: token, TOKEN_ORIGIN: OF_GH} if token else environment


def siblings_of(process: Process, me: Account) -> frozenset[int]:
    """Return the account ids that other agents of this engine sign in with."""
    return frozenset(process.settings.github.accounts) - {me.id}


class Identities:
    """An agent's identity in each repository: signed in when first asked for, as an App once for each owner."""

    def __init__(self, process: Process, line: Connection, stack: ExitStack, *, keeps: bool = False) -> None:
        """Remove the token files for git with `stack`.

        `keeps`: it is an agent, which polls: others know of it, and GitHub's answers are kept over a restart.
        """
        self._polls = keeps
        self._keeps = keeps and process.secrets.app is None  # an App's token is another one every hour
        self._process, self._line, self._stack = process, line, stack
        self._acting = process.secrets.app
        self._groups = _groups(process, by_owner=self._acting is not None)
        self._app: GitHub | None = None
        self._known: dict[str, SignedIn] = {}
        self._tokens: dict[str, Announced] = {}
        self._turn = anyio.Lock()

    async def of(self, name: str) -> SignedIn:
        """Return the identity in one configured repository; raises `Misconfigured`, `Unauthorized` and `Transient`."""
        group = next(group for group, names in self._groups.items() if name in names)
        async with self._turn:  # whoever comes meanwhile gets the same token
            if group not in self._known:
                self._known[group] = await self._signed_in(group, self._groups[group])
        await self._tokens[group].admit(name)
        return self._known[group]

    async def _signed_in(self, group: str, names: list[str]) -> SignedIn:
        process, app = self._process, self._as_app()
        who, pace = identity(process), pace_of(process)

        def source() -> TokenSource:
            return Kept(lambda: process.secrets.token().get_secret_value()) if app is None else Installation(app, names)

        token, github = self._line.client((*who, group), source, self._client)
        self._tokens[group] = token
        account = await (self._me(github, names[0]) if app is None else bot(app, github))
        if self._polls:
            self._share_points(pace, account)
        answers = Credentials(_askpass(process, group), git_server(process.settings.github.api_url), token, token.renew)
        self._stack.callback(answers.remove)
        return SignedIn(github, answers, account, pace, app)

    def _share_points(self, pace: Pace, account: Account) -> None:
        """Share GitHub's limit of a minute with the other processes of this machine that use the same account.

        With `github.share` its part is given, whatever the others do.
        """
        process, github = self._process, self._process.settings.github
        polls = sum(MINUTE / one.poll_interval for one in process.settings.repositories)
        who = f"{github.api_url} {account.id}"
        neighbours = process.connections.neighbours(process.settings.state_dir, who, process.clock)
        points = pace.pacing.points
        for one in (neighbours, points):
            one.join(process.agent.id, polls)
            self._stack.callback(one.leave, process.agent.id)
        points.neighbours, points.divides_share = lambda: neighbours.polls(points.agents), github.share is None
        points.reads_neighbours = process.settings.webhook.port is None

    async def _me(self, github: GitHub, name: str) -> Account:
        """Return the token's account; a refusal also says where the token came from, and how to get another one."""
        process = self._process
        try:
            return await People(github, name).me()
        except Unauthorized as error:
            settings, reviewer = process.settings.github, process.role is Role.REVIEWER
            server = git_server(settings.api_url)
            then = replacement(settings, process.environment, reviewer=reviewer, server=server)
            raise Unauthorized(f"{str(error).rstrip('.')}. {then}", logged=error.logged) from error

    def _as_app(self) -> GitHub | None:
        if self._acting is not None and self._app is None:
            self._app = _app(self._process, self._acting, self._client)
        return self._app

    def _open_kept_answers(self) -> KeptAnswers:
        """Return the kept answers, which belong to the account of the token."""
        process = self._process
        token = process.secrets.token().get_secret_value()
        kept = KeptAnswers(process.settings.state_dir / ANSWERS, token, process.clock)
        self._stack.callback(kept.close)
        return kept

    def _client(self, token: TokenSource) -> GitHub:
        process = self._process
        github = GitHub(
            self._line.session,
            token=token,
            api_url=process.settings.github.api_url,
            clock=process.clock,
            pacing=pace_of(process).pacing,
            outgoing=process.outgoing,
        )
        github.name_agent(process.agent.id)
        if self._keeps:
            github.remember(self._open_kept_answers())
        return github


def identity(process: Process) -> tuple[str, ...]:
    """Return where the role's token comes from, or which App it is: the same for agents that act as one account."""
    github, acting = process.settings.github, process.secrets.app
    if acting is not None:
        return ("app", str(acting.id), str(acting.private_key_file))
    own = github.reviewer_token_file if process.role is Role.REVIEWER else None
    return ("token", str(own or github.token_file or github.token_env))


def pace_of(process: Process) -> Pace:
    """Return the pace at which the account of this role may write from here."""
    pace = process.connections.pace(identity(process), process.settings.github, process.clock)
    if pace.presence is not None:
        pace.presence.join(process.agent.id)
    return pace


def git_server(api_url: str) -> str:
    """Return scheme and host that git talks to, for an API root: github.com for api.github.com."""
    parts = urlsplit(api_url)
    host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
    return f"{parts.scheme}://{host}"


def _app(process: Process, acting: GitHubApp, client: Callable[[TokenSource], GitHub]) -> GitHub:
    """Return a client that speaks as the App itself; its proofs are dated by GitHub's time once that is known."""
    clients: list[GitHub] = []

    def now() -> float:
        try:
            return clients[0].server_time.timestamp()
        except (IndexError, Transient):
            return process.clock.now()

    clients.append(client(Proof(acting.id, process.secrets.token().get_secret_value(), now)))
    return clients[0]


def _groups(process: Process, *, by_owner: bool) -> dict[str, list[str]]:
    """Return the repositories that share an identity: all of them, or as an App those of each owner."""
    groups: dict[str, list[str]] = {}
    for repository in process.settings.repositories:
        owner = repository.name.partition("/")[0] if by_owner else ""
        groups.setdefault(owner.casefold(), []).append(repository.name)
    return groups


def _askpass(process: Process, group: str) -> Path:
    name = f"{process.agent.id}.{group}.askpass" if group else f"{process.agent.id}.askpass"
    return process.settings.state_dir / "agents" / name


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
    """Give a process for a visit: its identity is none of an agent's, and nothing of it is left afterwards.

    With `apart` its state is in the same temporary directory, made `within`, as its identity; else it works with the
    mirrors of `settings`.
    """
    with tempfile.TemporaryDirectory(prefix="visit-", dir=within) as place:
        own = settings.model_copy(update={"state_dir": Path(place)}) if apart else settings
        with StateDirectory(Path(place)).open().claim_identity(role) as identity:
            yield Process(own, role, clock, identity, environment)


@asynccontextmanager
async def visiting(
    settings: Settings,
    environment: Mapping[str, str],
    clock: Clock,
    role: Role = Role.WORKER,
    *,
    apart: bool = True,
    within: Path | None = None,
) -> AsyncIterator[tuple[Process, Mapping[str, SignedIn]]]:
    """Sign in for a visit; give its process, and every configured repository's full name -> the identity there.

    The parameters are those of `visitor`. Raises `Misconfigured`, `Unauthorized` and `Transient`.
    """
    with ExitStack() as stack:
        process = stack.enter_context(visitor(settings, environment, clock, role, apart=apart, within=within))
        async with web_session(process.settings, environment) as session:
            identities = Identities(process, Connection(session, [process.outgoing]), stack)
            yield process, {one.name: await identities.of(one.name) for one in settings.repositories}
