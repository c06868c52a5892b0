"""Deliveries of webhooks: signed as GitHub signs them, sent once, and noted; nothing waits for them."""

from __future__ import annotations

import asyncio
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from lab.github.http.refusals import Moved, Refusal
from lab.github.repositories.bare import pushed_by
from lab.github.webhooks import events
from lab.github.webhooks.events import Happening
from lab.github.wire.site import Site
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import Hook, RepositoryRecord

PATIENCE_SECONDS = 10.0
"""GitHub gives up on an answer after so long, and does not try again."""

MOST_AT_ONCE = 3
"""So many deliveries are under way at once."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery as the settings page of a hook lists it; `status` is 0 where nobody answered."""

    id: str
    url: str
    event: str
    action: str
    status: int


class Webhooks:
    """Tells the hooks of every repository that it follows; `deliveries` are what came of it, oldest first."""

    def __init__(self, site: Callable[[], Site]) -> None:
        """`site` is asked for when something is sent."""
        self._site = site
        self._under_way: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self.deliveries: list[Delivery] = []

    def follow(self, repository: RepositoryRecord) -> None:
        """Tell of what changes in a repository from now on."""

        def tell(what: Happening | None) -> None:
            if what is not None:
                self.tell(repository, what)

        def opened(record: PullRecord, new: bool) -> None:
            if new:
                tell(events.of_new_thread(repository, record.number))

        checks, pulls, issues = repository.checks, repository.pulls, repository.issues
        issues.on_event = lambda record: tell(events.of_thread(repository, record))
        issues.records.on_put = lambda record, new: (
            tell(events.of_new_thread(repository, record.number)) if new and not record.is_pull else None
        )
        pulls.records.on_put = opened
        pulls.reviews.on_put = lambda record, new: tell(events.of_review(repository, record))
        repository.comments.records.on_put = lambda record, new: tell(events.of_comment(repository, record, new=new))
        checks.checks.on_put = lambda record, new: tell(events.of_check(repository, record, new=new))
        checks.statuses.on_put = lambda record, new: tell(events.of_status(repository, record))

    def pushed(self, repository: RepositoryRecord, ref: str, old: str | None, new: str | None) -> None:
        """A ref moved; hooks are told of branches."""
        if ref.startswith("refs/heads/"):
            pusher = pushed_by.get() or repository.facts.owner
            self.tell(repository, events.of_push(repository, (ref, old, new), pusher))

    def tell(self, repository: RepositoryRecord, what: Happening) -> None:
        """Send one event to every hook that wants it."""
        for hook in repository.facts.hooks:
            if not hook.events or what.event in hook.events:
                task = asyncio.get_running_loop().create_task(self._send(repository, hook, what))
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

    async def _send(self, repository: RepositoryRecord, hook: Hook, what: Happening) -> None:
        try:
            body = json.dumps(what.payload(self._site(), repository)).encode()
        except (Refusal, Moved):
            return  # deleted or transferred since: there is nothing to show any more
        delivery = str(uuid.uuid4())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/lab",
            "X-GitHub-Delivery": delivery,
            "X-GitHub-Event": what.event,
            **_signatures(hook.secret, body),
        }
        async with self._slots:
            status = await _posted(hook.url, body, headers)
        self.deliveries.append(Delivery(delivery, hook.url, what.event, what.action, status))


async def _posted(url: str, body: bytes, headers: dict[str, str]) -> int:
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
