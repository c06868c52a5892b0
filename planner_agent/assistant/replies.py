"""Every sentence of a reply to a question: pure functions."""

from __future__ import annotations

from shared.commands.command import spoken_text
from shared.errors import EngineError
from shared.models import Comment
from shared.text import one_line

_QUESTION_CHARS = 300

LIMIT_PURPOSE = "questions-limit"

UNANSWERED = "I have tried to answer this question and have not come to an end. Ask again, or ask a person."


def purpose(comment: int) -> str:
    """Return the purpose that marks the reply to a question, so that it is posted once."""
    return f"answer-{comment}"


def answered(question: Comment, answer: str, base: str) -> str:
    """Return the reply with the words of a model, which are made harmless where it is posted."""
    source = f"A model wrote this from the branch `{one_line(base, 100)}` and this thread. It can be wrong."
    return f"{_quote(question)}\n\n{answer}\n\n<sub>{source}</sub>"


def failed(question: Comment, error: EngineError) -> str:
    """Return the reply to a question without an answer, which will not get one either."""
    return f"{_quote(question)}\n\nI cannot answer this question: {one_line(str(error), 400)}"


def unanswered(question: Comment) -> str:
    """Return the reply to a question whose planners ended before they could answer."""
    return f"{_quote(question)}\n\n{UNANSWERED}"


def limited(per_day: int) -> str:
    """Return the reply to a question above the limit of answers for a day; posted once in a thread."""
    return (
        f"The limit of answers within 24 hours is reached here (`assistant.per_day`: {per_day}). "
        "Ask again later, or ask a person."
    )


def _quote(question: Comment) -> str:
    return f"> {one_line(spoken_text(question.body), _QUESTION_CHARS)}"
