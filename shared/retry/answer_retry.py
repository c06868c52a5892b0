"""A request for a structured answer, repeated once with the faults of the first answer, and then no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from shared.errors import Blocked, RunFailed
from shared.llm.port import Coder, Ending, Request, RunOutcome
from shared.retry.failures import Category
from shared.text import printable, redact

T = TypeVar("T")

RAW_CHARS = 2000
"""Characters of an unusable answer that a comment shows."""


class Unusable(ValueError):
    """An answer that does not fit; `faults` are sentences on what is wrong with it, for its correction."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class AnswerUnusable(Blocked):
    """Neither the answer nor its correction can be used; `raw` is what the backend answered last."""

    def __init__(self, sentence: str, faults: Sequence[str], raw: str) -> None:
        listed = "".join(f"\n- {fault}" for fault in faults[:5])
        super().__init__(f"{sentence}{listed}")
        self.raw = raw


async def ask_with_retry(
    coder: Coder,
    request: Request,
    prompt: Callable[[str], str],
    read: Callable[[RunOutcome], T],
    sentence: str,
) -> T:
    """Ask for an answer, at most twice, and return what `read` makes of it.

    `prompt` gets the faults of the first answer as a list, at first "". Raises `AnswerUnusable`, whose message
    begins with `sentence`; `RunFailed` if the answer did not even match the backend's schema, because a retry may help;
    and whatever `read` raises other than `Unusable`.
    """
    faults: tuple[str, ...] = ()
    for retry in (0, 1):
        told = "\n".join(f"- {fault}" for fault in faults)
        outcome = await coder.run(replace(request, prompt=prompt(told), retry=retry))
        try:
            return read(outcome)
        except Unusable as unusable:
            faults = unusable.faults
    final = AnswerUnusable(sentence, faults, raw(outcome))
    if outcome.ending is Ending.MALFORMED:
        raise RunFailed(str(final), category=Category.MALFORMED, final=final)
    raise final


def raw(outcome: RunOutcome) -> str:
    """Return the answer as text: as JSON if it was parsed, else the output itself."""
    if outcome.answer is None:
        return outcome.text
    try:
        return json.dumps(outcome.answer, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return outcome.text


def shown(answer: str) -> str:
    """Return the answer as a collapsed section for a comment; code fences in it are replaced."""
    text = redact(printable(answer), ())[:RAW_CHARS].replace("```", "'''")
    lines = ["<details><summary>What the backend answered</summary>", "", "```text", text, "```", "", "</details>"]
    return "\n".join(lines)
