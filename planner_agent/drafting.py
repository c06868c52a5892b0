"""The paid calls for a plan: one call, and one for its correction; nothing is kept that does not fit the schema.

The context of a story is made short enough to plan from; only if it is long, that costs a paid call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from planner_agent import context, conversation, plan
from planner_agent.context import PlanningContext
from planner_agent.conversation import Conversation
from planner_agent.observe import Listener
from planner_agent.plan import Plan
from planner_agent.policy import Policy
from planner_agent.text_call import PROMPTS, answer_text
from shared.errors import Blocked, Gone, RunFailed
from shared.git.ports import Mirror
from shared.github.ports import Issues
from shared.llm.port import Coder, CoderCall, Ending, Request, RunOutcome
from shared.llm.role_router import ROLE_OF_CALL
from shared.lock.fence import Fence
from shared.models import Issue
from shared.retry.answer_retry import AnswerUnusable, Unusable, ask_with_retry
from shared.retry.run_errors import completed
from shared.specification import BODY_LIMIT, body_sha256
from shared.text import clean
from shared.text.prompts import Untrusted

log = structlog.get_logger()

DISCUSSION_CHARS = 16_000
"""Characters of the newest comments that a prompt shows."""

COMMENTS_SHOWN = 100
"""Number of the newest comments whose authors' permissions are asked for."""

FEWEST_WORDS, MOST_WORDS = 500, 1000
"""Minimum and maximum words of a summary. A text without more words than the maximum is passed on as it is."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string", "minLength": 1, "maxLength": 12_000}},
    "required": ["summary"],
    "additionalProperties": False,
}


class StoryUnusable(Blocked):
    """The story cannot be planned."""

    diagnosable = False


class StoryEdited(Blocked):
    """The text was edited after a plan was asked for, and its author has no write access: read it as it is now."""

    diagnosable = False


@dataclass(frozen=True, slots=True)
class TrustedComments:
    """Trusted people's words: about the story itself, and about the plan that came before."""

    discussion: str = ""
    feedback: str = ""


class Drafting:
    """The calls of a backend for plans."""

    def __init__(self, issues: Issues, listener: Listener, source: Mirror, coder: Coder, policy: Policy) -> None:
        self._issues = issues
        self._listener = listener
        self._source = source
        self._coder = coder
        self._policy = policy

    async def draft(self, story: Issue, thread: Conversation, fence: Fence) -> Plan:
        """Return a valid plan of `story` for the round of `fence`; the one decided at our terminal, if any.

        Raises `StoryUnusable`, `StoryEdited`, `StoryChanged`, `AnswerUnusable`, and `RunFailed` or `RunEnded` if the
        run itself failed.
        """
        if self._policy.preapproved_plan is not None:
            return self._policy.preapproved_plan.plan_of(story)
        check(story)
        await self._check_wording(story, fence)
        said = await self.trusted_comments(thread, fence.attempt, begun_anew=not fence.round)
        background = await self.known(story, said.discussion)
        return await self.planned(story, background, said.feedback, fence.round)

    async def _check_wording(self, story: Issue, fence: Fence) -> None:
        """Raise `StoryEdited` for a text that nobody with write access has written or asked to have planned."""
        if fence.body_sha256 in {"", body_sha256(story.title, story.body)}:
            return
        if story.author != self._policy.account and not await self._listener.may_write(story.author.login):
            raise StoryEdited

    async def trusted_comments(self, thread: Conversation, revision: int, *, begun_anew: bool) -> TrustedComments:
        """Return what trusted people said before plan `revision`.

        If the story is begun anew, words about an older plan count as discussion.
        """
        earlier, since = thread.before(revision), thread.since(revision)
        if begun_anew:
            earlier, since = (*earlier, *since), ()
        discussion = conversation.words(await self._listener.trusted(earlier[-COMMENTS_SHOWN:]))
        feedback = conversation.words(await self._listener.trusted(since[-COMMENTS_SHOWN:]))
        return TrustedComments(discussion[-DISCUSSION_CHARS:], feedback[-DISCUSSION_CHARS:])

    async def known(self, story: Issue, discussion: str) -> PlanningContext:
        """Return the context of a plan of `story` besides its text. Costs no paid call."""
        code = await context.look(self._source, self._policy.base, f"{story.title}\n{story.body}")
        return PlanningContext(code, tuple(await self._related_issues(story)), discussion)

    async def planned(self, story: Issue, background: PlanningContext, feedback: str, round: int) -> Plan:
        """Return a valid plan by the backend; errors as `draft`. `round` counts the plans of this text from 0."""
        summary = await self._condensed(story, context.about(story, background), round)
        return await ask_with_retry(
            self._coder,
            self._request(CoderCall.PLAN, story, round, plan.schema()),
            lambda faults: PROMPTS.render(
                "plan",
                **_told(story, summary, faults),
                conventions=background.code.conventions,
                files=background.code.files,
                feedback=clean(feedback[-DISCUSSION_CHARS:]),
            ),
            lambda outcome: plan.read(answer_text(outcome, CoderCall.PLAN)),
            "The backend's plan cannot be used, and its correction cannot either:",
        )

    async def _condensed(self, story: Issue, text: str, round: int) -> str:
        """Return `text` itself if it is short, else the backend's summary of it.

        A summary that cannot be used, not even after its correction, is left out: the plan is then made from the text.
        Raises `RunFailed` and `RunEnded` if a run itself failed.
        """
        if len(text.split()) <= MOST_WORDS:
            return text
        try:
            return await ask_with_retry(
                self._coder,
                self._request(CoderCall.SUMMARISE, story, round, SCHEMA),
                lambda faults: PROMPTS.render("summary", **_told(story, text, faults)),
                _read_summary,
                "The backend's summary cannot be used:",
            )
        except AnswerUnusable as unusable:
            log.warning("summary_unusable", outcome="skipped", error=str(unusable))
        except RunFailed as failed:
            if failed.final is None:
                raise
            log.warning("summary_unusable", outcome="skipped", error=str(failed))
        return text

    def _request(self, call: CoderCall, story: Issue, round: int, schema: Mapping[str, Any]) -> Request:
        return Request(
            call=call,
            item=f"#{story.number}" if story.number else f"story-{body_sha256(story.title, story.body)[:8]}",
            title=story.title,
            role=ROLE_OF_CALL[call],
            prompt="",
            round=round,
            schema=schema,
            limits=self._policy.limits,
        )

    async def _related_issues(self, story: Issue) -> list[Issue]:
        """Return the issues that the story names, as far as people with write access wrote them."""
        found: list[Issue] = []
        for number in context.references(f"{story.title}\n{story.body}", story.number):
            try:
                issue = await self._issues.issue(number)
            except Gone:
                continue
            if await self._listener.may_write(issue.author.login):
                found.append(issue)
        return found


def check(story: Issue) -> None:
    """Raise `StoryUnusable` for a text that cannot be planned."""
    if not clean(f"{story.title}\n{story.body}").strip():
        raise StoryUnusable("The story is empty: write into title and body what is wanted.")
    if len(story.body) > BODY_LIMIT:
        raise StoryUnusable(
            f"The story has {len(story.body):,} characters, and {BODY_LIMIT:,} are read at most: shorten or split it."
        )


def _told(story: Issue, background: str, faults: str) -> dict[str, Untrusted]:
    texts = {"title": story.title, "story": story.body, "context": background, "faults": faults}
    return {name: Untrusted(text) for name, text in texts.items()}


def _read_summary(outcome: RunOutcome) -> str:
    """Return the summary in an answer; raises `Unusable` for one of the wrong length."""
    if outcome.ending is Ending.MALFORMED:
        raise Unusable(["it is not JSON by the schema"])
    found = (completed(outcome, CoderCall.SUMMARISE).answer or {}).get("summary")
    if not isinstance(found, str):
        raise Unusable(["'summary' is missing or no text"])
    words = len(found.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise Unusable([f"the summary has {words} words; {FEWEST_WORDS} to {MOST_WORDS} are wanted"])
    return found
