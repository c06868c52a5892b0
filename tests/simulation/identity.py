"""The fixed parts of an agent: its state directory, and the needs of a schedule's work."""

from __future__ import annotations

from dataclasses import dataclass

from shared.models import Account
from shared.text.comment_signatures import Key, Keyring

OLD, NEW = Key.of(b"the first key of this repository"), Key.of(b"the second one")
"""Agents that have the new one sign by it and know both; the others know the old one alone."""


class Nonces:
    """The nonces of one state directory: they survive a crash."""

    def __init__(self, serial: int) -> None:
        self._serial = serial
        self._made = 0
        self.kept: set[str] = set()

    def copy(self, serial: int) -> Nonces:
        """Copy the present nonces for a second agent; the nonces that each makes from now on differ."""
        other = Nonces(serial)
        other.kept = set(self.kept)
        return other

    def fresh(self) -> str:
        """A new nonce."""
        self._made += 1
        nonce = f"{self._serial:08x}{self._made:024x}"
        self.kept.add(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Return whether it is one of these."""
        return nonce in self.kept

    def forget(self, nonce: str) -> None:
        """Forget a finished one."""
        self.kept.discard(nonce)


@dataclass(slots=True)
class Identity:
    """A state directory: the agent's id, its nonces and its keys; and the account of its token.

    `first_format`: its engine is of the version in which every claim had a comment of its own.
    """

    name: str
    nonces: Nonces
    keys: Keyring
    account: Account
    first_format: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Needs of one schedule's work: seconds of the paid runs, CI, review; and the mode."""

    red: float
    green: float
    fix: float
    ci: float
    ci_breaks: bool
    review: float
    parks: bool = False
    """True if the agent releases after each phase."""
    deletes_branch: bool = False
    """True if a merge deletes the work branch."""
    log_characters: int = 0
    """Characters of a text that is told among the details."""
    labels_decide: bool = False
    """A planted bug: what the labels say is believed before the fence."""

    @property
    def seconds(self) -> float:
        """Seconds of the work when nothing goes wrong."""
        return self.red + self.green + self.ci + (self.fix + self.ci if self.ci_breaks else 0) + self.review
