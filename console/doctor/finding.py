"""The subjects of a probe, this machine or a repository as one identity sees it, and its result: findings."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from config.repository import RepositorySettings
from config.settings import Settings
from runtime.building.sign_in import SignedIn
from shared.clock import Clock
from shared.git.command import Git
from shared.models import Repository
from shared.workflow import Role


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine and its configuration; `environment` is the process's own."""

    settings: Settings
    environment: Mapping[str, str]
    clock: Clock
    quick: bool = False
    """Nothing is tried that may take long: no test is run."""
    config: Path | None = None
    """The file that `--config` names: commands that a next step names need it too."""

    def command(self, words: str) -> str:
        """Return `workflow-engine WORDS` with this machine's configuration, as somebody types it."""
        place = f" --config {shlex.quote(str(self.config))}" if self.config is not None else ""
        return f"workflow-engine {words}{place}"


@dataclass(frozen=True, slots=True)
class RepositoryContext:
    """One repository as the identity sees it that acts for `roles`; `git` answers for `url`."""

    machine: Machine
    configured: RepositorySettings
    roles: frozenset[Role]
    me: SignedIn
    repository: Repository
    git: Git
    url: str

    @property
    def name(self) -> str:
        """The repository's name as GitHub has it now."""
        return self.repository.full_name

    @property
    def base_branch(self) -> str:
        """The branch that work starts from."""
        return self.configured.base_branch or self.repository.default_branch


def pushes_workflows(configured: RepositorySettings, roles: frozenset[Role]) -> bool:
    """Return whether the identity that acts for `roles` pushes workflow files that a repair of CI has changed."""
    return Role.WORKER in roles and configured.ci.may_edit_workflows


AGAIN = "Try again; if it stays so, look at https://www.githubstatus.com, or ask who runs your GitHub server."


class Status(StrEnum):
    """Status of one subject."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's table. `where` is a repository, or empty for this machine.

    A finding that does not pass has a next step, if only that nothing has to be done; one that passes has none: else
    ValueError.
    """

    status: Status
    subject: str
    sentence: str
    next_step: str
    where: str = ""
    passing: bool = False
    """It failed because GitHub did not answer: nothing is known to be wrong here."""

    def __post_init__(self) -> None:
        if (self.status is Status.PASS) is bool(self.next_step.strip()):
            raise ValueError(f"{self.subject}: {self.status} with the next step {self.next_step!r}")


warned = partial(Finding, Status.WARN)
"""Makes a finding: it works, but somebody should know."""

failed = partial(Finding, Status.FAIL)
"""Makes a finding: the engine cannot work like this."""

skipped = partial(Finding, Status.SKIP)
"""Makes a finding: it was not tried, and why."""


def passed(subject: str, sentence: str, where: str = "") -> Finding:
    """All is well."""
    return Finding(Status.PASS, subject, sentence, "", where)


def unanswered(subject: str, sentence: str, where: str = "") -> Finding:
    """GitHub did not answer, so it could not be tried."""
    return Finding(Status.FAIL, subject, sentence, AGAIN, where, passing=True)


def only_passing(findings: Iterable[Finding]) -> bool:
    """Return whether every failure was only GitHub that did not answer."""
    return all(finding.passing for finding in findings if finding.status is Status.FAIL)


def healthy(findings: Iterable[Finding]) -> bool:
    """Return whether nothing failed."""
    return all(finding.status is not Status.FAIL for finding in findings)
