"""The paid part of triage: one call for a proposal, one for its correction. The text is a stranger's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from planner_agent import plan
from planner_agent.triage import proposal
from planner_agent.triage.proposal import Proposal
from shared.llm.port import Coder, CoderCall, Ending, Request, RunLimits, RunOutcome
from shared.models import Issue
from shared.retry.answer_retry import AnswerUnusable, asked
from shared.retry.run_errors import completed
from shared.text import clean, one_line
from shared.text.prompts import Prompts, Untrusted

ROLE = "architect"
TEXT_CHARS = 8000
OTHERS = 200
"""Titles of other open issues that a prompt shows, the newest."""

MOST_USD = 0.5
"""What one proposal may cost."""

MOST_TURNS = 5
DEADLINE_SECONDS = 300.0

_PROMPTS = Prompts(Path(__file__).parents[1] / "prompts")
_UNUSABLE = "The backend's proposal cannot be used, and its correction cannot either:"


class ProposalUnusable(AnswerUnusable):
    """Neither the proposal nor its correction can be used. The answers are not shown: a stranger's text shaped them."""

    diagnosable = False


class Asking:
    """Asks a backend what an issue seems to be; it gets no tree, and the text as that of somebody else."""

    def __init__(self, coder: Coder, limits: RunLimits) -> None:
        self._coder = coder
        self._limits = replace(
            limits,
            max_turns=min(limits.max_turns, MOST_TURNS),
            budget_usd=min(limits.budget_usd, MOST_USD),
            deadline_seconds=min(limits.deadline_seconds, DEADLINE_SECONDS),
        )

    async def proposal(self, issue: Issue, others: Sequence[Issue]) -> Proposal:
        """What `issue` seems to be, one of `others` among it. Raises `ProposalUnusable`, `RunFailed`, `RunEnded`."""
        titles = {one.number: f"#{one.number} {one_line(clean(one.title), 200)}" for one in _shown(issue, others)}

        def prompt(faults: str) -> str:
            return _PROMPTS.render(
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
            role=ROLE,
            prompt="",
            schema=proposal.schema(),
            limits=self._limits,
        )
        try:
            return await asked(self._coder, request, prompt, lambda run: _read(run, titles.keys()), _UNUSABLE)
        except AnswerUnusable as error:
            raise ProposalUnusable(str(error), (), "") from error


def _shown(issue: Issue, others: Sequence[Issue]) -> list[Issue]:
    wanted = [one for one in others if one.number != issue.number and not one.is_pull_request and one.open]
    return sorted(wanted, key=lambda one: one.number, reverse=True)[:OTHERS]


def _read(outcome: RunOutcome, shown: Collection[int]) -> Proposal:
    if outcome.ending is Ending.MALFORMED:
        return proposal.read(outcome.text, shown)
    done = completed(outcome, CoderCall.TRIAGE)
    return proposal.read(done.text if done.answer is None else plan.as_text(done.answer), shown)
