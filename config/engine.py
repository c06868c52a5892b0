"""The whole configuration, each key strict by itself; the keys that belong to no single repository are defined here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from config.observability import EventSettings, HealthSettings, TelemetrySettings
from config.quiet_hours import QuietHoursSettings
from config.repository import Backend, RepositorySettings
from config.section import Mentioned, Section, Text, UserPath, Variable
from config.spending_limits import BudgetSettings, PriceSettings
from shared.github.address import LOOPBACK

DEFAULT_STATE_DIR = Path("~/.workflow-engine")

PhaseName = Literal[
    "write_tests",
    "implement",
    "refactor",
    "fix_ci",
    "resolve_conflict",
    "summarise",
    "plan",
    "triage",
    "answer",
    "review",
    "check_criteria",
    "diagnose",
]
"""The calls of a coding backend."""

RoleName = Literal[
    "architect", "test-automation", "developer", "code-reviewer", "debugger", "qa", "assistant", "generalist"
]


def _api_root(url: str) -> str:
    message = "is not the root of a GitHub API; write https://HOST, or https://HOST/api/v3 for an Enterprise Server"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError(message) from None
    if parts.hostname in {"github.com", "www.github.com"}:
        raise ValueError("is GitHub's site, not its API; write https://api.github.com")
    plain = parts.scheme in {"http", "https"} and parts.hostname and not (parts.query or parts.fragment)
    if not plain or "@" in parts.netloc or any(c.isspace() for c in url):
        raise ValueError(message)
    return url.rstrip("/")


class GitHubApp(Section):
    """The engine's GitHub App."""

    id: int = Field(ge=1)
    """Id of the App."""
    private_key_file: UserPath
    """File with its private key (PEM)."""


class GitHubSettings(Section):
    """Access to GitHub."""

    token_env: Variable = "GITHUB_TOKEN"
    """Environment variable with the token."""
    token_file: UserPath | None = None
    """File (mode 0600) with the token; it precedes `token_env`."""
    reviewer_token_file: UserPath | None = None
    """File (mode 0600) with the reviewer's own token."""
    app: GitHubApp | None = None
    """GitHub App to act as, in place of a token."""
    reviewer_app: GitHubApp | None = None
    """GitHub App of the reviewer; null means the others' account."""
    accounts: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Numbers of the engine's accounts, if several; `doctor` tells them."""
    api_url: Annotated[Text, AfterValidator(_api_root)] = "https://api.github.com"
    """Root of the REST API."""
    share: float | None = Field(None, gt=0, le=1)
    """Part of the account's limits of writes and polls for this process; null: by the other agents."""
    write_interval_seconds: float = Field(1, ge=0)
    """Seconds between two writes."""

    @property
    def loopback(self) -> bool:
        """True if the API is on this machine, as the lab's is."""
        return urlsplit(self.api_url).hostname in LOOPBACK


class LockSettings(Section):
    """Times of the lock, in seconds."""

    timeout: int = Field(1800, ge=1, le=2_592_000)
    """Seconds of silence after which a lock may be taken over."""
    self_fence: float = Field(1500, gt=0, le=2_592_000)
    """Seconds without a heartbeat after which an agent stops itself."""
    heartbeat: float = Field(300, gt=0, le=2_592_000)
    """Seconds between two signs of life."""
    settle: float = Field(5, ge=0)
    """Seconds before a comment that replicas may lack is read again."""
    key_files: tuple[UserPath, ...] = ()
    """Files with secrets that sign the engine's comments; the first signs, all verify."""


class RoleSettings(Section):
    """Backend and model of a role."""

    backend: Backend | None = None
    """Its backend; null means `llm_backend`."""
    model: Text | None = None
    """Its model, as the backend names it; null means the backend's default."""
    max_turns: int | None = Field(None, ge=1)
    """Turns of one run, at most the repository's `max_turns`; null means those, for CI repairs 30."""
    budget: float | None = Field(None, gt=0)
    """US dollars of one run, at most `budgets.run`; null means those, for CI repairs 2."""
    timeout_minutes: float | None = Field(None, gt=0)
    """Minutes of one run, at most `run_timeout_minutes`; null means those."""


class LLMSettings(Section):
    """Options of all coding backends."""

    models: dict[Backend, Text] = Field(default_factory=dict)
    """Default models of backends, as in `{qwen: qwen3-coder-plus}`."""
    record: UserPath | None = None
    """Directory of recordings: prompts, answers, changed files, without secrets."""
    scenario: UserPath | None = None
    """File, or directory of recordings, from which `scripted` answers."""
    vendor_tools: tuple[Literal["web_search", "web_fetch"], ...] = ()
    """Tools that the vendor runs and a run with a key may use; they send words of it elsewhere."""
    resume_seconds: float | None = Field(None, gt=0, le=3600)
    """Seconds for which an item's next call may go on in the last one's session; null means never."""
    resume_tokens: int = Field(100_000, ge=1)
    """Tokens from which on a session is over."""


class SandboxLimits(Section):
    """Limits of one test run, set-up or run of a coding backend, all processes together."""

    memory_gib: float = Field(4, gt=0)
    """Memory in GiB, with its /tmp and what has no name."""
    processes: int = Field(512, ge=16)
    """Processes at a time."""
    disk_gib: float = Field(10, gt=0)
    """Size of its directories and /tmp, in GiB."""
    files: int = Field(500_000, ge=1000)
    """Number of files in them."""
    cpu_minutes: float = Field(240, gt=0)
    """CPU time, added up."""


class NotifySettings(Section):
    """Receivers of a message when a person is needed."""

    mention: tuple[Mentioned, ...] = ()
    """Logins that are mentioned in a comment."""
    webhook: SecretStr | None = None
    """URL that receives a signed POST."""
    webhook_secret_file: UserPath | None = None
    """File (mode 0600) with the secret of its signature; needed with it."""
    smtp: SecretStr | None = None
    """Mail server, as in `smtp://user:password@host:587`."""
    sender: Text | None = None
    """Sender's mail address; needed with `smtp`."""
    to: tuple[Text, ...] = ()
    """Receivers' mail addresses; needed with `smtp`."""


class WebhookSettings(Section):
    """Address for GitHub's webhooks, which make an agent poll at once."""

    host: Text = "127.0.0.1"
    """Address to listen at, behind your reverse proxy."""
    port: int | None = Field(None, ge=0, le=65535)
    """First port to try; further agents take the next. 0 takes any, null no webhooks."""
    secret_env: Variable = "WORKFLOW_ENGINE_WEBHOOK_SECRET"
    """Environment variable with the webhook's secret."""
    secret_file: UserPath | None = None
    """File (mode 0600) with the secret; it precedes `secret_env`."""


class EngineSettings(Section):
    """Keys of the whole engine."""

    repositories: tuple[RepositorySettings, ...] = Field(min_length=1)
    """Repositories to work in."""
    state_dir: UserPath = Field(
        default_factory=DEFAULT_STATE_DIR.expanduser, json_schema_extra={"default": str(DEFAULT_STATE_DIR)}
    )
    """Directory of locks, mirrors and what failed runs left; `$STATE_DIRECTORY` replaces the default."""
    work_dir: UserPath = Field(
        default_factory=lambda known: known["state_dir"] / "workspaces",
        json_schema_extra={"default": str(DEFAULT_STATE_DIR / "workspaces")},
    )
    """Directory of work trees; it follows `state_dir`."""
    claude_cli: Text = "claude"
    """Claude Code's command."""
    codex_cli: Text = "codex"
    """Codex's command."""
    qwen_cli: Text = "qwen"
    """Qwen Code's command."""
    mini_cli: Text = "mini"
    """mini-swe-agent's command, in a virtual environment."""
    gh_cli: Text = "gh"
    """GitHub CLI's command."""
    github: GitHubSettings = GitHubSettings()
    """Access to GitHub."""
    lock: LockSettings = LockSettings()
    """Times of the lock, in seconds."""
    budgets: BudgetSettings = BudgetSettings()
    """Limits of spending, in US dollars."""
    prices: dict[Text, PriceSettings] = Field(default_factory=dict)
    """Prices that the engine's list lacks or has wrong, by the vendor's name of the model."""
    sandbox: Literal["bubblewrap", "container", "none"] = "bubblewrap"
    """Isolation of tests and coding backends; `none` means no isolation."""
    sandbox_readable: tuple[UserPath, ...] = ()
    """Toolchains outside of /usr that the sandbox shows, read-only."""
    sandbox_limits: SandboxLimits = SandboxLimits()
    """Limits of one run in the sandbox."""
    roles: dict[RoleName, RoleSettings] = Field(default_factory=dict)
    """Backends and models, as in `{code-reviewer: {backend: codex}}`."""
    phases: dict[PhaseName, RoleName] = Field(default_factory=dict)
    """Other roles of calls, as in `{fix_ci: developer}`."""
    llm: LLMSettings = LLMSettings()
    """Options of all coding backends."""
    notify: NotifySettings = NotifySettings()
    """Receivers of a message when a person is needed."""
    events: EventSettings = EventSettings()
    """Storage of events."""
    health: HealthSettings = HealthSettings()
    """HTTP server for metrics and health."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """Target of traces, for OpenTelemetry."""
    webhook: WebhookSettings = WebhookSettings()
    """Address for GitHub's webhooks, which make an agent poll at once."""
    max_concurrent: int = Field(1, ge=1)
    """Items that an agent works on at a time. One that waits, as for CI, does not count; it is the next to go on."""
    max_per_repository: int = Field(3, ge=1)
    """Items of one repository that an agent works on at a time."""
    cooldown: float = Field(10, ge=0)
    """Seconds between an item's end and the next claim."""
    in_work_per_account: int | None = Field(None, ge=1)
    """Issues that the engine's account has in work in all repositories of this file; null means any number."""
    quiet_hours: tuple[QuietHoursSettings, ...] = ()
    """Hours in which no new work begins, as in `[{start: "22:00", end: "06:00"}]`."""
    max_iterations: int = Field(0, ge=0)
    """Ticks after which an agent ends; 0 means never."""
    stop_seconds: float = Field(28, gt=0, le=86_400)
    """Seconds after which a stopping process ends; less than a service manager waits."""

    def cli(self, backend: str) -> str:
        """The command of a backend's program: the key `<backend>_cli`, or its plain name where there is no key."""
        return str(getattr(self, f"{backend}_cli", backend))

    def backends(self, *repositories: RepositorySettings) -> frozenset[str]:
        """The backends that calls in these repositories, or in all, may be made with, by their configured words."""
        used = repositories or self.repositories
        usual = [one.llm_backend for one in used]
        usual += [rung.backend for one in used for rung in one.ladder if rung.backend is not None]
        return frozenset({*usual, *(role.backend for role in self.roles.values() if role.backend is not None)})
