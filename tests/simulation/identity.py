"""What an agent is before it runs: its state directory, and what the work of a schedule needs."""

from __future__ import annotations

from dataclasses import dataclass

from shared.marks import Keyring


class Nonces:
    """The nonces of one state directory: they survive a crash."""

    def __init__(self, serial: int) -> None:
        self._serial = serial
        self._made = 0
        self.kept: set[str] = set()

    def fresh(self) -> str:
        """A new nonce."""
        self._made += 1
        nonce = f"{self._serial:08x}{self._made:024x}"
        self.kept.add(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Whether it is one of these."""
        return nonce in self.kept

    def forget(self, nonce: str) -> None:
        """It is finished."""
        self.kept.discard(nonce)


@dataclass(slots=True)
class Identity:
    """A state directory: the agent's id, its nonces and its keys."""

    name: str
    nonces: Nonces
    keys: Keyring


@dataclass(frozen=True, slots=True)
class Plan:
    """What the work of one schedule needs: seconds of the paid runs, CI, review; and the mode."""

    red: float
    green: float
    fix: float
    ci: float
    ci_breaks: bool
    review: float
    labels_decide: bool = False
    """A planted bug: what the labels say is believed before the fence."""

    @property
    def seconds(self) -> float:
        """How long the work takes when nothing goes wrong."""
        return self.red + self.green + self.ci + (self.fix + self.ci if self.ci_breaks else 0) + self.review
