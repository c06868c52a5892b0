"""The subjects of an examination: this machine, and a repository as one identity sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
