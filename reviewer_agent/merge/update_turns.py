"""Turns to be brought up to date with a base branch: one approved pull request at a time, until it is merged.

Where branches have to be up to date, every merge puts all others behind. If all of them were brought up to date each
time, each merge would cost every other one a run of CI and, where GitHub dismisses stale approvals, all its approvals.
The turn is a ref of the engine's own for each base branch, moved by compare-and-swap, so it holds between machines too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from reviewer_agent.ref_records import VERSION, parse, read_record
from reviewer_agent.review.verdict import branch_key
from shared.errors import Gone
from shared.git.ports import Fences
from shared.github.ports import Pulls
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.hold import Held
from shared.scheduling.order import exclusion_reason
from shared.workflow import HALTED
from shared.workflow.labels import Labels

PREFIX = f"{FENCE_NAMESPACE}/updates/"
"""Prefix of the refs, one for each base branch, by a hash of its name."""

OVERTAKEN_AFTER = timedelta(minutes=30)
"""Age of a turn from which one that lacks nothing else may take it from one that still lacks something."""

HELD_FOR = timedelta(hours=24)
"""Age of a turn from which it is free, whatever its pull request waits for."""


@dataclass(frozen=True, slots=True)
class UpdateTurn:
    """The turn of a pull request to be brought up to date with a branch; `at` is server time."""

    pull_request: int
    branch: str
    at: datetime

    def write(self, nonce: str) -> str:
        """Return the commit message; `nonce` makes it unlike any other."""
        return (
            f"update #{self.pull_request}\n\nEngine-Update: {VERSION}\nPr: {self.pull_request}\n"
            f"Branch: {self.branch}\nAt: {self.at.isoformat()}\nNonce: {nonce}\n"
        )

    @classmethod
    def read(cls, message: str) -> UpdateTurn | None:
        """Return the turn that a commit message spells; None if it is none of this version."""
        return parse(message, "Engine-Update", lambda told, at: cls(int(told["Pr"]), told["Branch"], at))


class UpdateTurns:
    """The turns of one repository, one for each base branch."""

    def __init__(
        self, refs: Fences, server_time: Callable[[], datetime], pulls: Pulls, names: Labels, exclude: Collection[str]
    ) -> None:
        """Leave alone items that carry a label of `exclude`, so that others need not wait for them."""
        self._refs = refs
        self._server_time = server_time
        self._pulls = pulls
        self._names = names
        self._exclude = exclude

    async def before(self, number: int, branch: str, *, complete: bool) -> int:
        """Return the pull request that comes before `number`; 0 if `number` has the turn, or nobody has.

        `complete`: only being up to date is missing for the merge of `number`. Raises `Transient`, and `ForeignFence`
        if only a newer engine can tell.
        """
        _, last = await read_record(self._refs, _ref(branch), UpdateTurn.read)
        if last is None or last.pull_request == number:
            return 0
        held = self._server_time() - last.at
        if held >= HELD_FOR or (complete and held >= OVERTAKEN_AFTER):
            return 0
        return last.pull_request if await self._goes_on(last.pull_request, branch) else 0

    async def take(self, held: Held, branch: str, *, complete: bool) -> bool:
        """Take the turn for the held pull request; return False while another one has it. An own turn stays as it is.

        Raises `Lost` and `Transient`, and `ForeignFence` for a turn that cannot be read.
        """
        number = held.fence.key.number
        expected, last = await read_record(self._refs, _ref(branch), UpdateTurn.read)
        if last is not None and last.pull_request == number:
            return True
        if await self.before(number, branch, complete=complete):
            return False
        held.check()
        message = UpdateTurn(number, branch, held.server_now()).write(secrets.token_hex(8))
        return await self._refs.advance(_ref(branch), message, expected, (), ()) is not None

    async def _goes_on(self, number: int, branch: str) -> bool:
        """Return whether its merge may still come, by itself or by an order: it is not given up, stopped or flagged."""
        try:
            found = await self._pulls.pull_request(number)
        except Gone:
            return False
        if (
            not found.open
            or found.draft
            or found.base_branch != branch
            or exclusion_reason(found.labels, self._exclude)
        ):
            return False
        shown = self._names.read(found.labels)
        return bool(shown.stages) and not shown.stages & HALTED and not shown.flags


def _ref(branch: str) -> str:
    return f"{PREFIX}{branch_key(branch)}"
