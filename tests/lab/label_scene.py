"""A person's labels."""

from __future__ import annotations

from shared.lock.write_permit import OperatorPermit

PERSON = OperatorPermit("test")


def labels(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]
