"""The code under test as one value: the production functions, or a copy of them with one bug planted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MODULES = (
    "trailer", "comment", "codec", "record", "fold", "port", "breaker", "claimant", "conclude", "view", "edit", "swap",
    "hold", "fence", "announce", "claim", "ends", "gateway",
)  # fmt: skip
"""The modules of the lock that a simulation drives; `scope` only ties `hold.keep` to a task group of anyio."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What agents use of the lock."""

    observe: Callable[..., Any]
    claim: Callable[..., Any]
    begin: Callable[..., Any]
    check: Callable[..., Any]
    keep: Callable[..., Any]
    release: Callable[..., Any]
    advance: Callable[..., Any]
    bury: Callable[..., Any]
    is_mine: Callable[..., Any]
    Gateway: Callable[..., Any]
    Claimant: Callable[..., Any]
    Terms: Callable[..., Any]
    Intent: Callable[..., Any]
    ItemKey: Callable[..., Any]


def of_package(package: str) -> Protocol:
    """The lock as it stands in `package`, an importable package like `shared.lock`."""
    m = {name: importlib.import_module(f"{package}.{name}") for name in MODULES}
    return Protocol(
        observe=m["view"].observe,
        claim=m["claim"].claim,
        begin=m["hold"].begin,
        check=m["hold"].check,
        keep=m["hold"].keep,
        release=m["hold"].release,
        advance=m["fence"].advance,
        bury=m["fence"].bury,
        is_mine=m["claimant"].is_mine,
        Gateway=m["gateway"].Gateway,
        Claimant=m["claimant"].Claimant,
        Terms=m["claimant"].Terms,
        Intent=m["claim"].Intent,
        ItemKey=m["codec"].ItemKey,
    )


PRODUCTION = of_package("shared.lock")
"""What the agents run."""
