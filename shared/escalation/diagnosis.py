"""A model's diagnosis of an item that was given up: one bounded call that reads and answers, never decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import structlog

from shared.errors import Blocked, EngineError
from shared.github.ports import Issues
from shared.llm.port import Coder, CoderCall, Ending, Request, RunLimits
from shared.llm.role_router import ROLE_OF_CALL
from shared.llm.scenario import Unscripted
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.specification import body_sha256
from shared.text import clean, neutralise, one_line
from shared.text.prompts import Prompts, Untrusted

log = structlog.get_logger()

MOST_USD = 1.0
"""Budget of one diagnosis, in US dollars."""

MOST_TURNS = 5
DEADLINE_SECONDS = 300.0
TEXT_CHARS = 8000
ANSWER_CHARS = 600

LEFT_OUT = "(left out: it is not the text that was approved)"
"""Placeholder for a text that is not the one to which the fence is bound."""

_PROMPTS = Prompts(Path(__file__).with_name("prompts"))
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"cause": {"type": "string"}, "suggestion": {"type": "string"}},
    "required": ["cause", "suggestion"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Given:
    """The sentences that were told of this lease."""

    sentences: str


class Diagnosis:
    """Asks once per lease; an error becomes a sentence, because giving up must not fail for it."""

    def __init__(self, coder: Coder, issues: Issues, limits: RunLimits) -> None:
        self._coder = coder
        self._issues = issues
        self._limits = replace(
            limits,
            max_turns=min(limits.max_turns, MOST_TURNS),
            budget_usd=min(limits.budget_usd, MOST_USD),
            deadline_seconds=min(limits.deadline_seconds, DEADLINE_SECONDS),
        )

    async def of(self, held: Held, error: Blocked) -> str:
        """Return the sentences that tell a person the cause; empty if the error says it itself. Raises `Lost`."""
        if not error.diagnosable:
            return ""
        given = held.memory.get(_Given)
        if given is None:
            try:
                said = await self._ask_model(held.fence, error)
            except Unscripted:
                said = ""
            except EngineError as failure:
                log.warning("diagnosis_skipped", outcome="skipped", error=str(failure))
                said = f"**Diagnosis:** none, because it could not be asked for: {one_line(str(failure), 200)}"
            given = held.memory.keep(_Given(said))
        held.check()
        return given.sentences

    async def _ask_model(self, fence: Fence, error: Blocked) -> str:
        number = fence.key.number
        issue = await self._issues.issue(number)
        approved = body_sha256(issue.title, issue.body) == fence.body_sha256  # nothing else reaches a model
        prompt = _PROMPTS.render(
            "diagnose",
            title=Untrusted(issue.title if approved else f"#{number}"),
            error=Untrusted(str(error)[:TEXT_CHARS]),
            specification=Untrusted(clean(issue.body)[:TEXT_CHARS] if approved else LEFT_OUT),
        )
        outcome = await self._coder.run(
            Request(
                call=CoderCall.DIAGNOSE,
                item=f"#{number}",
                title=issue.title,
                role=ROLE_OF_CALL[CoderCall.DIAGNOSE],
                prompt=prompt,
                schema=_SCHEMA,
                limits=self._limits,
            )
        )
        if outcome.ending is not Ending.COMPLETED or outcome.answer is None:
            return f"**Diagnosis:** none; the run ended as {outcome.ending}."
        cause, then = (one_line(str(outcome.answer.get(key, "")), ANSWER_CHARS) for key in ("cause", "suggestion"))
        told = [f"**Diagnosis (by a model, not checked):** {neutralise(cause)}"] if cause else []
        told += [f"**Suggestion{'' if cause else ' (by a model, not checked)'}:** {neutralise(then)}"] if then else []
        return " ".join(told)
