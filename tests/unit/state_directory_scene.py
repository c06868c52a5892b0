"""Nonces of two agents."""

from __future__ import annotations

NONCE, OTHER = "a" * 32, "b" * 32
