"""The code under test as one value: the production functions, or a copy of them with one bug planted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any


@dataclass(frozen=True, slots=True)
class Protocol:
    """The parts of the lock that agents use."""

    observe: Callable[..., Any]
    claim: Callable[..., Any]
    begin: Callable[..., Any]
    check: Callable[..., Any]
    beat_until_lost: Callable[..., Any]
    release: Callable[..., Any]
    advance: Callable[..., Any]
    FenceChange: Callable[..., Any]
    end_resting_fence: Callable[..., Any]
    end_item: Callable[..., Any] | None
    end_unheld_fence: Callable[..., Any]
    tell_ends: Callable[..., Any] | None
    Board: Callable[..., Any]
    read_fence: Callable[..., Any]
    mine: Callable[..., str]
    other_holder: Callable[..., str]
    was_free: Callable[..., bool]
    Gateway: Callable[..., Any]
    Claimant: Callable[..., Any]
    LockTimes: Callable[..., Any]
    Intent: Callable[..., Any]
    ItemKey: Callable[..., Any]


def of_package(
    package: str, finish: str = "shared.reconcile.tombstones", board: str = "shared.github.status"
) -> Protocol:
    """Return the lock of `package`, an importable package like `shared.lock`.

    `finish` ends fences for it, and by way of `board` agents write into its comment.
    """
    names = ("ended_epochs", "view", "claim", "hold", "fence_moves", "claimant", "gateway", "codec", "fence")
    m = {name: importlib.import_module(f"{package}.{name}") for name in names}
    own = {
        "end_item": m["fence_moves"].end_item,
        "tell_ends": m["ended_epochs"].tell_ends,
        "Board": importlib.import_module(board).StatusBoard,
        "advance": m["fence_moves"].advance,
        "FenceChange": m["fence"].FenceChange,
        "mine": _mine,
        "other_holder": _other_holder,
        "was_free": _was_free,
    }
    return _of_modules(m, importlib.import_module(finish), **own)


def _first_format() -> Protocol:
    """Return the lock of the first format, whose looks have other names, and which leaves its comments as they are."""
    package = f"{__package__}.first_format"
    names = ("view", "claim", "hold", "fence", "claimant", "gateway", "codec", "record", "burial", "status")
    m = {name: importlib.import_module(f"{package}.{name}") for name in names}
    m |= {"fence_moves": m["fence"], "fence": m["record"]}
    own = {
        "end_item": None,
        "tell_ends": None,
        "Board": m["status"].StatusBoard,
        "advance": partial(_advance_of_first_format, m["fence_moves"].advance),
        "FenceChange": dict,
        "mine": partial(_mine_of_first_format, m["claimant"].is_mine),
        "other_holder": _other_holder_of_first_format,
        "was_free": _was_free_of_first_format,
    }
    return _of_modules(m, m["burial"], **own)


def _of_modules(m: dict[str, ModuleType], burial: ModuleType, **own: Any) -> Protocol:
    return Protocol(
        observe=m["view"].observe,
        claim=m["claim"].claim,
        begin=m["hold"].begin,
        check=m["hold"].check,
        beat_until_lost=m["hold"].beat_until_lost,
        release=m["hold"].release,
        end_resting_fence=m["fence_moves"].end_resting_fence,
        end_unheld_fence=burial.end_unheld_fence,
        Gateway=m["gateway"].Gateway,
        Claimant=m["claimant"].Claimant,
        LockTimes=m["claimant"].LockTimes,
        Intent=m["claim"].Intent,
        ItemKey=m["codec"].ItemKey,
        read_fence=m["fence"].read_fence,
        **own,
    )


async def _advance_of_first_format(
    advance: Callable[..., Any], held: Any, change: dict[str, Any], *, updates: Any = ()
) -> Any:
    return await advance(held, updates=updates, **change)


def _mine(view: Any, claimant: Any) -> str:
    """Return the nonce of the lock that this agent holds already by a look; empty for none."""
    return view.fence.nonce if view.standing == "ours" and view.fence is not None else ""


def _mine_of_first_format(is_mine: Callable[..., bool], view: Any, claimant: Any) -> str:
    return next((ack.nonce for ack in reversed(view.active()) if is_mine(ack, claimant)), "")


def _other_holder(view: Any, claimant: Any) -> str:
    """Return the name of another agent that holds the lock by a look; empty for none."""
    return str(view.other_holder)


def _other_holder_of_first_format(view: Any, claimant: Any) -> str:
    return str(view.taken_by(claimant))


def _was_free(view: Any) -> bool:
    """Return whether a look showed that its holder had released it."""
    return bool(view.standing == "free")


def _was_free_of_first_format(view: Any) -> bool:
    return view.holder is not None and view.holder.state != "active"


PRODUCTION = of_package("shared.lock")
"""The lock that the agents run."""

FIRST_FORMAT = _first_format()
"""The lock of the version in which every claim had a comment of its own."""
