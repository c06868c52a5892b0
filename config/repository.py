"""The settings of one repository: a frozen model, every key with its default and its meaning.

Units are those of the YAML file: seconds unless the key says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from config.section import Section, Text
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
    """Labels that filter candidates, and the names of the engine's own labels."""

    include: tuple[Text, ...] = ()
    """Only items with one of these labels are taken; empty means all."""
    exclude: tuple[Text, ...] = ("blocked", "do-not-automate")
    """Items with one of these labels are left alone: not begun, and not gone on with after the step that runs."""
    status_prefix: Text = "status:"
    """Prefix of a stage's label, as in `status:ready`."""
    flag_prefix: Text = "flag:"
    """Prefix of a flag's label, as in `flag:paused`."""
    story: Text = "story"
    """The label that makes an issue a story for the planner."""

    def names(self) -> Labels:
        """The spelling that `shared.workflow` reads and writes."""
        return Labels(self.status_prefix, self.flag_prefix, self.story)


class StartSettings(Section):
    """Orders that begin work on an issue beside `status:ready` and `/start`, given by somebody with write access."""

    assigned: bool = False
    """True if an assignment to the engine's account begins the work; GitHub lets nobody assign an App."""
    mentioned: bool = False
    """True if a comment that mentions the engine's account and holds no question begins the work."""
    labels: tuple[Text, ...] = ()
    """Labels that begin the work, as in `["good first issue"]`."""


class RungSettings(Section):
    """One step of a ladder; a plain word is a backend's name, or else a model of the repository's backend."""

    backend: Backend | None = None
    """The backend of this step; null means the repository's `llm_backend`."""
    model: Text | None = None
    """Its model, in the backend's own words; null means the backend's default."""


def rung(value: object) -> object:
    """A step as a section, whatever short form it was written in."""
    if not isinstance(value, str):
        return value
    return {"backend": value} if value in BACKENDS else {"model": value}


class CeilingSettings(Section):
    """Limits of concurrent work in one repository over all agents; counted by their locks."""

    in_work: int | None = Field(None, ge=1)
    """Issues that are being written or wait for CI; null means any number."""
    open_pull_requests: int | None = Field(None, ge=1)
    """Pull requests of the engine that are in work or under review; null means any number."""


class HookSettings(Section):
    """Commands around a workspace and the runs of a coder in it, confined as `setup_command` is."""

    after_create: Text | None = None
    """Runs once after an issue's workspace was made on a machine, before the first run; a failure ends the work."""
    before_run: Text | None = None
    """Runs before each run of a coding backend, in the tree that it edits; a failure ends the work."""
    after_run: Text | None = None
    """Runs after each run, for example a code generator; what it changes counts as part of the change."""
    before_remove: Text | None = None
    """Runs before a workspace that is used no longer is removed."""
    timeout_seconds: float = Field(300, gt=0, le=3600)
    """Seconds that each of them may take."""


class CISettings(Section):
    """The watch over the checks of a pull request."""

    interval: float = Field(30, gt=0)
    """Least seconds between two looks at the checks of a pull request; left out, every poll looks."""
    timeout: float = Field(600, gt=0)
    """Seconds after which a pull request goes to review with a warning although checks still run."""
    max_retries: int = Field(3, ge=0)
    """Repairs that are tried after a red result before `status:ci-failed`."""
    none_is_green: bool = False
    """True if a commit without any check counts as green."""
    may_edit_workflows: bool = False
    """True if a repair may change a workflow file that CI names as the cause; a changed one runs with the
    repository's secrets as soon as it is pushed, and a person merges it."""

    @property
    def seconds_between_looks(self) -> float:
        """`interval` where somebody has given it, else 0: every poll looks."""
        return self.interval if "interval" in self.model_fields_set else 0.0


class TitleSettings(Section):
    """Additions of the engine to titles."""

    attempts: bool = False
    """True if an issue's title shows the current attempt, as in `Add search | attempt 2/5`."""


class ReviewSettings(Section):
    """Limits of the reviews of a pull request, and the check of an approval."""

    max_rounds: int = Field(3, ge=1)
    """Rounds of changes that follow one another before a person decides."""
    max_commits: int = Field(10, ge=1)
    """Commits of one pull request that are reviewed before a person decides."""
    second_pass: bool = True
    """True if an approval holds only after the role `qa` has checked each criterion against the evidence."""
    hide_outdated: bool = False
    """True if an approving review of the engine hides its earlier ones of the same pull request as outdated."""


_APP = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\[bot\]")


def app_login(login: str) -> str:
    """`login` when it is an App's, which nobody else can take; raises ValueError with one sentence otherwise."""
    if not _APP.fullmatch(login):
        raise ValueError("is not an App's login; write it as on its comments, for example 'linter[bot]'")
    return login


class FeedbackSettings(Section):
    """Authors whose remarks on a pull request are worked on."""

    bots: tuple[Annotated[str, AfterValidator(app_login)], ...] = ()
    """Logins of Apps whose remarks are worked on like those of people with write access, as in `["linter[bot]"]`."""


class PendingSettings(Section):
    """Tests that wait in the repository for their code, marked with a reason that begins with `spec:`."""

    globs: tuple[Text, ...] = ()
    """Files that are looked through for pending tests, as in `["tests/**/test_*.py"]`; empty means that none are."""
    order: Literal["globs", "path"] = "globs"
    """Order of pending tests: by `globs`, or by path; inside a file, by line."""
    open_at_once: int = Field(1, ge=1)
    """Issues about pending tests that are worked on at once."""


class TddSettings(Section):
    """The cycles of tests and code."""

    cycles: Literal["whole-spec", "per-criterion"] = "whole-spec"
    """One red-green cycle for all acceptance criteria, or one for each."""
    damages: int = Field(20, ge=0, le=200)
    """Most damaged versions of a change that are tried, to see that its tests notice; 0 tries none."""
    pending: PendingSettings = PendingSettings()
    """Tests that wait in the repository for their code, marked with a reason that begins with `spec:`."""


class TriageLabelSettings(Section):
    """The label of each kind of issue that a proposal can name; the first four are GitHub's own."""

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
    """Proposals for open issues without a label; strangers' texts reach a model for them."""

    per_day: int = Field(0, ge=0, le=1000)
    """Most issues that get a proposal in 24 hours, over all planners; 0 turns it off."""
    labels: TriageLabelSettings = TriageLabelSettings()
    """The label that each kind of issue gets when a person accepts."""


class AssistantSettings(Section):
    """Answers to questions: a comment of somebody with write access that mentions the engine and asks something."""

    per_day: int = Field(0, ge=0, le=1000)
    """Most questions that are answered in 24 hours, over all planners; 0 turns it off."""


class RepositorySettings(Section):
    """One repository and how the engine works in it."""

    name: RepositoryName
    """The repository as `owner/repo`."""
    base_branch: Text | None = None
    """The branch that work starts from and is merged into; null means the repository's default branch."""
    poll_interval: float = Field(30, gt=0)
    """Seconds between two looks at the repository."""
    llm_backend: Backend = "claude"
    """The coding backend for every role that `roles` does not name."""
    ladder: tuple[Annotated[RungSettings, BeforeValidator(rung, json_schema_input_type=RungSettings | str)], ...] = ()
    """Models or backends that further attempts use in turn, cheapest first, as in `[haiku, sonnet, {backend: codex}]`;
    it goes before `roles` where tests and code are written."""
    test_command: Text | None = None
    """The command that runs the tests; null means detected (`doctor` tells what is)."""
    test_report: Text | None = None
    """Glob of the JUnit XML files that `test_command` writes; null means the detected runner's own report."""
    working_directory: Directory = ""
    """Directory in the repository where the test, set-up and quality commands run; empty means its root."""
    suites: tuple[SuiteSettings, ...] = ()
    """Several suites, as in `[{directory: api}, {directory: web}]`; they replace `test_command`, `test_report` and
    `working_directory`. Empty means the one suite that those describe."""
    test_files: tuple[Pattern, ...] = ()
    """Globs of files that are tests or serve them, as in `["spec/**"]`, for runners that cannot tell."""
    old_tests: Literal["justified", "strict"] = "justified"
    """Changes that are allowed to an existing test: those that the proof can justify, or none where the
    specification does not list its file."""
    local_suite: Literal["full", "changed"] = "full"
    """Tests that run here once the change is done: the whole suite, or the new and changed tests, with the rest left
    to CI; the evidence says so."""
    setup_command: Text | None = None
    """The command that installs what the tests need, for example `uv sync`; null means none."""
    ceilings: CeilingSettings = CeilingSettings()
    """Limits of concurrent work over all agents."""
    own_rules: bool = True
    """True if `.workflow-engine.yml` of the base branch is read, in which a repository sets some of these keys."""
    hooks: HookSettings = HookSettings()
    """Commands around a workspace and the runs of a coder in it."""
    quality_commands: tuple[Text, ...] | None = None
    """Linters and type checkers that must stay clean; null means detected, [] means none."""
    labels: LabelSettings = LabelSettings()
    """Labels that filter candidates, and the names of the engine's own labels."""
    start: StartSettings = StartSettings()
    """Orders that begin work on an issue beside `status:ready` and `/start`."""
    priority_labels: tuple[Text, ...] = ("priority:critical", "priority:high", "priority:medium", "priority:low")
    """Labels that order the candidates, most urgent first."""
    pr_labels: tuple[Text, ...] = ("automated",)
    """Labels that every pull request of the engine gets."""
    pr_title: Annotated[Text, AfterValidator(title_template)] = "{title}"
    """The title of a pull request, as in `feat: {title}`; `{title}` is the issue's, `{number}` its number, `{type}` the
    word of Conventional Commits for its kind."""
    docs_url: Annotated[Text, AfterValidator(web_address)] | None = None
    """Page about the engine's commands for people of the repository; pull requests link it, null means no link."""
    reviewers: tuple[Text, ...] = ()
    """Logins whose review is requested when a pull request is handed to review."""
    assign: Text | None = None
    """Login that is assigned to an item while the engine works on it; null means nobody."""
    take_assigned_issues: bool = False
    """True if issues that are assigned to a person are begun, too; else they are left to that person."""
    approval: Literal["auto", "comment", "terminal"] = "comment"
    """Approval of a plan: by nobody, by a person's `/approve`, or by the person at the terminal."""
    approval_timeout_hours: float = Field(24, gt=0)
    """Hours after which a waiting approval, or an item that a red check or an edit holds up, is escalated once."""
    refactor: Literal["off", "auto", "approve"] = "auto"
    """Refactoring after green: none, without confirmation, or confirmed by a person before the pull request."""
    merge: Literal["never", "approve", "auto"] = "never"
    """Merge of an approved pull request: by people, by the engine after `/merge`, or by the engine."""
    merge_method: Literal["squash", "merge", "rebase"] = "squash"
    """Method of a merge."""
    commit_trailers: tuple[Annotated[Text, AfterValidator(trailer)], ...] = ()
    """Last lines of the commit that a squash or merge makes, as in `["Signed-off-by: Ada <ada@example.org>"]`."""
    merge_max_lines: int | None = Field(800, ge=1)
    """Lines that a change may add and remove, files deleted as a whole aside, to be merged without a person's command;
    null means any number."""
    merge_cooling_minutes: float = Field(0, ge=0)
    """With `merge: auto`, minutes between the engine's approval of a commit and its merge, for people to object."""
    merge_by_requester: bool = True
    """True if `/merge` by the author of the issue or its story counts; false needs a second person who may write."""
    merge_blocking_labels: tuple[Text, ...] = ("do-not-merge",)
    """Labels of a pull request or its issue with which the engine merges nothing, whatever was ordered."""
    delete_branch: bool = True
    """True if the work branch is deleted after the merge."""
    after_merge: Literal["off", "report", "revert"] = "off"
    """Reaction when checks of the base that passed before a merge fail within an hour after it: none, an issue
    that says what fails, or a pull request that reverts the merge."""
    max_attempts: int = Field(3, ge=1)
    """Implementations of one specification that are tried."""
    max_turns: int = Field(50, ge=1)
    """Turns that one run of a coding backend may take."""
    run_timeout_minutes: float = Field(45, gt=0)
    """Minutes after which a run is ended."""
    stall_timeout_minutes: float = Field(25, gt=0)
    """Minutes without any output after which a run is ended."""
    ci: CISettings = CISettings()
    """The watch over the checks of a pull request."""
    titles: TitleSettings = TitleSettings()
    """Additions of the engine to titles."""
    review: ReviewSettings = ReviewSettings()
    """Limits of the reviews of a pull request, and the check of an approval."""
    feedback: FeedbackSettings = FeedbackSettings()
    """Authors whose remarks on a pull request are worked on."""
    tdd: TddSettings = TddSettings()
    """The cycles of tests and code."""
    assistant: AssistantSettings = AssistantSettings()
    """Answers to questions in comments."""
    triage: TriageSettings = TriageSettings()
    """Proposals for open issues without a label; strangers' texts reach a model for them."""
