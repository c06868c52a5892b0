"""The nonces of an agent's locks, on disk: by them a restarted agent knows its own."""

from __future__ import annotations

import secrets

from config.state import AgentIdentity


class NonceBook:
    """The nonces of this agent's locks, remembered on disk before they are used."""

    def __init__(self, identity: AgentIdentity) -> None:
        self._identity = identity

    def fresh(self) -> str:
        """A new nonce."""
        nonce = secrets.token_hex(16)
        self._identity.remember(nonce)
        return nonce

    def mine(self, nonce: str) -> bool:
        """Whether this agent id made it."""
        return nonce in self._identity.nonces

    def forget(self, nonce: str) -> None:
        """It is finished."""
        self._identity.forget(nonce)
