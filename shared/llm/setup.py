"""What a backend may need to be built: the few configured values, the same for every backend."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shared.clock import Clock
from shared.llm.cli.launch import Launcher
from shared.llm.endpoint import Endpoints
from shared.llm.prices import Prices


@dataclass(frozen=True, slots=True)
class Program:
    """What a backend needs that is a command-line program; `prices` are for one that reports no cost itself."""

    path: Path
    launcher: Launcher
    endpoints: Endpoints
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """`scenario` is the scripted backend's file, `used` the directory that notes its given answers.

    `program` is what a backend runs that is a program.
    """

    clock: Clock
    scenario: Path | None = None
    used: Path | None = None
    program: Program | None = None
