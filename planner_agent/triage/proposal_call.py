"""The paid call of triage: a prompt about an issue, whose text is a stranger's."""

from __future__ import annotations

from collections.abc import Sequence

from planner_agent.text_call import PROMPTS, ask, most
from planner_agent.triage import proposal
from planner_agent.triage.proposal import Proposal
from shared.llm.port import Coder, CoderCall, Request, RunLimits
from shared.llm.role_router import ROLE_OF_CALL, lowered
from shared.models import Issue
from shared.text import clean, one_line
from shared.text.prompts import Untrusted

TEXT_CHARS = 8000
OTHERS = 200
"""Titles of other open issues that a prompt shows, the newest."""

DEADLINE_SECONDS = 300.0

_UNUSABLE = "The backend's proposal cannot be used, and its correction cannot either:"


class ProposalCall:
    """Asks a backend for the kind of an issue; it gets no tree, and the text as that of somebody else."""

    def __init__(self, coder: Coder, limits: RunLimits) -> None:
        self._coder = coder
        self._limits = lowered(limits, most(DEADLINE_SECONDS))

    async def proposal(self, issue: Issue, others: Sequence[Issue]) -> Proposal:
        """Return what `issue` seems to be, perhaps one of `others` again.

        Raises `AnswerHidden`, `RunFailed`, `RunEnded`.
        """
        titles = {one.number: f"#{one.number} {one_line(clean(one.title), 200)}" for one in _others(issue, others)}

        def prompt(faults: str) -> str:
            return PROMPTS.render(
                "triage",
                title=Untrusted(issue.title),
                issue=Untrusted(clean(issue.body)[:TEXT_CHARS]),
                others=Untrusted("\n".join(titles.values())),
                faults=Untrusted(faults),
            )

        request = Request(
            call=CoderCall.TRIAGE,
            item=f"#{issue.number}",
            title=issue.title,
            role=ROLE_OF_CALL[CoderCall.TRIAGE],
            prompt="",
            schema=proposal.schema(),
            limits=self._limits,
        )
        return await ask(self._coder, request, prompt, lambda text: proposal.read(text, titles.keys()), _UNUSABLE)


def _others(issue: Issue, others: Sequence[Issue]) -> list[Issue]:
    wanted = [one for one in others if one.number != issue.number and not one.is_pull_request and one.open]
    return sorted(wanted, key=lambda one: one.number, reverse=True)[:OTHERS]
