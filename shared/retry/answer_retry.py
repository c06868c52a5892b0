"""A structured answer, asked for once more with what was wrong with it, and then no more."""

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
"""How much of an answer that cannot be used a comment shows."""


class Unusable(ValueError):
    """An answer that does not fit; `faults` says in sentences what is wrong with it, for whoever corrects it."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


class AnswerUnusable(Blocked):
    """Neither the answer nor its correction can be used; `raw` is what the backend answered last."""

    def __init__(self, sentence: str, faults: Sequence[str], raw: str) -> None:
        listed = "".join(f"\n- {fault}" for fault in faults[:5])
        super().__init__(f"{sentence}{listed}")
        self.raw = raw


async def asked(
    coder: Coder,
    request: Request,
    prompt: Callable[[str], str],
    read: Callable[[RunOutcome], T],
    sentence: str,
) -> T:
    """What `read` makes of the answer to `prompt`, which gets the faults of the first one as a list, else "".

    Raises `AnswerUnusable`, which begins with `sentence`; where not even the backend's own schema was met,
    `RunFailed`, because that may pass; and what `read` raises beside `Unusable`.
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
    """What came, as text."""
    if outcome.answer is None:
        return outcome.text
    try:
        return json.dumps(outcome.answer, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return outcome.text


def shown(answer: str) -> str:
    """What came, folded away in a comment; no fence in it closes ours."""
    text = redact(printable(answer), ())[:RAW_CHARS].replace("```", "'''")
    lines = ["<details><summary>What the backend answered</summary>", "", "```text", text, "```", "", "</details>"]
    return "\n".join(lines)
