"""The person's repository on GitHub, with the person's token: a look before, one branch and pull request after."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from config.environment import child_environment
from config.settings import Settings
from console.history.repository_reader import branch_commit
from console.tdd.checkout import Diverged
from runtime.building.sign_in import SignedIn, git_server, visiting
from shared.errors import Misconfigured, NotAllowed
from shared.git.command import Git
from shared.github.people import People
from shared.github.pulls import Pulls
from shared.lock.port import RefUpdate
from shared.lock.write_permit import OperatorPermit
from shared.loop.real_clock import RealClock
from shared.models import PullRequest

ORDER = OperatorPermit("publish the result of a task")


@dataclass(frozen=True, slots=True)
class Upstream:
    """One repository, signed in."""

    me: SignedIn
    name: str
    server: str
    environment: Mapping[str, str]

    async def admitted(self, base: str) -> str:
        """The commit of the base branch there.

        Raises `NotAllowed` for an account that may not push, `Misconfigured` for a repository or a branch
        that is not there, `Unauthorized` and `Transient`.
        """
        people = People(self.me.github, self.name)
        repository = await people.repository()
        if repository.archived:
            raise Misconfigured(f"{self.name} is archived: no pull request can be opened. Work with --local.")
        login = self.me.account.login
        if not (await people.permission(login)).may_write:
            raise NotAllowed(f"The token's account {login} may not push to {self.name}. Work with --local.")
        tip = await branch_commit(self.me.github, self.name, base)
        if tip is None:
            raise Misconfigured(f"{self.name} has no branch '{base}': push it, choose another --base, or use --local.")
        return tip

    async def publish(self, bare: Path, commit: str, branch: str) -> None:
        """Push one branch there, new or forward; already there is fine. Raises `Diverged`."""
        there = await branch_commit(self.me.github, self.name, branch)
        if there == commit:
            return
        git = Git(bare, {**child_environment(), **self.environment}, credentials=self.me.answers)
        built_on = ("merge-base", "--is-ancestor", there or commit, commit)
        forward = (await git.run(*built_on, ok=(0, 1, 128))).code == 0  # 128: a commit that is not here
        move = RefUpdate(f"refs/heads/{branch}", there, commit)
        if not forward or not await git.push(f"{self.server}/{self.name}.git", [move]):
            raise Diverged(f"{self.name} has other commits on '{branch}': nothing was overwritten there.")

    async def pull_request(self, title: str, body: str, branch: str, base: str) -> PullRequest:
        """The open pull request of the branch, opened if there is none."""
        pulls = Pulls(self.me.github, self.name)
        known = next((pull for pull in await pulls.of_branch(branch) if pull.open), None)
        return known or await pulls.open(title, body, branch, base, ORDER)


@asynccontextmanager
async def upstream(settings: Settings, environment: Mapping[str, str]) -> AsyncIterator[Upstream]:
    """Sign in to the one configured repository with an identity of its own, never that of an agent."""
    async with visiting(settings, environment, RealClock()) as (_, known):
        (name, me), *_ = known.items()
        yield Upstream(me, name, git_server(settings.github.api_url), environment)
