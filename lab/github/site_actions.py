"""Actions of people outside the API: on the site's pages, in its settings, by e-mail to its support.

Pull requests from forks: their commits are in the repository's git, as GitHub keeps them, and in no branch of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lab.github.merge_button import take_out_of_queue, work_on_queue
from lab.github.repositories.pull_refs import show_head
from lab.github.world.accounts import AccountRecord, AppRecord, InstallationRecord
from lab.github.world.comments import CommentRecord
from lab.github.world.hub import World
from lab.github.world.issues import IssueRecord
from lab.github.world.pulls import PullRecord, ReviewRecord
from lab.github.world.repository import Hook, RepositoryRecord, transfer_issue

QUEUE = "github-merge-queue"
"""Login of the bot that works on merge queues."""

FORK_BRANCH = "patch-1"
"""GitHub's name for the branch of a person who edits a file on its pages."""


class SiteActions:
    """Every method is one action of a named person; accounts that it names are created."""

    def __init__(self, world: World) -> None:
        self.world = world

    def account(self, login: str, *, bot: bool = False, email: str = "") -> AccountRecord:
        """Return the account of that login, created if missing; `bot` makes it an App's, `email` is its address."""
        return self.world.account(login, bot=bot, email=email)

    def token(self, login: str, permissions: Mapping[str, str]) -> str:
        """Create a token; permissions as GitHub names them (`{"issues": "write"}`)."""
        return self.world.token(login, permissions)

    def at(self, full_name: str) -> RepositoryRecord:
        """Return the repository of that name, with everything in it; raises KeyError when there is none."""
        found = self.world.repository(full_name)
        if found is None:
            raise KeyError(full_name)
        return found

    def configure(self, full_name: str, /, **facts: Any) -> RepositoryRecord:
        """Change the repository's facts: `private`, `archived`, `collaborators`, `protections` ..."""
        repository = self.at(full_name)
        repository.facts = replace(repository.facts, **facts)
        return repository

    def hook(self, full_name: str, url: str, secret: str = "", *, events: tuple[str, ...] = ()) -> None:
        """Add a webhook, as a maintainer does in the settings: events are sent to `url`, signed by `secret`."""
        hooks = self.at(full_name).facts.hooks
        self.configure(full_name, hooks=(*hooks, Hook(url, secret, events)))

    def rename(self, full_name: str, new_name: str) -> RepositoryRecord:
        """Give a repository another name; the old one answers 301 from now on."""
        repository = self.configure(full_name, full_name=new_name)
        self.world.former_names[full_name.lower()] = repository.facts.id
        return repository

    def app(self, slug: str, *, owner: str, public_key: str, permissions: Mapping[str, str]) -> AppRecord:
        """`owner` registers a GitHub App; `public_key` (PEM) is the other half of the key that signs its JWTs."""
        app = self.world.apps.register(self.account(owner).login, slug, public_key, permissions)
        self.account(app.bot, bot=True)
        return app

    def install(self, app: AppRecord, *full_names: str) -> InstallationRecord:
        """The owner of these repositories (one owner) installs an App in them."""
        repositories = [self.at(full_name) for full_name in full_names]
        for repository in repositories:
            repository.facts = replace(repository.facts, apps=(*repository.facts.apps, app.bot))
        chosen = tuple(repository.facts.id for repository in repositories)
        return self.world.apps.install(app, repositories[0].facts.owner, chosen)

    def issue(
        self, full_name: str, title: str, body: str = "", *, author: str, labels: tuple[str, ...] = ()
    ) -> IssueRecord:
        """`author` opens an issue with `labels`."""
        self.account(author)
        issues = self.at(full_name).issues
        return issues.add_labels(issues.open(author, title, body).number, labels, author)

    def comment(self, full_name: str, number: int, body: str, *, author: str) -> CommentRecord:
        """`author` comments in a thread."""
        self.account(author)
        return self.at(full_name).comments.add(number, author, body)

    def label(self, full_name: str, number: int, name: str, *, actor: str) -> IssueRecord:
        """`actor` puts a label on a thread."""
        return self.at(full_name).issues.add_labels(number, [name], actor)

    def unlabel(self, full_name: str, number: int, name: str, *, actor: str) -> IssueRecord:
        """`actor` takes a label off a thread."""
        return self.at(full_name).issues.remove_label(number, name, actor)

    def review(
        self, full_name: str, number: int, *, author: str, state: str = "APPROVED", body: str = ""
    ) -> ReviewRecord:
        """`author` reviews the newest commit of a pull request: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`."""
        pulls = self.at(full_name).pulls
        return pulls.review(number, self.account(author).login, state, body, pulls.require(number).head_sha)

    def resolve(self, full_name: str, number: int) -> None:
        """Somebody marks every conversation of a pull request as resolved, at the site."""
        pulls = self.at(full_name).pulls
        for remark in pulls.inline_of(number):
            pulls.inline.change(remark.id, resolved=True)

    async def work_on_queue(self, full_name: str) -> list[int]:
        """Work on a merge queue as the site does: merge what waits, take out conflicts; return what was merged."""
        repository = self.at(full_name)
        return await work_on_queue(repository, self.account(QUEUE, bot=True))

    def take_out_of_queue(self, full_name: str, number: int, *, actor: str = QUEUE) -> None:
        """Take a pull request out of the merge queue: its merge group has failed, or `actor` does it by hand."""
        account = self.account(actor, bot=actor == QUEUE)
        take_out_of_queue(self.at(full_name), number, account, "failed_checks" if account.bot else "manual")

    def close(self, full_name: str, number: int, *, actor: str) -> IssueRecord:
        """`actor` closes a thread."""
        return self.at(full_name).issues.close(number, actor)

    def lock(self, full_name: str, number: int, *, actor: str) -> IssueRecord:
        """`actor` locks a thread: only those with write access may comment, react or review."""
        return self.at(full_name).issues.lock(number, actor)

    def unlock(self, full_name: str, number: int, *, actor: str) -> IssueRecord:
        """`actor` unlocks a thread again."""
        return self.at(full_name).issues.unlock(number, actor)

    def delete(self, full_name: str, number: int) -> None:
        """Somebody deletes an issue: it answers 410 from now on."""
        self.at(full_name).issues.delete(number)

    def block(self, full_name: str, number: int, *, by: int, actor: str) -> None:
        """`actor` marks an issue as blocked by another one of the same repository."""
        self.at(full_name).relations.block(number, by, actor)

    def unblock(self, full_name: str, number: int, *, by: int, actor: str) -> None:
        """`actor` takes that relationship away again."""
        self.at(full_name).relations.unblock(number, by, actor)

    def reopen(self, full_name: str, number: int, *, actor: str) -> IssueRecord:
        """`actor` opens a closed thread again."""
        return self.at(full_name).issues.reopen(number, actor)

    async def propose(
        self,
        full_name: str,
        files: Mapping[str, str],
        title: str,
        body: str = "",
        *,
        author: str,
        draft: bool = False,
    ) -> PullRecord:
        """`author` opens a pull request from a fork of theirs, made of the default branch as it is."""
        self.account(author)
        repository = self.at(full_name)
        base = repository.facts.default_branch
        tip = await repository.bare.sha(f"refs/heads/{base}")
        if tip is None:
            raise KeyError(base)
        head = await _commit(repository, author, tip, files)
        thread = repository.issues.open(author, title, body, is_pull=True)
        fork = f"{author}/{repository.facts.name}"
        pull = repository.pulls.open(thread, (FORK_BRANCH, head), (base, tip), draft=draft, fork=fork)
        await show_head(repository, pull)
        return pull

    async def push_to_fork(self, full_name: str, number: int, files: Mapping[str, str]) -> PullRecord:
        """The author of a pull request from a fork pushes one more commit."""
        repository = self.at(full_name)
        pull = repository.pulls.require(number)
        head = await _commit(repository, pull.fork.partition("/")[0], pull.head_sha, files)
        base = await repository.bare.sha(f"refs/heads/{pull.base_branch}") or pull.base_sha
        moved = repository.pulls.move_head(number, head, base)
        await show_head(repository, moved)
        return moved

    def mark_draft(self, full_name: str, number: int, *, actor: str, draft: bool) -> PullRecord:
        """`actor` marks a pull request as ready for review, or as a draft again."""
        return self.at(full_name).pulls.mark(number, actor, draft=draft)

    def transfer(self, full_name: str, number: int, target: str, *, actor: str) -> IssueRecord:
        """`actor` moves an issue to another repository: it answers 301 here, and has a new number there."""
        return transfer_issue(self.at(full_name), number, self.at(target), actor)


async def _commit(repository: RepositoryRecord, author: str, onto: str, files: Mapping[str, str]) -> str:
    """Return a commit on `onto` that only its id names until the pull request's own ref exists."""
    ref = f"refs/forks/{author}"
    who = f"{author} <{author}@users.noreply.github.com> now"
    head = f"commit {ref}\ncommitter {who}\ndata 7\nPropose\nfrom {onto}\n"
    parts = [f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()]
    git = repository.bare.git
    stream = "".join([head, *parts]).encode()
    await git.check("fast-import", "--quiet", "--force", "--date-format=now", stdin=stream)
    sha = (await git.check("rev-parse", ref)).text
    await git.check("update-ref", "-d", ref)
    return sha
