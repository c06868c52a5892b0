"""What has to be true before an item is claimed: something to begin, no open blocker, a label of somebody trusted."""

from __future__ import annotations

from shared.errors import Gone
from shared.items import Candidate
from shared.lock.claim import Intent
from shared.lock.codec import Fence
from shared.marks import Keyring
from shared.models import Account, Issue, PullRequest
from shared.order import excluded
from shared.sightings import Sightings
from shared.specification import read
from shared.workflow import Stage
from worker_agent import links
from worker_agent.intents import Cause, cause, intent
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.writers import Writers


class Gate:
    """Reads what a claim depends on. A refusal costs no comment and no paid call."""

    def __init__(
        self, forge: Forge, writers: Writers, policy: Policy, keys: Keyring, sightings: Sightings[Issue]
    ) -> None:
        self._forge = forge
        self._writers = writers
        self._policy = policy
        self._keys = keys
        self._sightings = sightings

    async def intent(self, candidate: Candidate, fence: Fence | None) -> Intent | str:
        """What a claim of this candidate would begin, or the sentence why it is not claimed."""
        issue = await self._forge.issues.issue(candidate.number)
        self._sightings.keep(candidate.number, issue)
        barred = excluded(issue.labels, self._policy.exclude)  # the list may be older than this reading
        if barred:
            return barred
        pull_request = await self._pull_request(candidate, fence)
        wish = intent(issue, pull_request, fence, self._policy, self._keys)
        if isinstance(wish, str):
            return wish
        why = cause(wish, issue, pull_request, fence, self._policy.names)
        if why is None:
            return wish
        for blocker in read(issue.body).depends_on:
            if await self._is_open(blocker):
                return f"blocked by #{blocker}"
        return await self._refusal(why, issue, fence) or wish

    async def _pull_request(self, candidate: Candidate, fence: Fence | None) -> PullRequest | None:
        number = fence.pr if fence else 0
        named = int(candidate.version.partition("@")[0])
        if not number and named != candidate.number:
            number = named
        if not number:
            return None
        found = await self._forge.pulls.pull_request(number)
        return found if links.issue_of(found) == candidate.number else None

    async def _is_open(self, number: int) -> bool:
        try:
            return (await self._forge.issues.issue(number)).open
        except Gone:
            return False

    async def _refusal(self, why: Cause, issue: Issue, fence: Fence | None) -> str:
        """Why the label that asks for it does not count: who set it last, or that the work was stopped since."""
        if fence is None and issue.untouched and not await self._distrust(issue.author):
            return ""
        labels = {self._policy.names.of(stage).casefold() for stage in why.stages}
        events = await self._forge.issues.label_events(why.number)
        newest = next((e for e in reversed(events) if e.added and e.label.casefold() in labels), None)
        refused = await self._distrust(newest.actor if newest else None)
        if refused or newest is None:
            return refused
        if fence is not None and fence.stage is Stage.WITHDRAWN and newest.at < fence.at:
            return "a person stopped it after the label was set"
        return ""

    async def _distrust(self, actor: Account | None) -> str:
        """Why a label of `actor` (None: nobody has set it) asks for nothing."""
        trusted = actor is not None and await self._writers.include(actor)
        return "" if trusted else "the label was not set by somebody with write access"
