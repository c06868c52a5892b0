"""The candidates that a loop did not claim: number, state, end of the pause and reason."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from shared.clock import Clock
from shared.scheduling.agent_contract import Candidate, CandidateKind, Skip

LOOKS = 30
"""Candidates looked at in one tick: each costs a few requests, and held items wait for the tick's end."""

LOOK_AGAIN_SECONDS = (1.0, 60.0)
"""Pauses in seconds before the second and the third look at one state of an item: GitHub's times of change have whole
seconds, so that two changes may look like one, and a single item may be read older than the list that named it."""

KEPT = 1000
"""Items that are remembered in any case; above, only those that are candidates, or are left alone."""

_State = tuple[CandidateKind, str]


@dataclass(frozen=True, slots=True)
class _Memory:
    state: _State | None
    """None stands for every state of the item."""
    until: float
    reason: str
    failed: bool
    looks: int = 1


class SkipBackoff:
    """The candidates that are left alone for a while; `candidate in skipped` tells whether one is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[int, _Memory] = {}
        self._refused: dict[int, _State] = {}

    @property
    def reasons(self) -> Mapping[int, str]:
        """Reason per item why it was not claimed when it was last looked at."""
        return {number: memory.reason for number, memory in self._known.items()}

    @property
    def failure(self) -> str:
        """The first error that a claim met; empty if there was none."""
        return next((memory.reason for memory in self._known.values() if memory.failed), "")

    def __contains__(self, candidate: Candidate) -> bool:
        memory = self._known.get(candidate.number)
        if memory is None or memory.state not in {None, candidate.state}:
            return False
        return self._clock.boot() < memory.until

    def due(self, candidates: Sequence[Candidate], held: Container[int]) -> tuple[Candidate, ...]:
        """Return the candidates to look at now, at most `LOOKS`, in their order.

        If there are more, half are the first ones, and half those that were never looked at: so the first ones,
        coming due again and again, do not keep the last of thousands from being looked at.
        """
        self._forget({one.number for one in candidates})
        due = [one for one in candidates if one.number not in held and one not in self]
        if len(due) <= LOOKS:
            return tuple(due)
        first, others = due[: LOOKS // 2], due[LOOKS // 2 :]
        new = sorted(others, key=lambda one: one.number in self._known)[: LOOKS - len(first)]
        return (*first, *(one for one in others if one in new))

    def _forget(self, listed: Container[int]) -> None:
        """Forget items that are no candidates any more, if there are many; one that is left alone stays so."""
        now = self._clock.boot()
        if len(self._known) > KEPT:
            self._known = {n: known for n, known in self._known.items() if n in listed or now < known.until}
        if len(self._refused) > KEPT:
            self._refused = {n: state for n, state in self._refused.items() if n in listed}

    def add(self, candidate: Candidate, skip: Skip) -> None:
        """Leave it alone, but look twice more soon: the first looks may have read an older state of it."""
        looks = self._looks(candidate)
        soon = LOOK_AGAIN_SECONDS[looks] if looks < len(LOOK_AGAIN_SECONDS) else skip.seconds
        until = self._clock.boot() + min(skip.seconds, soon)
        self._known[candidate.number] = _Memory(candidate.state, until, skip.reason, skip.failed, looks + 1)

    def defer(self, candidate: Candidate, reason: str) -> None:
        """Keep the reason why it was not claimed although it may be: it stays due, and what was read was good."""
        self._known[candidate.number] = _Memory(
            candidate.state, self._clock.boot(), reason, False, self._looks(candidate)
        )

    def _looks(self, candidate: Candidate) -> int:
        memory = self._known.get(candidate.number)
        return memory.looks if memory is not None and memory.state == candidate.state else 0

    def leave(self, number: int, reason: str, seconds: float) -> None:
        """Leave an item alone for `seconds`, even if it changes."""
        self._known[number] = _Memory(None, self._clock.boot() + seconds, reason, True)

    def refuse(self, candidate: Candidate) -> bool:
        """Note that its claim was refused; return whether that is new for this state."""
        known = self._refused.get(candidate.number)
        self._refused[candidate.number] = candidate.state
        return known != candidate.state
