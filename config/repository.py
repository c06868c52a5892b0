"""What is configured per repository: one frozen model, every key with its default and its meaning.

Units are those of the YAML file: seconds unless the key says otherwise.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from shared.workflow import Labels

Backend = Literal["claude", "codex", "scripted"]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A string that says something."""

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


def repository_name(name: str) -> str:
    """`name` when it has GitHub's shape `owner/repo`; raises ValueError with one sentence otherwise."""
    if not _NAME.fullmatch(name) or name.endswith(".git"):
        raise ValueError("is not a repository; write owner/repo, as in 'octocat/hello-world', without URL or .git")
    return name


RepositoryName = Annotated[str, AfterValidator(repository_name)]


class Section(BaseModel):
    """A strict, frozen part of the configuration: unknown keys and wrong types are refused."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )


class LabelSettings(Section):
    """Which labels filter candidates, and how the engine's own labels are spelled."""

    include: tuple[Text, ...] = ()
    """Only items with one of these labels are taken; empty means all."""
    exclude: tuple[Text, ...] = ("blocked", "do-not-automate")
    """Items with one of these labels are left alone."""
    status_prefix: Text = "status:"
    """What stands before a stage, as in `status:ready`."""
    flag_prefix: Text = "flag:"
    """What stands before a flag, as in `flag:paused`."""
    story: Text = "story"
    """The label that makes an issue a story for the planner."""

    def names(self) -> Labels:
        """The spelling that `shared.workflow` reads and writes."""
        return Labels(self.status_prefix, self.flag_prefix, self.story)


class CISettings(Section):
    """How the checks of a pull request are watched."""

    interval: float = Field(30, gt=0)
    """Seconds between two looks at the checks."""
    timeout: float = Field(600, gt=0)
    """Seconds after which a pull request goes to review with a warning although checks still run."""
    max_retries: int = Field(3, ge=0)
    """How often a red result is worked on before `status:ci-failed`."""
    none_is_green: bool = False
    """Whether a commit without any check counts as green."""


class TddSettings(Section):
    """How tests and code alternate."""

    cycles: Literal["whole-spec", "per-criterion"] = "whole-spec"
    """One red-green cycle for all acceptance criteria, or one for each."""


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
    test_command: Text | None = None
    """The command that runs the tests; null means detected (pytest, vitest, jest)."""
    test_report: Text | None = None
    """Glob of the JUnit XML files that `test_command` writes; null means the detected runner's own report."""
    setup_command: Text | None = None
    """The command that installs what the tests need, for example `uv sync`; null means none."""
    quality_commands: tuple[Text, ...] | None = None
    """Linters and type checkers that must stay clean; null means detected, [] means none."""
    labels: LabelSettings = LabelSettings()
    """Which labels filter candidates, and how the engine's own labels are spelled."""
    priority_labels: tuple[Text, ...] = ("priority:critical", "priority:high", "priority:medium", "priority:low")
    """Labels that order the candidates, most urgent first."""
    pr_labels: tuple[Text, ...] = ("automated",)
    """Labels that every pull request of the engine gets."""
    reviewers: tuple[Text, ...] = ()
    """Logins whose review is requested when a pull request is handed to review."""
    assign: Text | None = None
    """Login that is assigned to an item while the engine works on it; null means nobody."""
    approval: Literal["auto", "comment", "terminal"] = "comment"
    """Who approves a plan: nobody, a person by `/approve`, or the person at the terminal."""
    approval_timeout_hours: float = Field(24, gt=0)
    """Hours after which a waiting approval is escalated once."""
    refactor: Literal["off", "auto", "approve"] = "auto"
    """Whether a refactoring follows green, and whether a person confirms it before the pull request."""
    merge: Literal["never", "approve", "auto"] = "never"
    """Who merges an approved pull request: people, the engine after `/merge`, or the engine."""
    merge_method: Literal["squash", "merge", "rebase"] = "squash"
    """How a pull request is merged."""
    delete_branch: bool = True
    """Whether the work branch is deleted after the merge."""
    max_attempts: int = Field(3, ge=1)
    """How many implementations of one specification are tried."""
    max_turns: int = Field(50, ge=1)
    """How many turns one run of a coding backend may take."""
    run_timeout_minutes: float = Field(45, gt=0)
    """Minutes after which a run is ended."""
    stall_timeout_minutes: float = Field(25, gt=0)
    """Minutes without any output after which a run is ended."""
    ci: CISettings = CISettings()
    """How the checks of a pull request are watched."""
    tdd: TddSettings = TddSettings()
    """How tests and code alternate."""
