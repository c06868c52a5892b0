"""The paid calls of a review: the review itself and the second pass over its approval, each repaired at most once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reviewer_agent import links
from reviewer_agent.policy import Policy
from reviewer_agent.review import answer, questions
from reviewer_agent.review.draft import Draft, divided, place
from reviewer_agent.review.review_input import ReviewInput
from shared.llm.port import Coder, CoderCall, Ending, Request, RunOutcome
from shared.llm.role_router import ROLE_OF_CALL
from shared.retry.answer_retry import Unusable, ask_with_retry
from shared.retry.run_errors import completed
from shared.text import excerpt
from shared.text.prompts import Prompts

EVIDENCE_BYTES = 20_000
EARLIER_BYTES = 20_000
"""Bytes of each that a prompt quotes."""


class ReviewCalls:
    """The calls of a coder about a change; the coder gets text, no tree and no token."""

    def __init__(self, coder: Coder, prompts: Prompts, policy: Policy) -> None:
        self._coder = coder
        self._prompts = prompts
        self._policy = policy

    async def review(self, review_input: ReviewInput, round: int) -> Draft:
        """Review the head. Raises `RunFailed`, `RunEnded` and `AnswerUnusable`."""
        listed, since, recorded = review_input.earlier.listed, review_input.since, review_input.recorded
        criteria, tests = [id for id, _ in review_input.criteria], questions.names(recorded.questions)
        variables = _variables(review_input) | {
            "proof": excerpt(recorded.proof, EVIDENCE_BYTES),
            "expectations": questions.shown(recorded.questions),
            "conventions": review_input.conventions,
            "earlier": excerpt(review_input.earlier.text, EARLIER_BYTES),
            "since": "" if since is None else since.text,
        }
        request = self._request(CoderCall.REVIEW, review_input, round, answer.schema(listed, tests))
        given = await ask_with_retry(
            self._coder,
            request,
            lambda faults: self._prompts.render("review", **variables, problems=faults),
            lambda outcome: answer.parse(_structured_answer(outcome, CoderCall.REVIEW), criteria, listed, tests),
            "The backend's review cannot be used, and its correction cannot either:",
        )
        counting, late = divided(given.findings, review_input.change, since)
        placed = place(counting, review_input.change)
        pull = review_input.pull_request
        draft = Draft(pull.head_sha, round, given, placed, review_input.change, removed=review_input.removed, late=late)
        replies = questions.answered(recorded.questions, given.expectations, criteria)
        text = review_input.subject.text
        return replace(draft, onto=pull.base_branch, replies=replies, doubt=recorded.doubt, text=text)

    async def check(self, review_input: ReviewInput, draft: Draft) -> Draft:
        """Make the second pass: check each criterion against the evidence. Raises as `review`."""
        variables = _variables(review_input) | {"runs": excerpt(review_input.recorded.runs, EVIDENCE_BYTES)}
        request = self._request(CoderCall.CHECK_CRITERIA, review_input, draft.round, answer.CHECK_SCHEMA)
        criteria = [id for id, _ in review_input.criteria]
        checked = await ask_with_retry(
            self._coder,
            request,
            lambda faults: self._prompts.render("check_criteria", **variables, problems=faults),
            lambda outcome: answer.parse_check(_structured_answer(outcome, CoderCall.CHECK_CRITERIA), criteria),
            "The backend's check of the criteria cannot be used, and its correction cannot either:",
        )
        return replace(draft, checked=checked)

    def _request(self, call: CoderCall, review_input: ReviewInput, round: int, schema: Mapping[str, object]) -> Request:
        issue = links.issue_of(review_input.pull_request)
        return Request(
            call=call,
            item=f"#{review_input.pull_request.number}",
            title=review_input.subject.title,
            role=ROLE_OF_CALL[call],
            prompt="",
            round=round,
            schema=schema,
            limits=self._policy.limits,
            billed_to="" if issue is None else f"#{issue}",
        )


def _variables(review_input: ReviewInput) -> dict[str, str]:
    return {
        "title": review_input.subject.title,
        "specification": review_input.subject.body,
        "criteria": "\n".join(f"- {id}: {text}" for id, text in review_input.criteria),
        "evidence": excerpt(review_input.subject.evidence, EVIDENCE_BYTES),
        "diff": review_input.change.text,
    }


def _structured_answer(outcome: RunOutcome, call: CoderCall) -> Mapping[str, object] | None:
    if outcome.ending is Ending.MALFORMED:
        raise Unusable(["The answer was not JSON by the schema."])
    return completed(outcome, call).answer
