"""Deliveries of webhooks: signed as GitHub signs them, sent once, and noted; nothing waits for them.

Events of a repository as GitHub's webhook events: their names, actions and payloads.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import aiohttp

from lab.github.http.refusals import Moved, Refusal
from lab.github.repositories.bare import pushed_by
from lab.github.wire import checks, pulls, repositories, threads
from lab.github.wire.site import Json, ServedRoot
from lab.github.world.checks import CheckRecord, StatusRecord
from lab.github.world.comments import CommentRecord
from lab.github.world.issues import EventRecord, IssueRecord
from lab.github.world.pulls import PullRecord, ReviewRecord
from lab.github.world.repository import Hook, RepositoryRecord

PATIENCE_SECONDS = 10.0
"""Seconds after which GitHub gives up on an answer; it does not try again."""

MOST_AT_ONCE = 3
"""Deliveries that are under way at once, at most."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery as the settings page of a hook lists it; `status` is 0 where nobody answered."""

    id: str
    url: str
    event: str
    action: str
    status: int


class Webhooks:
    """Sends events to the hooks of every repository that it follows; `deliveries` are the results, oldest first."""

    def __init__(self, site: Callable[[], ServedRoot]) -> None:
        """`site` is called when something is sent."""
        self._site = site
        self._under_way: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self.deliveries: list[Delivery] = []

    def follow(self, repository: RepositoryRecord) -> None:
        """Send the changes in a repository from now on."""
        tell = partial(self.tell, repository)
        checks, pulls, issues = repository.checks, repository.pulls, repository.issues
        issues.on_event = lambda record: tell(of_thread(repository, record))
        issues.records.on_put = lambda record, new: (
            tell(of_new_thread(repository, record.number)) if new and not record.is_pull else None
        )
        pulls.records.on_put = lambda record, new: tell(of_new_thread(repository, record.number)) if new else None
        pulls.reviews.on_put = lambda record, new: tell(of_review(repository, record))
        repository.comments.records.on_put = lambda record, new: tell(of_comment(repository, record, new=new))
        checks.checks.on_put = lambda record, new: tell(of_check(repository, record, new=new))
        checks.statuses.on_put = lambda record, new: tell(of_status(repository, record))

    def pushed(self, repository: RepositoryRecord, ref: str, old: str | None, new: str | None) -> None:
        """A ref moved; hooks are told of branches."""
        if ref.startswith("refs/heads/"):
            pusher = pushed_by.get() or repository.facts.owner
            self.tell(repository, of_push(repository, (ref, old, new), pusher))

    def tell(self, repository: RepositoryRecord, happening: Happening | None) -> None:
        """Send one event, if it is one of webhooks, to every hook that wants it."""
        if happening is None:
            return
        for hook in repository.facts.hooks:
            if not hook.events or happening.event in hook.events:
                task = asyncio.get_running_loop().create_task(self._send(repository, hook, happening))
                self._under_way.add(task)
                task.add_done_callback(self._forget)

    async def idle(self) -> None:
        """Return when nothing is under way."""
        while self._under_way:
            await asyncio.gather(*self._under_way)

    async def close(self) -> None:
        """Give up what is under way; raises what a delivery raised."""
        tasks, self._under_way = self._under_way, set()
        for task in tasks:
            task.cancel()
        for ending in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ending, Exception):
                raise ending

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Drop a delivery that is over, unless it failed: then `idle` or `close` raises its error."""
        if task.cancelled() or task.exception() is None:
            self._under_way.discard(task)

    async def _send(self, repository: RepositoryRecord, hook: Hook, happening: Happening) -> None:
        try:
            body = json.dumps(happening.payload(self._site(), repository)).encode()
        except (Refusal, Moved):
            return  # deleted or transferred since: there is nothing to show any more
        delivery = str(uuid.uuid4())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/lab",
            "X-GitHub-Delivery": delivery,
            "X-GitHub-Event": happening.event,
            **_signatures(hook.secret, body),
        }
        async with self._slots:
            status = await _post(hook.url, body, headers)
        self.deliveries.append(Delivery(delivery, hook.url, happening.event, happening.action, status))


async def _post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """The status of the answer, or 0 where there was none."""
    patience = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=patience) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            return answer.status
    except (aiohttp.ClientError, TimeoutError, OSError):
        return 0


def _signatures(secret: str, body: bytes) -> dict[str, str]:
    """https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries; none without a secret."""
    if not secret:
        return {}
    kinds = {"X-Hub-Signature": "sha1", "X-Hub-Signature-256": "sha256"}
    return {name: f"{kind}={hmac.new(secret.encode(), body, kind).hexdigest()}" for name, kind in kinds.items()}


_SAME = ("labeled", "unlabeled", "closed", "reopened", "assigned", "unassigned", "locked", "review_requested")
_ACTIONS = {
    **{name: name for name in _SAME},
    "renamed": "edited",
    "convert_to_draft": "converted_to_draft",
    "ready_for_review": "ready_for_review",
}
"""From an event of a thread to the action of a webhook; other events of threads have none."""

NOBODY = "0" * 40
"""Commit id in a push event for a branch that does not exist."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event; `content` makes its payload when it is sent: then the change is complete."""

    event: str
    action: str
    sender: str
    content: Callable[[ServedRoot], Json]

    def payload(self, site: ServedRoot, repository: RepositoryRecord) -> Json:
        """Return the payload that is sent."""
        action = {"action": self.action} if self.action else {}
        common = {"repository": repositories.repository(site, repository), "sender": site.actor(self.sender)}
        return {**action, **self.content(site), **common}


def of_thread(repository: RepositoryRecord, record: EventRecord) -> Happening | None:
    """Return the event of a change to an issue or a pull request; None if webhooks have no such action."""
    action, thread = _ACTIONS.get(record.event), repository.issues.records.get(record.number)
    return None if action is None or thread is None else _about_thread(repository, thread, action, record.actor)


def of_new_thread(repository: RepositoryRecord, number: int) -> Happening:
    """An issue or a pull request was opened."""
    thread = repository.issues.require(number)
    return _about_thread(repository, thread, "opened", thread.author)


def _about_thread(repository: RepositoryRecord, thread: IssueRecord, action: str, sender: str) -> Happening:
    name = "pull_request" if thread.is_pull else "issues"
    return Happening(name, action, sender, lambda site: _thread(site, repository, thread.number))


def of_comment(repository: RepositoryRecord, record: CommentRecord, *, new: bool) -> Happening:
    """A comment was written or edited."""

    def content(site: ServedRoot) -> Json:
        thread = repository.issues.require(record.number)
        comment = threads.comment(site, repository, record)
        return {"issue": threads.issue(site, repository, thread), "comment": comment}

    return Happening("issue_comment", "created" if new else "edited", record.author, content)


def of_review(repository: RepositoryRecord, record: ReviewRecord) -> Happening | None:
    """Return the event of a review that was submitted or dismissed; None while it is being written."""
    if record.state == "PENDING":
        return None

    def content(site: ServedRoot) -> Json:
        pull = repository.pulls.require(record.number)
        shown = {**pulls.review(site, repository, record), "state": record.state.lower()}
        return {"review": shown, "pull_request": pulls.simple(site, repository, pull)}

    action = "dismissed" if record.state == "DISMISSED" else "submitted"
    return Happening("pull_request_review", action, record.author, content)


def of_check(repository: RepositoryRecord, record: CheckRecord, *, new: bool) -> Happening | None:
    """A check run began or ended."""
    if not new and record.status != "completed":
        return None
    action = "completed" if record.status == "completed" else "created"
    sender = f"{record.app}[bot]"
    return Happening(
        "check_run", action, sender, lambda site: {"check_run": checks.check_run(site, repository, record)}
    )


def of_status(repository: RepositoryRecord, record: StatusRecord) -> Happening:
    """A commit status was set."""

    def content(site: ServedRoot) -> Json:
        shown = checks.short_status(site, repository, record)
        return {"sha": record.sha, "name": repository.full_name, "branches": [], "commit": {"sha": record.sha}, **shown}

    return Happening("status", "", record.creator, content)


def of_push(repository: RepositoryRecord, change: tuple[str, str | None, str | None], pusher: str) -> Happening:
    """A branch moved; `change` is its full ref, its old and its new commit."""
    ref, old, new = change
    sides = {"ref": ref, "before": old or NOBODY, "after": new or NOBODY}
    states = {"created": old is None, "deleted": new is None, "forced": False, "base_ref": None}
    person = {"name": pusher, "email": None}

    def content(site: ServedRoot) -> Json:
        compare = f"{site.html(repository)}/compare/{sides['before'][:12]}...{sides['after'][:12]}"
        return {**sides, **states, "pusher": person, "compare": compare, "commits": [], "head_commit": None}

    return Happening("push", "", pusher, content)


def _thread(site: ServedRoot, repository: RepositoryRecord, number: int) -> Json:
    pull: PullRecord | None = repository.pulls.records.get(number)
    if pull is not None:
        return {"number": number, "pull_request": pulls.simple(site, repository, pull)}
    return {"issue": threads.issue(site, repository, repository.issues.require(number))}
