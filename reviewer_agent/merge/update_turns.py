"""Whose turn it is to be brought up to date with a base branch: one approved pull request, until it is merged.

Where branches have to be up to date every merge puts all others behind. Were all of them brought up to date each time,
each merge would cost every other one a run of CI and, where GitHub dismisses stale approvals, all its approvals. The
turn is a ref of the engine's own for each base branch, moved by compare-and-swap, so it holds between machines too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from reviewer_agent.review.verdict import branch_key
from shared.errors import Gone
from shared.git.ports import Fences
from shared.github.ports import Pulls
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.hold import Held
from shared.lock.port import ForeignFence
from shared.scheduling.order import excluded
from shared.workflow import HALTED
from shared.workflow.labels import Labels

PREFIX = f"{FENCE_NAMESPACE}/updates/"
"""Below this is a ref for each base branch, by a hash of its name."""

_VERSION = "1"

OVERTAKEN_AFTER = timedelta(minutes=30)
"""So long after it was taken, one that lacks nothing else may take the turn of one that still lacks something."""

HELD_FOR = timedelta(hours=24)
"""So long after it was taken the turn is anybody's, whatever its pull request waits for."""


@dataclass(frozen=True, slots=True)
class UpdateTurn:
    """Which pull request is brought up to date with which branch, since when by server time."""

    pull_request: int
    branch: str
    at: datetime

    def write(self, nonce: str) -> str:
        """The commit message; `nonce` makes it unlike any other."""
        return (
            f"update #{self.pull_request}\n\nEngine-Update: {_VERSION}\nPr: {self.pull_request}\n"
            f"Branch: {self.branch}\nAt: {self.at.isoformat()}\nNonce: {nonce}\n"
        )

    @classmethod
    def read(cls, message: str) -> UpdateTurn | None:
        """The turn that a commit message spells; None when it is none of this version."""
        lines = (line.partition(": ") for line in message.splitlines())
        trailers = {name: value.strip() for name, _, value in lines if value}
        if trailers.get("Engine-Update") != _VERSION:
            return None
        try:
            found = cls(int(trailers["Pr"]), trailers["Branch"], datetime.fromisoformat(trailers["At"]))
        except (KeyError, ValueError):
            return None
        return found if found.at.tzinfo is not None else None


class UpdateTurns:
    """The turns of one repository, one for each base branch."""

    def __init__(
        self,
        refs: Fences,
        server_time: Callable[[], datetime],
        pulls: Pulls,
        names: Labels,
        exclude: Collection[str],
    ) -> None:
        """Whatever carries a label of `exclude` is left alone, so that others need not wait for it."""
        self._refs = refs
        self._server_time = server_time
        self._pulls = pulls
        self._names = names
        self._exclude = exclude

    async def before(self, number: int, branch: str, *, complete: bool) -> int:
        """The pull request that comes before `number`, 0 when it is the turn of `number` or nobody's.

        `complete`: nothing but being up to date keeps `number` from its merge. Raises `Transient`, and `ForeignFence`
        where only a newer engine can tell.
        """
        _, last = await self._last(branch)
        if last is None or last.pull_request == number:
            return 0
        held = self._server_time() - last.at
        if held >= HELD_FOR or (complete and held >= OVERTAKEN_AFTER):
            return 0
        return last.pull_request if await self._goes_on(last.pull_request, branch) else 0

    async def take(self, held: Held, branch: str, *, complete: bool) -> bool:
        """Take it for the held pull request; False while it is somebody else's. One that has it keeps it as it is.

        Raises `Lost` and `Transient`, and `ForeignFence` for a turn that cannot be read.
        """
        number = held.fence.key.number
        expected, last = await self._last(branch)
        if last is not None and last.pull_request == number:
            return True
        if await self.before(number, branch, complete=complete):
            return False
        held.check()
        message = UpdateTurn(number, branch, held.server_now()).write(secrets.token_hex(8))
        return await self._refs.advance(_ref(branch), message, expected, (), ()) is not None

    async def _goes_on(self, number: int, branch: str) -> bool:
        """Whether a pull request may still come to its merge by itself or by a word: not given up, stopped, flagged."""
        try:
            found = await self._pulls.pull_request(number)
        except Gone:
            return False
        if not found.open or found.draft or found.base_branch != branch or excluded(found.labels, self._exclude):
            return False
        shown = self._names.read(found.labels)
        return bool(shown.stages) and not shown.stages & HALTED and not shown.flags

    async def _last(self, branch: str) -> tuple[str | None, UpdateTurn | None]:
        found = await self._refs.read(_ref(branch))
        if found is None:
            return None, None
        last = UpdateTurn.read(found[1])
        if last is None:
            raise ForeignFence(_ref(branch), found[0])
        return found[0], last


def _ref(branch: str) -> str:
    return f"{PREFIX}{branch_key(branch)}"
