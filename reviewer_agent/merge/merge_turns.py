"""Turns to merge: one merge at a time in a repository, each on a base that was read after the last merge.

The turn is a ref of the engine's own, moved by compare-and-swap, so it holds between machines too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reviewer_agent.ref_records import VERSION, parse, read_record
from shared.ci.verdict import CiVerdict
from shared.git.ports import Fences, Mirror
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.hold import Held

REF = f"{FENCE_NAMESPACE}/merges"

TURN_SECONDS = 120.0
"""Seconds for which a turn keeps others from merging, unless its merge moves the base before."""

FRESH_SECONDS = 60.0
"""Seconds after its turn was taken in which a merge is sent; later the turn is renewed first."""


@dataclass(frozen=True, slots=True)
class MergeTurn:
    """The turn of a pull request: its base branch, that branch's tip and checks; `at` is server time.

    `over`: the merge came to nothing, and the turn is free.
    """

    pull_request: int
    branch: str
    tip: str
    checks: CiVerdict
    at: datetime
    over: bool = False

    def write(self, nonce: str) -> str:
        """Return the commit message; `nonce` makes it unlike any other."""
        trailers = {
            "Engine-Merge": VERSION,
            "Pr": str(self.pull_request),
            "Branch": self.branch,
            "Base": self.tip,
            "Checks": self.checks,
            "Nonce": nonce,
            "At": self.at.isoformat(),
            **({"Over": "yes"} if self.over else {}),
        }
        return f"merge #{self.pull_request}\n\n" + "".join(f"{name}: {value}\n" for name, value in trailers.items())

    @classmethod
    def read(cls, message: str) -> MergeTurn | None:
        """Return the turn that a commit message spells; None if it is none of this version."""

        def made(told: Mapping[str, str], at: datetime) -> MergeTurn:
            over, checks = told.get("Over") == "yes", CiVerdict(told["Checks"])
            return cls(int(told["Pr"]), told["Branch"], told["Base"], checks, at, over)

        return parse(message, "Engine-Merge", made)

    def settling(self, branch: str, tip: str, checks: CiVerdict, *, now: datetime, seconds: float) -> bool:
        """Return whether the last merge is so recent that the checks of the new base have not ended.

        If there are none, they may only be late, if the base had some before.
        """
        if (self.branch, now - self.at < timedelta(seconds=seconds)) != (branch, True) or self.tip == tip:
            return False
        return checks is CiVerdict.RUNNING or (checks is CiVerdict.NONE and self.checks is not CiVerdict.NONE)


class MergeTurns:
    """The one turn to merge of a repository."""

    def __init__(self, refs: Fences, tips: Mirror, server_time: Callable[[], datetime]) -> None:
        self._refs = refs
        self._tips = tips
        self._server_time = server_time
        self._mine: dict[int, tuple[str, MergeTurn]] = {}
        """Pull request -> the commit by which its turn was taken, and the turn."""

    async def settling(self, branch: str, tip: str, checks: CiVerdict, *, seconds: float) -> bool:
        """Return whether the last merge made this tip less than `seconds` ago, and its checks have not ended.

        Raises `Transient`, and `ForeignFence` if only a newer engine can tell.
        """
        _, last = await read_record(self._refs, REF, MergeTurn.read)
        return last is not None and last.settling(branch, tip, checks, now=self._server_time(), seconds=seconds)

    async def take(self, held: Held, turn: MergeTurn) -> bool:
        """Take the turn for the held pull request, on a reading of the base; return False while another one has it.

        Raises `Lost` and `Transient`, and `ForeignFence` for a turn that cannot be read: it may still be held.
        """
        expected, last = await read_record(self._refs, REF, MergeTurn.read)
        if last is not None and await self._is_taken(last, turn):
            return False
        held.check()
        message = turn.write(secrets.token_hex(8))
        taken = await self._refs.advance(REF, message, expected, (), ())
        if taken is not None:
            self._mine[turn.pull_request] = taken, turn
        return taken is not None

    async def give_back(self, held: Held, number: int) -> None:
        """Give the turn back if the merge came to nothing, so that the next one need not wait; ignore another's turn.

        Raises `Lost` and `Transient`.
        """
        taken = self._mine.pop(number, None)
        if taken is None:
            return
        held.check()
        message = replace(taken[1], over=True).write(secrets.token_hex(8))
        await self._refs.advance(REF, message, taken[0], (), ())

    def keep(self, number: int) -> None:
        """Keep the turn of a merge that was or may have been made: it ends when the base moves, or with its time."""
        self._mine.pop(number, None)

    async def _is_taken(self, last: MergeTurn, turn: MergeTurn) -> bool:
        """Return whether another one has the turn; it ends with its time, when given back, or when the base moves."""
        late = turn.at - last.at >= timedelta(seconds=TURN_SECONDS)
        if last.over or late or last.pull_request == turn.pull_request:
            return False
        tip = turn.tip if last.branch == turn.branch else await self._tips.refresh(f"refs/heads/{last.branch}")
        return tip == last.tip
