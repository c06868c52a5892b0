"""One paid review: what it is given, the call, and the answer repaired at most once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewer_agent import links, patch
from reviewer_agent.answer import SCHEMA, Answer, parse
from reviewer_agent.draft import Draft
from reviewer_agent.patch import Patch
from reviewer_agent.placement import place
from reviewer_agent.policy import Policy
from reviewer_agent.ports import Source
from shared.errors import Blocked, Gone
from shared.git.failures import NoSuchRef, TooMuchOutput
from shared.governance.endings import completed
from shared.governance.repair import Unusable, asked
from shared.llm.port import Call, Coder, Ending, Outcome, Request
from shared.markdown import heading, lines
from shared.models import PullRequest
from shared.prompts import Prompts
from shared.specification import read
from shared.text import excerpt

CONVENTIONS = ("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md")
"""Instruction files; read from the base commit only, so that no change can instruct its own reviewer."""

CONVENTIONS_CHARS = 8000
EVIDENCE_BYTES = 20_000
EARLIER_BYTES = 20_000
"""How much of each a prompt quotes."""


class NothingToReview(Blocked):
    """The pull request changes nothing: close it, or push the change."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change is judged against: an issue, or the pull request's own description."""

    title: str
    body: str


class Examiner:
    """Reads a change from git and asks a coder for its review; the coder gets text, no tree and no token."""

    def __init__(self, source: Source, coder: Coder, prompts: Prompts, policy: Policy) -> None:
        self.source = source
        self._coder = coder
        self._prompts = prompts
        self._policy = policy

    async def bring(self, pull_request: PullRequest) -> str:
        """Have the head and the base here; returns the commit of the base as the server has it now."""
        await self.source.ensure()
        base = await self.source.refresh(f"refs/heads/{pull_request.base_branch}")
        if base is None:
            raise Blocked(f"The base branch '{pull_request.base_branch}' does not exist any more.")
        if await self.source.sha(pull_request.head_sha) is None:
            try:
                await self.source.fetch(pull_request.head_sha)
            except NoSuchRef as error:
                raise Gone(f"The commit {pull_request.head_sha[:12]} is not in the repository any more.") from error
        return base

    async def examine(self, pull_request: PullRequest, subject: Subject, round: int, earlier: str) -> Draft:
        """Review the head. Raises `RunFailed`, `RunEnded`, `AnswerUnusable` and `NothingToReview`."""
        base = await self.bring(pull_request)
        change = await self._change(base, pull_request.head_sha)
        specification = read(subject.body)
        variables = {
            "title": subject.title,
            "specification": subject.body,
            "criteria": "\n".join(f"- {criterion.id}: {criterion.text}" for criterion in specification.criteria),
            "evidence": excerpt(evidence(pull_request.body), EVIDENCE_BYTES),
            "diff": change.text,
            "conventions": await self._conventions(base),
            "earlier": excerpt(earlier, EARLIER_BYTES),
        }
        request = Request(
            call=Call.REVIEW,
            item=f"#{pull_request.number}",
            title=subject.title,
            role="code-reviewer",
            prompt="",
            round=round,
            schema=SCHEMA,
            limits=self._policy.limits,
            account="" if (issue := links.issue_of(pull_request)) is None else f"#{issue}",
        )
        criteria = [criterion.id for criterion in specification.criteria]
        answer = await asked(
            self._coder,
            request,
            lambda faults: self._prompts.render("review", **variables, problems=faults),
            lambda outcome: _usable(outcome, criteria),
            "The backend's review cannot be used, and its correction cannot either:",
        )
        return Draft(pull_request.head_sha, round, answer, place(answer.findings, change), change)

    async def _change(self, base: str, head: str) -> Patch:
        try:
            diff = await self.source.diff(base, head)
        except TooMuchOutput as error:
            raise Blocked("The change is too large to be reviewed by the engine: a person reviews it.") from error
        if not diff.strip():
            raise NothingToReview
        return patch.read(diff, self._policy.diff_bytes)

    async def _conventions(self, base: str) -> str:
        found = [await self.source.show(base, name) for name in CONVENTIONS]
        return "\n\n".join(text.decode("utf-8", "replace") for text in found if text)[:CONVENTIONS_CHARS]


def _usable(outcome: Outcome, criteria: Sequence[str]) -> Answer:
    if outcome.ending is Ending.MALFORMED:
        raise Unusable(["The answer was not JSON by the schema."])
    return parse(completed(outcome, Call.REVIEW).answer, criteria)


def evidence(body: str) -> str:
    """The section `Evidence` of a pull request's body; empty when there is none."""
    found: list[str] = []
    inside = False
    for line in lines(body.replace("\r\n", "\n")):
        title = heading(line)
        if title is not None and title[0] <= 2:
            inside = title[1].casefold() == "evidence"
        elif inside:
            found.append(line.text)
    return "\n".join(found).strip()
