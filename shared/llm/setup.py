"""What a backend may need to be built: the few configured values, the same for every backend."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shared.clock import Clock


@dataclass(frozen=True, slots=True)
class Setup:
    """`scenario` is the scripted backend's file, `used` the directory that notes its given answers."""

    clock: Clock
    scenario: Path | None = None
    used: Path | None = None
