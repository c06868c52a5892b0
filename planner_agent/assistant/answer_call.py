"""The paid call for an answer: its background, its prompt, and the reading of its result."""

from __future__ import annotations

from dataclasses import dataclass

from planner_agent.assistant.question import CALL_SECONDS
from planner_agent.context import Code
from planner_agent.plan import Prose, StrictModel, validated
from planner_agent.text_call import PROMPTS, ask, most
from shared.commands.command import spoken_text
from shared.commands.discussion import Discussion
from shared.llm.port import Coder, CoderCall, Request, RunLimits
from shared.llm.role_router import ROLE_OF_CALL, lowered
from shared.models import Comment, Issue
from shared.retry.answer_retry import Unusable
from shared.text import clean
from shared.text.prompts import Untrusted

TEXT_CHARS = 8000
QUESTION_CHARS = 4000
CHANGE_CHARS = 20_000

ANSWER_LIMIT = 20_000
"""Maximum number of characters in an answer."""

_UNUSABLE = "The backend's answer cannot be used, and its correction cannot either:"


class Answer(StrictModel):
    """The answer to the question."""

    answer: Prose


@dataclass(frozen=True, slots=True)
class Background:
    """The sources of an answer. `shown`: the thread's title and text may be shown to a model."""

    thread: Issue
    shown: bool
    discussion: Discussion
    change: str
    code: Code


class AnswerCall:
    """The call of a backend for an answer."""

    def __init__(self, coder: Coder, limits: RunLimits) -> None:
        self._coder = coder
        self._limits = lowered(limits, most(CALL_SECONDS))

    async def answer(self, question: Comment, background: Background) -> str:
        """Return Markdown, as the backend wrote it. Raises `AnswerHidden`, `RunFailed`, `RunEnded`."""
        told = _variables(question, background)
        request = Request(
            call=CoderCall.ANSWER,
            item=f"#{background.thread.number}",
            title=background.thread.title,
            role=ROLE_OF_CALL[CoderCall.ANSWER],
            prompt="",
            schema=Answer.model_json_schema(),
            limits=self._limits,
        )
        return await ask(
            self._coder,
            request,
            lambda faults: PROMPTS.render("answer", **told, faults=Untrusted(faults)),
            read,
            _UNUSABLE,
        )


def _variables(question: Comment, background: Background) -> dict[str, str | Untrusted]:
    thread = background.thread
    return {
        "title": Untrusted(thread.title if background.shown else ""),
        "issue": Untrusted(clean(thread.body)[:TEXT_CHARS] if background.shown else ""),
        "discussion": Untrusted(background.discussion.text()),
        "change": background.change[:CHANGE_CHARS],
        "conventions": background.code.conventions,
        "commits": background.code.commits,
        "files": background.code.files,
        "question": Untrusted(clean(spoken_text(question.body))[:QUESTION_CHARS]),
    }


def read(text: str) -> str:
    """Return the Markdown in an answer. Raises `Unusable`."""
    if len(text) > ANSWER_LIMIT:
        raise Unusable([f"it has {len(text):,} characters, {ANSWER_LIMIT:,} are allowed"])
    return validated(Answer, text).answer
