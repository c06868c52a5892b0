"""The nonces of an agent's locks, on disk: by them a restarted agent knows its own."""

from __future__ import annotations

import secrets

from config.state import AgentIdentity


class NonceBook:
    """The nonces of this agent's locks, remembered on disk before they are used."""

    def __init__(self, identity: AgentIdentity) -> None:
        self._identity = identity

    def fresh(self) -> str:
        """Return a new nonce, which is remembered before."""
        nonce = secrets.token_hex(16)
        self._identity.remember(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Return whether this agent id made the nonce."""
        return nonce in self._identity.nonces

    def forget(self, nonce: str) -> None:
        """Forget the nonce of a lock that is finished."""
        self._identity.forget(nonce)
