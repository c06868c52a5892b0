"""What is known about a story, made short enough to plan from: a paid call, made only where the text is long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

from shared.errors import RunFailed
from shared.governance.answer_retry import AnswerUnusable, Unusable, asked
from shared.governance.run_errors import completed
from shared.llm.port import Call, Coder, Ending, Outcome, Request

log = structlog.get_logger()

FEWEST_WORDS, MOST_WORDS = 500, 1000
"""How long a summary is. What has no more words than the most is passed on as it is."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string", "minLength": 1, "maxLength": 12_000}},
    "required": ["summary"],
    "additionalProperties": False,
}


async def condensed(coder: Coder, request: Request, text: str, prompt: Callable[[str], str]) -> str:
    """`text` itself when it is short, else the backend's summary of it.

    `prompt` renders the question with what was wrong with a first answer, else "". A summary that cannot be used,
    not even after its correction, is left out: the plan is then made from the text. Raises `RunFailed` and
    `RunEnded` when a run itself failed.
    """
    if len(text.split()) <= MOST_WORDS:
        return text
    try:
        return await asked(coder, request, prompt, _read, "The backend's summary cannot be used:")
    except AnswerUnusable as unusable:
        log.warning("summary_unusable", outcome="skipped", error=str(unusable))
    except RunFailed as failed:
        if failed.final is None:
            raise
        log.warning("summary_unusable", outcome="skipped", error=str(failed))
    return text


def _read(outcome: Outcome) -> str:
    """The summary in an answer; raises `Unusable` for one of the wrong length."""
    if outcome.ending is Ending.MALFORMED:
        raise Unusable(["it is not JSON by the schema"])
    found = (completed(outcome, Call.SUMMARISE).answer or {}).get("summary")
    if not isinstance(found, str):
        raise Unusable(["'summary' is missing or no text"])
    words = len(found.split())
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        raise Unusable([f"the summary has {words} words; {FEWEST_WORDS} to {MOST_WORDS} are wanted"])
    return found
