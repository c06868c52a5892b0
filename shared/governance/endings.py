"""What the ending of a paid run means for the item: go on, try again, or a person (pure)."""

from __future__ import annotations

from typing import assert_never

from shared.errors import Blocked, RunFailed
from shared.llm.port import Ending, Outcome
from shared.text import one_line
from shared.workflow import Flag


class RunEnded(Blocked):
    """A paid run ended in a way that repeating it would not change."""

    def __init__(self, message: str, flag: Flag = Flag.MANUAL_INTERVENTION) -> None:
        super().__init__(message)
        self.flags: tuple[Flag, ...] = (flag,)


def completed(outcome: Outcome, what: str) -> Outcome:
    """`outcome` when it completed; raises `RunFailed` (try again) or `RunEnded` (a person) otherwise."""
    said = one_line(outcome.text, 300)
    reason = f": {said}" if said else "."
    match outcome.ending:
        case Ending.COMPLETED:
            return outcome
        case Ending.TRANSIENT | Ending.OVERLOADED | Ending.USAGE_LIMIT | Ending.TIMED_OUT:
            raise RunFailed(f"The run '{what}' ended as {outcome.ending}{reason}")
        case Ending.MAX_TURNS:
            raise RunEnded(f"The run '{what}' used up its turns{reason}", Flag.SPEC_REVIEW_NEEDED)
        case Ending.MAX_BUDGET:
            raise RunEnded(f"The run '{what}' used up its budget{reason}", Flag.BUDGET_EXCEEDED)
        case Ending.PERSISTENT | Ending.MALFORMED | Ending.KILLED | Ending.UNKNOWN:
            raise RunEnded(f"The run '{what}' ended as {outcome.ending}{reason}")
        case _:
            assert_never(outcome.ending)
