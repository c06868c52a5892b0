"""The settings of one repository: a frozen model, every key with its default and its meaning.

Units are those of the YAML file: seconds unless the key says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from config.section import Login, Section, Text
from config.suites import Directory, Pattern, SuiteSettings
from shared.llm import BACKENDS
from shared.workflow.labels import Labels

if TYPE_CHECKING:
    Backend = str
else:
    Backend = Literal[tuple(BACKENDS)]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


def repository_name(name: str) -> str:
    """`name` when it has GitHub's shape `owner/repo`; raises ValueError with one sentence otherwise."""
    if not _NAME.fullmatch(name) or name.endswith(".git"):
        raise ValueError("is not a repository; write owner/repo, as in 'octocat/hello-world', without URL or .git")
    return name


RepositoryName = Annotated[str, AfterValidator(repository_name)]


_NAMES = re.compile(r"\{[^{}]*\}")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,40}: \S[^\n\r]{0,200}")


def title_template(template: str) -> str:
    """`template` when it names the issue's title and nothing unknown; raises ValueError with one sentence otherwise."""
    unknown = sorted(set(_NAMES.findall(template)) - {"{title}", "{number}", "{type}"})
    if unknown or template.count("{title}") != 1 or "\n" in template or len(template) > 100:
        raise ValueError("is one line with {title} in it once; {number} and {type} may stand there too, nothing else")
    return template


def trailer(line: str) -> str:
    """`line` when git takes it for a trailer; raises ValueError with one sentence otherwise."""
    if not _TRAILER.fullmatch(line):
        raise ValueError("is not a trailer; write it as in 'Co-authored-by: Ada <ada@example.org>'")
    return line


def web_address(url: str) -> str:
    """`url` when a browser opens it; raises ValueError with one sentence otherwise."""
    if not re.fullmatch(r"https?://[^\s<>()\[\]]+", url):
        raise ValueError("is not an address; write it as in 'https://example.org/docs'")
    return url


class LabelSettings(Section):
    """Labels that filter candidates, and names of the engine's own."""

    include: tuple[Text, ...] = ()
    """Only items with one of these are taken; empty means all."""
    exclude: tuple[Text, ...] = ("blocked", "do-not-automate")
    """Items with one of these are left alone after the running step."""
    status_prefix: Text = "status:"
    """Prefix of stages."""
    flag_prefix: Text = "flag:"
    """Prefix of flags."""
    story: Text = "story"
    """Label of a story for the planner."""

    def names(self) -> Labels:
        """The spelling that `shared.workflow` reads and writes."""
        return Labels(self.status_prefix, self.flag_prefix, self.story)


class StartSettings(Section):
    """Orders of people with write access that begin work, beside `status:ready` and `/start`."""

    assigned: bool = False
    """True if an assignment to the engine's account begins work; nobody can assign an App."""
    mentioned: bool = False
    """True if a mention of the engine's account without a question begins work."""
    labels: tuple[Text, ...] = ()
    """Labels that begin work, as in `["good first issue"]`."""


class RungSettings(Section):
    """One step of a ladder; a plain word is a backend, or else a model of `llm_backend`."""

    backend: Backend | None = None
    """Its backend; null means `llm_backend`."""
    model: Text | None = None
    """Its model; null means the backend's default."""


def _rung(value: object) -> object:
    """A step as a section, whatever short form it was written in."""
    if not isinstance(value, str):
        return value
    return {"backend": value} if value in BACKENDS else {"model": value}


Ladder = tuple[Annotated[RungSettings, BeforeValidator(_rung, json_schema_input_type=RungSettings | str)], ...]


class CeilingSettings(Section):
    """Limits of concurrent work."""

    in_work: int | None = Field(None, ge=1)
    """Issues that are written or wait for CI; null means any number."""
    open_pull_requests: int | None = Field(None, ge=1)
    """Pull requests in work or under review; null means any number."""


class HookSettings(Section):
    """Commands around a workspace and its runs, confined as `setup_command` is."""

    after_create: Text | None = None
    """Runs once after an issue's workspace was made; a failure ends the work."""
    before_run: Text | None = None
    """Runs before each run of a backend, in its tree; a failure ends the work."""
    after_run: Text | None = None
    """Runs after each run, as a code generator; its changes count as the coder's."""
    before_remove: Text | None = None
    """Runs before a workspace is removed."""
    timeout_seconds: float = Field(300, gt=0, le=3600)
    """Seconds of each."""


class CISettings(Section):
    """Watch over a pull request's checks."""

    interval: float = Field(30, gt=0)
    """Least seconds between two looks; left out, every poll looks."""
    timeout: float = Field(600, gt=0)
    """Seconds after which a pull request goes to review with a warning while checks run."""
    max_retries: int = Field(3, ge=0)
    """Repairs before `status:ci-failed`."""
    none_is_green: bool = False
    """True if a commit without checks counts as green."""
    may_edit_workflows: bool = False
    """True if a repair may change a workflow file that CI names as the cause; it runs with the repository's secrets
    as soon as it is pushed, and a person merges it."""

    @property
    def seconds_between_looks(self) -> float:
        """`interval` where somebody has given it, else 0: every poll looks."""
        return self.interval if "interval" in self.model_fields_set else 0.0


class TitleSettings(Section):
    """Additions to titles."""

    attempts: bool = False
    """True if an issue's title shows the attempt, as in `Add search | attempt 2/5`."""


class ReviewSettings(Section):
    """Limits and form of reviews."""

    max_rounds: int = Field(3, ge=1)
    """Rounds of changes in a row before a person decides."""
    max_commits: int = Field(10, ge=1)
    """Reviewed commits of a pull request before a person decides."""
    second_pass: bool = True
    """True if an approval needs a check of each criterion by the role `qa`."""
    hide_outdated: bool = False
    """True if an approving review hides the engine's earlier ones."""


_APP = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\[bot\]")


def app_login(login: str) -> str:
    """`login` when it is an App's, which nobody else can take; raises ValueError with one sentence otherwise."""
    if not _APP.fullmatch(login):
        raise ValueError("is not an App's login; write it as on its comments, for example 'linter[bot]'")
    return login


class FeedbackSettings(Section):
    """Authors of remarks that are worked on."""

    bots: tuple[Annotated[str, AfterValidator(app_login)], ...] = ()
    """Apps that count like people with write access, as in `["linter[bot]"]`."""


class PendingSettings(Section):
    """Tests that wait for their code, by a reason that begins with `spec:`."""

    globs: tuple[Text, ...] = ()
    """Files that may have them, as in `["tests/**/test_*.py"]`; empty means none."""
    order: Literal["globs", "path"] = "globs"
    """Order: by `globs`, or by path; inside a file, by line."""
    open_at_once: int = Field(1, ge=1)
    """Issues about them at once."""


class TddSettings(Section):
    """Cycles of tests and code."""

    cycles: Literal["whole-spec", "per-criterion"] = "whole-spec"
    """One cycle for all criteria, or one for each."""
    damages: int = Field(20, ge=0, le=200)
    """Most damages of a change that are tried, to see that its tests notice."""
    pending: PendingSettings = PendingSettings()
    """Tests that wait for their code, by a reason that begins with `spec:`."""


class TriageLabelSettings(Section):
    """Labels of proposals; the first four are GitHub's own."""

    bug: Text = "bug"
    """Label of an issue that reports a mistake."""
    feature: Text = "enhancement"
    """Label of an issue that asks for something new."""
    question: Text = "question"
    """Label of an issue whose author wants to know something."""
    duplicate: Text = "duplicate"
    """Label of an issue that repeats another."""
    vague: Text = "needs-info"
    """Label of an issue that does not say enough."""


class TriageSettings(Section):
    """Proposals for issues without a label; strangers' texts reach a model."""

    per_day: int = Field(0, ge=0, le=1000)
    """Most proposals in 24 hours, over all planners; 0 means off."""
    labels: TriageLabelSettings = TriageLabelSettings()
    """Labels that are set when a person accepts."""


class AssistantSettings(Section):
    """Answers to questions of people with write access who mention the engine."""

    per_day: int = Field(0, ge=0, le=1000)
    """Most answers in 24 hours, over all planners; 0 means off."""


class RepositorySettings(Section):
    """One repository and how the engine works in it."""

    name: RepositoryName
    """The repository as `owner/repo`."""
    base_branch: Text | None = None
    """Branch to start from and merge into; null means the default branch."""
    poll_interval: float = Field(30, gt=0)
    """Seconds between two looks at the repository; more where GitHub's limit of a minute does not suffice."""
    llm_backend: Backend = "claude"
    """Coding backend of roles that `roles` does not name."""
    ladder: Ladder = ()
    """Models or backends of further attempts, cheapest first, as in `[haiku, sonnet, {backend: codex}]`; it
    precedes `roles` where tests and code are written."""
    test_command: Text | None = None
    """Command that runs the tests; null means detected (`doctor` tells it)."""
    test_report: Text | None = None
    """Glob of JUnit XML files that `test_command` writes; null means the runner's own report."""
    working_directory: Directory = ""
    """Directory where test, set-up and quality commands run; empty means the root."""
    suites: tuple[SuiteSettings, ...] = ()
    """Several suites, as in `[{directory: api}, {directory: web}]`, in place of `test_command`, `test_report` and
    `working_directory`."""
    test_files: tuple[Pattern, ...] = ()
    """Globs of tests and what serves them, as in `["spec/**"]`, for runners that cannot tell."""
    old_tests: Literal["justified", "strict"] = "justified"
    """Changes of existing tests: those that the proof justifies, or only in files that the specification lists."""
    local_suite: Literal["full", "changed"] = "full"
    """Tests that run here after the change: the whole suite, or new and changed tests, with the rest left to CI."""
    setup_command: Text | None = None
    """Command that installs what the tests need, as `uv sync`; null means none."""
    ceilings: CeilingSettings = CeilingSettings()
    """Limits of concurrent work."""
    own_rules: bool = True
    """True if the base branch's `.workflow-engine.yml` is read, which sets some of these keys."""
    hooks: HookSettings = HookSettings()
    """Commands around a workspace and its runs."""
    quality_commands: tuple[Text, ...] | None = None
    """Linters and type checkers that must stay clean; null means detected, [] none."""
    labels: LabelSettings = LabelSettings()
    """Labels that filter candidates, and names of the engine's own."""
    start: StartSettings = StartSettings()
    """Orders that begin work, beside `status:ready` and `/start`."""
    priority_labels: tuple[Text, ...] = ("priority:critical", "priority:high", "priority:medium", "priority:low")
    """Labels that order the candidates, most urgent first."""
    pr_labels: tuple[Text, ...] = ("automated",)
    """Labels of the engine's pull requests."""
    pr_title: Annotated[Text, AfterValidator(title_template)] = "{title}"
    """Title of a pull request, as in `feat: {title}`, by the issue's `{title}`, `{number}`, and `{type}` of
    Conventional Commits."""
    docs_url: Annotated[Text, AfterValidator(web_address)] | None = None
    """Page about the engine's commands that pull requests link; null means no link."""
    reviewers: tuple[Login, ...] = ()
    """Logins whose review is requested."""
    assign: Login | None = None
    """Login that is assigned to an item in work; null means nobody."""
    take_assigned_issues: bool = False
    """True if issues that are assigned to a person are begun, too."""
    approval: Literal["auto", "comment", "terminal"] = "comment"
    """Approval of a plan: by nobody, by `/approve`, or at the terminal."""
    approval_timeout_hours: float = Field(24, gt=0, le=87_600)
    """Hours after which an approval, or an item that a red check or an edit holds up, is escalated once."""
    refactor: Literal["off", "auto", "approve"] = "auto"
    """Refactoring after green: none, without confirmation, or confirmed by a person."""
    merge: Literal["never", "approve", "auto"] = "never"
    """Merge of an approved pull request: by people, by the engine after `/merge`, or by the engine."""
    merge_method: Literal["squash", "merge", "rebase"] = "squash"
    """Method of a merge."""
    commit_trailers: tuple[Annotated[Text, AfterValidator(trailer)], ...] = ()
    """Last lines of a squash or merge commit, as in `["Signed-off-by: Ada <ada@example.org>"]`."""
    merge_max_lines: int | None = Field(800, ge=1)
    """Changed lines, deleted files aside, up to which no person is needed for a merge; null means any number."""
    merge_cooling_minutes: float = Field(0, ge=0, le=525_600)
    """With `merge: auto`, minutes between approval and merge, for people to object."""
    merge_by_requester: bool = True
    """True if `/merge` by the author of the issue or its story counts; false needs a second person."""
    merge_blocking_labels: tuple[Text, ...] = ("do-not-merge",)
    """Labels of a pull request or its issue that prevent the merge."""
    delete_branch: bool = True
    """True if the branch is deleted after the merge."""
    after_merge: Literal["off", "report", "revert"] = "off"
    """Reaction when a merge turns checks of the base red within an hour: none, an issue, or a reverting pull
    request."""
    max_attempts: int = Field(3, ge=1)
    """Implementations of a specification."""
    max_turns: int = Field(50, ge=1)
    """Turns of one run."""
    run_timeout_minutes: float = Field(45, gt=0)
    """Minutes of one run."""
    stall_timeout_minutes: float = Field(25, gt=0)
    """Minutes without output after which a run ends."""
    ci: CISettings = CISettings()
    """Watch over a pull request's checks."""
    titles: TitleSettings = TitleSettings()
    """Additions to titles."""
    review: ReviewSettings = ReviewSettings()
    """Limits and form of reviews."""
    feedback: FeedbackSettings = FeedbackSettings()
    """Authors of remarks that are worked on."""
    tdd: TddSettings = TddSettings()
    """Cycles of tests and code."""
    assistant: AssistantSettings = AssistantSettings()
    """Answers to questions in comments."""
    triage: TriageSettings = TriageSettings()
    """Proposals for issues without a label; strangers' texts reach a model."""
