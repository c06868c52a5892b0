"""Pull requests: one per branch, adopted if it exists, merged only at the commit that was judged.

GitHub's merge queue is reached by GraphQL alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from shared.errors import Transient
from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import HeadMoved, NothingToPull, Refused
from shared.github.replica_lag import BRANCH, ITEM
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import PullRequest, QueueExit, QueuePlace

_CLOSES = re.compile(r"^Closes #(\d{1,10})\b", re.MULTILINE)

ALREADY = ("already exists", "already_exists")
"""Words with which GitHub refuses a second pull request of one branch."""

ENQUEUE = """\
mutation Enqueue($pullRequest: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $pullRequest, expectedHeadOid: $head}) {
    mergeQueueEntry { state }
  }
}
"""

QUEUED = """\
query Queued($pullRequest: ID!) {
  node(id: $pullRequest) {
    ... on PullRequest {
      mergeQueueEntry { state }
      timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {
        nodes { ... on RemovedFromMergeQueueEvent { reason createdAt actor { __typename login } } }
      }
    }
  }
}
"""


class Pulls:
    """The pull requests of one repository, from branches of its own."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._root = f"/repos/{repository}"
        self._path = f"{self._root}/pulls"
        self._owner = repository.partition("/")[0]

    async def pull_request(self, number: int) -> PullRequest:
        """Return one pull request as it is now; `mergeable` is None while GitHub computes it."""
        return wire.read(wire.pull_request, await self._github.item(f"{self._path}/{number}"))

    async def of_branch(self, branch: str) -> tuple[PullRequest, ...]:
        """Return the pull requests from a branch of this repository, open or not, newest first."""
        found = await self._github.pages(self._path, head=f"{self._owner}:{branch}", state="all")
        if not found and self._github.is_renamed(self._root) and await self._has_new_owner():
            found = await self._github.pages(self._path, head=f"{self._owner}:{branch}", state="all")
        pulls = wire.each(wire.pull_request, found)
        for one in pulls:
            self._github.expect(self._root, ITEM, one.number)
        # GitHub ignores a head filter that it cannot parse and lists everything.
        return tuple(sorted((p for p in pulls if p.head_branch == branch), key=lambda p: -p.number))

    async def _has_new_owner(self) -> bool:
        """Return whether the repository was moved to another owner, by whose name its branches are found now."""
        moved = wire.read(wire.repository, await self._github.get(self._root))
        before, self._owner = self._owner, moved.full_name.partition("/")[0]
        return self._owner.casefold() != before.casefold()

    async def open(self, title: str, body: str, head: str, base: str, permit: WritePermit) -> PullRequest:
        """Open a pull request, or adopt the open one that this branch already has.

        Raises `NothingToPull` if `base` has all that `head` has, `NotAllowed` if this token may open none.
        """
        content = {"title": title, "body": body, "head": head, "base": base}
        self._github.expect(self._root, BRANCH, head)  # it was pushed: nobody opens a pull request of another one
        try:
            return wire.reply(wire.pull_request, await self._github.write("POST", self._path, content, permit))
        except Refused as refused:
            if refused.says("no commits between"):
                raise NothingToPull("POST " + self._path, refused.status, refused.message, refused.errors) from refused
            if not refused.says(*ALREADY):
                raise
            adopted = next((pull for pull in await self.of_branch(head) if pull.open), None)
            if adopted is None:
                raise
            return adopted

    async def edit(
        self, number: int, *, title: str | None = None, body: str | None = None, permit: WritePermit
    ) -> PullRequest:
        """Replace the title, the body or both."""
        change = {key: value for key, value in (("title", title), ("body", body)) if value is not None}
        return await self._patch(number, change, permit)

    async def close(self, number: int, permit: WritePermit) -> PullRequest:
        """Close without merging; already closed is fine."""
        return await self._patch(number, {"state": "closed"}, permit)

    async def request_reviewers(self, number: int, logins: Sequence[str], held: Held) -> None:
        """Ask people for a review; raises `Refused` if one of them cannot be asked."""
        path = f"{self._path}/{number}/requested_reviewers"
        await self._github.write("POST", path, {"reviewers": list(logins)}, held)

    async def merge(self, number: int, sha: str, method: str, message: str, held: Held) -> str:
        """Merge if the head is still `sha`; return the commit on the base branch, whose `message` is as git takes it.

        Already merged is success. Raises `HeadMoved` if the head is another commit, `Refused` if
        GitHub does not allow the merge (conflict, protection, merge queue).
        """
        title, _, text = message.partition("\n\n")
        payload = {"sha": sha, "merge_method": method, "commit_title": title}
        payload |= {"commit_message": text} if text else {}
        try:
            reply = await self._github.write("PUT", f"{self._path}/{number}/merge", payload, held, urgent=True)
        except Refused as refused:
            return await self._merged_already(number, sha, refused)
        return wire.reply(_merge_sha, reply)

    async def _merged_already(self, number: int, sha: str, refused: Refused) -> str:
        if refused.status not in {405, 409}:
            raise refused
        pull = await self.pull_request(number)
        if pull.merged and pull.merge_sha:
            return pull.merge_sha
        if refused.says("base branch was modified"):
            raise Transient(f"The base of #{number} moved during the merge.") from refused
        if pull.head_sha != sha or (refused.status == 409 and refused.says("was modified")):
            raise HeadMoved(f"The head of #{number} is no longer {sha[:12]}.") from refused
        raise refused

    async def enqueue(self, node_id: str, head: str, held: Held) -> None:
        """Have GitHub merge a pull request at exactly `head` when its turn has come; a queued one is left alone.

        Raises `Refused` with GitHub's sentence.
        """
        try:
            await self._github.graphql("Enqueue", ENQUEUE, {"pullRequest": node_id, "head": head}, held)
        except Refused as refused:
            if not refused.says("already in the queue", "already queued"):
                raise

    async def queue_place(self, node_id: str, held: Held) -> QueuePlace:
        """Return whether a pull request waits in the queue, or why it left. Raises `Transient`."""
        data = await self._github.graphql("Queued", QUEUED, {"pullRequest": node_id}, held)
        return wire.read(_place, data)

    async def _patch(self, number: int, change: dict[str, str], permit: WritePermit) -> PullRequest:
        reply = await self._github.write("PATCH", f"{self._path}/{number}", change, permit)
        return wire.reply(wire.pull_request, reply)


def _merge_sha(value: Any) -> str:
    return str(value["sha"])


def _place(value: Any) -> QueuePlace:
    node = value["data"]["node"]
    exits = [_exit(one) for one in node["timelineItems"]["nodes"] or () if one]
    return QueuePlace(node["mergeQueueEntry"] is not None, exits[-1] if exits else None)


def _exit(value: Any) -> QueueExit:
    actor = value["actor"] or {"__typename": "", "login": ""}
    is_person = actor["__typename"] == "User"
    return QueueExit(value["reason"] or "", actor["login"], is_person, datetime.fromisoformat(value["createdAt"]))


def issue_named_by(body: str) -> int | None:
    """Return the issue that a pull request body says it closes: only a hint, the branch decides."""
    found = _CLOSES.search(body)
    return int(found[1]) if found else None
