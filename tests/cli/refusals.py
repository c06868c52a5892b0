"""A model server that refuses or breaks off."""

from __future__ import annotations

from typing import Any


def refused(status: int, **more: Any) -> dict[str, Any]:
    """Return a turn that is refused with a status."""
    return {"trouble": {"kind": "status", "status": status, **more}}


def broken(kind: str) -> dict[str, Any]:
    """Return a turn that fails on the wire."""
    return {"trouble": {"kind": kind}}
