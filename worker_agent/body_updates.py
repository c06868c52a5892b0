"""Updates of the proof in a pull request's body: written again after every push of ours."""

from __future__ import annotations

from collections import OrderedDict

import structlog

from shared.errors import Blocked
from shared.github.ports import Pulls
from shared.lock.hold import Held
from worker_agent import change_facts, pull_request_body
from worker_agent.decide import HANDS_OVER, Action, Snapshot
from worker_agent.phase_tools import PhaseTools

log = structlog.get_logger()

FOLLOWED_BY = HANDS_OVER | {Action.ANSWER_REVIEW, Action.WAIT_FOR_CI, Action.RERUN_CI, Action.WAIT_FOR_BASE}
"""Steps that come after a push: the body itself shows whether it is up to date, so a crash loses nothing."""

MOST = 500
"""The most pull requests whose last update is remembered."""


class BodyUpdates:
    """Updates the bodies of one repository's pull requests."""

    def __init__(self, pulls: Pulls, tools: PhaseTools) -> None:
        self._pulls = pulls
        self._tools = tools
        self._written: OrderedDict[int, str] = OrderedDict()

    async def follow(self, action: Action, held: Held, seen: Snapshot) -> bool:
        """Write the proof of the head into a body that shows another one; return whether it was written.

        Text that people have written around it stays, and a body without a proof is left alone. Raises `Transient`.
        """
        pull_request, head = seen.pull_request, held.fence.work_head
        if action not in FOLLOWED_BY or pull_request is None or pull_request.head_sha != head:
            return False
        number = pull_request.number
        if pull_request_body.shown_head(pull_request.body) in {"", head} or self._written.get(number) == head:
            return False
        change = await change_facts.described(self._tools, held, seen.issue)
        text = pull_request_body.renewed(pull_request.body, change) if change is not None else None
        if text is None:
            return False
        held.check()
        try:
            await self._pulls.edit(number, body=text, permit=held)
        except Blocked as error:
            log.warning("description_not_renewed", outcome="skipped", number=number, error=str(error))
        self._remember(number, head)
        return True

    def _remember(self, number: int, head: str) -> None:
        """Remember the head, so that a stale reading does not cause a second write."""
        self._written[number] = head
        self._written.move_to_end(number)
        while len(self._written) > MOST:
            self._written.popitem(last=False)
