"""One repository: who may do what in it, its threads, pull requests and checks, and its git half."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from lab.github.repositories.bare import Bare
from lab.github.world.accounts import LEVELS
from lab.github.world.checks import Checks
from lab.github.world.comments import Comments
from lab.github.world.issues import Issues
from lab.github.world.labels import LabelBook
from lab.github.world.numbering import Numbering
from lab.github.world.pulls import Pulls
from lab.github.world.relations import Relations

MERGE_METHODS = ("merge", "squash", "rebase")
"""How pull requests can be merged."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What a protected branch asks of a merge, and of the approvals that it counts.

    `code_owners`: who owns a changed file by CODEOWNERS has to approve. `last_push`: somebody other than who pushed
    last has to. `conversations`: every inline remark has to be resolved. `strict`: the branch has to be up to date.
    `merge_queue`: nothing is merged but through the queue. `hidden`: by classic protection, which only administrators
    can read; else by rulesets as well, which everybody can.
    """

    checks: tuple[str, ...] = ()
    approvals: int = 0
    dismiss_stale: bool = False
    last_push: bool = False
    code_owners: bool = False
    conversations: bool = False
    strict: bool = False
    merge_queue: bool = False
    hidden: bool = False

    @property
    def reviews(self) -> bool:
        """Whether it asks for reviews at all."""
        return self.approvals > 0 or self.code_owners or self.last_push


@dataclass(frozen=True, slots=True)
class Hook:
    """A webhook in a repository's settings: where to, signed by which secret, and of which events (none: of all)."""

    url: str
    secret: str = ""
    events: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """What a repository is, apart from what happens in it.

    `collaborators` maps login to level; `apps` are the bots' logins of the Apps installed in it.
    """

    id: int
    full_name: str
    created_at: int
    default_branch: str = "main"
    private: bool = False
    archived: bool = False
    collaborators: Mapping[str, str] = field(default_factory=dict)
    check_command: str | None = None
    protections: Mapping[str, Protection] = field(default_factory=dict)
    merge_methods: tuple[str, ...] = MERGE_METHODS
    apps: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()

    @property
    def owner(self) -> str:
        """The part of the name before the slash: the login of the owner."""
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        """The part of the name after the slash."""
        return self.full_name.partition("/")[2]

    def level(self, login: str) -> str:
        """`admin`, `write`, `read` or `none` for an account."""
        if login.lower() == self.owner.lower():
            return "admin"
        known = {one.lower(): level for one, level in self.collaborators.items()}
        return known.get(login.lower(), "none" if self.private else "read")

    def reaches(self, login: str, level: str) -> bool:
        """Whether the account has at least this level; an installed App is limited by its token alone."""
        return login in self.apps or LEVELS.index(self.level(login)) >= LEVELS.index(level)


class RepositoryRecord:
    """A repository with everything in it. `bare` is its git half.

    `rerun`, set where there is a CI, queues jobs again: it takes a commit and the jobs' names.
    `merging_number` is the pull request that is being merged while `merging` is held.
    """

    def __init__(self, facts: RepositoryFacts, bare: Bare, registrar: Numbering) -> None:
        self.facts = facts
        self.bare = bare
        self.registrar = registrar
        self.labels = LabelBook(registrar)
        self.issues = Issues(registrar, self.labels)
        self.relations = Relations(self.issues)
        self.comments = Comments(registrar, self.issues)
        self.pulls = Pulls(registrar, self.issues)
        self.checks = Checks(registrar)
        self.merging = asyncio.Lock()
        self.merging_number = 0
        self.pushed_at = facts.created_at
        self.rerun: Callable[[str, Collection[str]], None] | None = None

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return self.facts.full_name
