"""The whole configuration, each key strict by itself; the keys that belong to no single repository are defined here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from config.observability import EventSettings, HealthSettings, TelemetrySettings
from config.quiet_hours import QuietHoursSettings
from config.repository import Backend, RepositorySettings
from config.section import Section, Text, UserPath
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
    plain = parts.scheme in {"http", "https"} and parts.hostname and not (parts.query or parts.fragment)
    if not plain or "@" in parts.netloc or any(c.isspace() for c in url):
        raise ValueError(message)
    return url.rstrip("/")


class GitHubApp(Section):
    """The GitHub App that the engine acts as."""

    id: int = Field(ge=1)
    """The App's id."""
    private_key_file: UserPath
    """File with the App's private key (PEM)."""


class GitHubSettings(Section):
    """Access to GitHub: the API's address and the accounts."""

    token_env: Text = "GITHUB_TOKEN"
    """Environment variable that holds the token when `token_file` is null."""
    token_file: UserPath | None = None
    """File (mode 0600) that holds the token; it goes before `token_env`."""
    reviewer_token_file: UserPath | None = None
    """File (mode 0600) with the reviewer's own token; null means that it shares the others' account."""
    app: GitHubApp | None = None
    """The GitHub App to act as; null means a token."""
    reviewer_app: GitHubApp | None = None
    """The GitHub App that the reviewer acts as; null means that it shares the others' account."""
    accounts: tuple[Annotated[int, Field(ge=1)], ...] = ()
    """Numbers of the engine's other accounts, where its agents have several; `doctor` tells them."""
    api_url: Annotated[Text, AfterValidator(_api_root)] = "https://api.github.com"
    """Root of the REST API."""
    share: float | None = Field(None, gt=0, le=1)
    """Part of the account's write limits that this process may use; null: by the agents that are seen at work."""
    write_interval_seconds: float = Field(1, ge=0)
    """Seconds between two writes."""

    @property
    def loopback(self) -> bool:
        """True if the API is on this machine, as the lab's is."""
        return urlsplit(self.api_url).hostname in LOOPBACK


class LockSettings(Section):
    """The times of the lock, in seconds."""

    timeout: int = Field(1800, ge=1)
    """Seconds after its last sign of life at which a lock may be taken over."""
    self_fence: float = Field(1500, gt=0)
    """Seconds without a successful heartbeat after which an agent stops by itself."""
    heartbeat: float = Field(300, gt=0)
    """Seconds between two signs of life."""
    settle: float = Field(5, ge=0)
    """Seconds between a claim and reading who has won."""
    key_files: tuple[UserPath, ...] = ()
    """Files with the secrets that sign the engine's comments; the first signs, all verify."""


class RoleSettings(Section):
    """The backend and model of a role."""

    backend: Backend | None = None
    """The backend of this role; null means the repository's `llm_backend`."""
    model: Text | None = None
    """The model of this role, in the backend's own words; null means the backend's default."""
    max_turns: int | None = Field(None, ge=1)
    """Turns of one run of this role, at most the repository's `max_turns`; null means those, for CI repairs 30."""
    budget: float | None = Field(None, gt=0)
    """Limit of one run of this role in US dollars, at most `budgets.run`; null means that, for CI repairs 2."""
    timeout_minutes: float | None = Field(None, gt=0)
    """Minutes after which a run of this role is ended, at most `run_timeout_minutes`; null means those."""


class LLMSettings(Section):
    """Options of the coding backends, the same for each of them."""

    models: dict[Backend, Text] = Field(default_factory=dict)
    """The model of a backend where no role and no step of a ladder names one, as in `{qwen: qwen3-coder-plus}`."""
    record: UserPath | None = None
    """Directory into which every exchange is recorded: prompts, answers, changed files; secrets are left out."""
    scenario: UserPath | None = None
    """The file, or the directory of recordings, from which the `scripted` backend answers."""
    vendor_tools: tuple[Literal["web_search", "web_fetch"], ...] = ()
    """Tools that the model's vendor runs and that a run with a key may use; each sends words of it elsewhere."""
    resume_seconds: float | None = Field(None, gt=0, le=3600)
    """Seconds for which the next call for an item may go on with the program's session of the last; null: never."""
    resume_tokens: int = Field(100_000, ge=1)
    """Tokens from which on a session is not gone on with."""


class SandboxLimits(Section):
    """Limits of one test run, set-up or run of a coding backend on this machine, with all its processes."""

    memory_gib: float = Field(4, gt=0)
    """Memory in GiB, that of its /tmp and of what has no name included."""
    processes: int = Field(512, ge=16)
    """Processes at a time."""
    disk_gib: float = Field(10, gt=0)
    """Size of its directories and its /tmp together, in GiB."""
    files: int = Field(500_000, ge=1000)
    """Files in the same directories."""
    cpu_minutes: float = Field(240, gt=0)
    """CPU time, added up over its processes."""


class NotifySettings(Section):
    """Receivers of a message, beside the issue itself, when a person is needed."""

    mention: tuple[Text, ...] = ()
    """Logins that are mentioned in a comment when a person is needed."""
    webhook: SecretStr | None = None
    """URL that receives a signed POST."""
    webhook_secret_file: UserPath | None = None
    """File (mode 0600) with the secret by which the POST is signed; needed with `webhook`."""
    smtp: SecretStr | None = None
    """URL of a mail server, as in `smtp://user:password@host:587`."""
    sender: Text | None = None
    """The mail address that mail comes from; needed with `smtp`."""
    to: tuple[Text, ...] = ()
    """The mail addresses that mail goes to; needed with `smtp`."""


class WebhookSettings(Section):
    """Address for GitHub's webhooks, which make an agent poll at once; every agent polls without them, too."""

    host: Text = "127.0.0.1"
    """Address to listen at; GitHub reaches it through your own reverse proxy."""
    port: int | None = Field(None, ge=0, le=65535)
    """First port to try; agents of one machine take the next free ones. 0 takes any, null takes no webhooks."""
    secret_env: Text = "WORKFLOW_ENGINE_WEBHOOK_SECRET"
    """Environment variable that holds the webhook's secret when `secret_file` is null."""
    secret_file: UserPath | None = None
    """File (mode 0600) that holds the webhook's secret; it goes before `secret_env`."""


class EngineSettings(Section):
    """Everything that can be configured."""

    repositories: tuple[RepositorySettings, ...] = Field(min_length=1)
    """The repositories to work in."""
    state_dir: UserPath = Field(
        default_factory=DEFAULT_STATE_DIR.expanduser, json_schema_extra={"default": str(DEFAULT_STATE_DIR)}
    )
    """Directory of locks, mirrors, workspaces and what failed runs left; `$STATE_DIRECTORY` replaces the default."""
    work_dir: UserPath = Field(
        default_factory=lambda known: known["state_dir"] / "workspaces",
        json_schema_extra={"default": str(DEFAULT_STATE_DIR / "workspaces")},
    )
    """Directory of the work trees; it follows `state_dir`."""
    claude_cli: Text = "claude"
    """The Claude Code command."""
    codex_cli: Text = "codex"
    """The Codex command."""
    qwen_cli: Text = "qwen"
    """The Qwen Code command."""
    mini_cli: Text = "mini"
    """The command of mini-swe-agent, in a virtual environment."""
    gh_cli: Text = "gh"
    """The GitHub command."""
    github: GitHubSettings = GitHubSettings()
    """Access to GitHub: the API's address and the accounts."""
    lock: LockSettings = LockSettings()
    """The times of the lock, in seconds."""
    budgets: BudgetSettings = BudgetSettings()
    """Limits of spending, in US dollars."""
    prices: dict[Text, PriceSettings] = Field(default_factory=dict)
    """Prices of models that the engine's own list lacks or has wrong, by the vendor's name for the model."""
    sandbox: Literal["bubblewrap", "container", "none"] = "bubblewrap"
    """Isolation of tests and coding backends from this machine; `none` means no isolation."""
    sandbox_readable: tuple[UserPath, ...] = ()
    """Toolchains outside of /usr that tests and coding backends need and the sandbox has to show, read-only."""
    sandbox_limits: SandboxLimits = SandboxLimits()
    """Limits of one test run, set-up or run of a coding backend on this machine."""
    roles: dict[RoleName, RoleSettings] = Field(default_factory=dict)
    """The backend and model of each role, as in `{code-reviewer: {backend: codex}}`."""
    phases: dict[PhaseName, RoleName] = Field(default_factory=dict)
    """The role of a call, if it is not the default one, as in `{fix_ci: developer}`."""
    llm: LLMSettings = LLMSettings()
    """Options of the coding backends, the same for each of them."""
    notify: NotifySettings = NotifySettings()
    """Receivers of a message, beside the issue itself, when a person is needed."""
    events: EventSettings = EventSettings()
    """Storage of the engine's events."""
    health: HealthSettings = HealthSettings()
    """HTTP server for metrics and health."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """Target of traces, for OpenTelemetry."""
    webhook: WebhookSettings = WebhookSettings()
    """Address for GitHub's webhooks, which make an agent poll at once."""
    max_concurrent: int = Field(1, ge=1)
    """Items that one agent works on at a time. What has waited, as for CI, goes on at once; its paid runs wait then."""
    max_per_repository: int = Field(3, ge=1)
    """Items of one repository that one agent works on at a time."""
    cooldown: float = Field(10, ge=0)
    """Seconds between the end of one item and the next claim."""
    in_work_per_account: int | None = Field(None, ge=1)
    """Issues that the engine's account has in work at once over all repositories of this file; null means any number.
    """
    quiet_hours: tuple[QuietHoursSettings, ...] = ()
    """Hours in which no new work begins, as in `[{start: "22:00", end: "06:00", timezone: Europe/Berlin}]`."""
    max_iterations: int = Field(0, ge=0)
    """Ticks after which an agent ends; 0 means never."""
    stop_seconds: float = Field(28, gt=0)
    """Seconds after which a stop in order is given up and the process ends; less than a service manager waits."""

    def cli(self, backend: str) -> str:
        """The command of a backend's program: the key `<backend>_cli`, or its plain name where there is no key."""
        return str(getattr(self, f"{backend}_cli", backend))

    def backends(self, *repositories: RepositorySettings) -> frozenset[str]:
        """The backends that calls in these repositories, or in all, may be made with, by their configured words."""
        used = repositories or self.repositories
        usual = [one.llm_backend for one in used]
        usual += [rung.backend for one in used for rung in one.ladder if rung.backend is not None]
        return frozenset({*usual, *(role.backend for role in self.roles.values() if role.backend is not None)})
