"""Where each lease knows its work branch to stand: as it has fetched or pushed it itself, whatever others fetch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from shared.lock.record import Fence


@dataclass(frozen=True, slots=True)
class KnownHead:
    """The head of a branch as one lease last saw it; None when there was none."""

    nonce: str
    tip: str | None


class BranchHeads:
    """What the leases of one repository's items know, by issue.

    Others fetch into the same mirror at any time: a push that expected what they brought would not be refused.
    """

    def __init__(self) -> None:
        self._known: dict[int, KnownHead] = {}

    def keep(self, fence: Fence, tip: str | None) -> None:
        """From now on this lease knows its branch to stand at `tip`."""
        self._known[fence.key.number] = KnownHead(fence.nonce, tip)

    def of(self, fence: Fence) -> KnownHead | None:
        """What this lease knows; None when it has not looked, or has to look again."""
        known = self._known.get(fence.key.number)
        return known if known is not None and known.nonce == fence.nonce else None

    def forget(self, fence: Fence) -> None:
        """Have the lease look again."""
        self._known.pop(fence.key.number, None)

    def retain(self, numbers: Collection[int]) -> None:
        """Forget the items that are not among `numbers`."""
        self._known = {number: known for number, known in self._known.items() if number in numbers}
