"""What recovery needs of the world; the adapters in `shared` satisfy these without importing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from shared.labels import Flag
from shared.lock.write_permit import OperatorPermit
from shared.models import PullRequest
from shared.workflow import Stage


class LabelBoard(Protocol):
    """Stage labels and flags."""

    async def show(
        self,
        number: int,
        stage: Stage,
        permit: OperatorPermit,
        *,
        known: frozenset[str] | None = None,
        flags_on: Collection[Flag] = (),
        flags_off: Collection[Flag] = (),
    ) -> frozenset[str]: ...

    async def add(self, number: int, names: Collection[str], permit: OperatorPermit) -> frozenset[str]: ...

    async def remove(self, number: int, name: str, permit: OperatorPermit) -> None: ...


class Pulls(Protocol):
    """Pull requests."""

    async def close(self, number: int, permit: OperatorPermit) -> PullRequest: ...


class Branches(Protocol):
    """The server's branches, brought here."""

    async def refresh(self, ref: str) -> str | None: ...

    async def refresh_all(self, prefix: str) -> Mapping[str, tuple[str, str]]: ...
