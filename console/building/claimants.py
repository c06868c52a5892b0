"""Who claims in a repository, and who acts there by hand: the accounts and keys by which its text is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.building.nonces import NonceBook
from console.building.secrecy import keys_of
from console.building.sign_in import pace_of, siblings_of
from shared.lock.claimant import Claimant, Purse, Terms
from shared.marks import Key, Keyring

if TYPE_CHECKING:
    from console.building.hub import Hub
    from console.building.process import Process


def claimant_of(process: Process, seen: Hub, purse: Purse | None = None) -> Claimant:
    """The claimant that an agent process is in one repository."""
    lock = process.settings.lock
    signing = tuple(Key.of(secret) for secret in keys_of(process))
    keys = Keyring(seen.repository.id, signing, outgoing=process.outgoing)
    terms = Terms(lock.timeout, lock.self_fence, lock.heartbeat, lock.settle)
    siblings = siblings_of(process, seen.account)
    accounts = siblings | {seen.account.id}
    pacing = pace_of(process).pacing

    def delay() -> float:
        return pacing.delay(process.clock.boot())

    return Claimant(process.agent.id, accounts, keys, NonceBook(process.agent), terms, purse, siblings, delay)
