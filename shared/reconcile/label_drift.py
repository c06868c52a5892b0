"""What the stage labels of an item say beside its fence: agreement, our own lag, or a person's order (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from shared.models import LabelEvent
from shared.workflow import TRANSITIONS, UNLABELLED, Event, Role, Stage, Track
from shared.workflow.labels import Labels


class Sign(StrEnum):
    """How the stage labels of an item stand to the stage that its fence records."""

    AGREES = "agrees"
    """It is the only one."""
    LAGS = "lags"
    """It is among several, or the one before it is there: a move of ours that is not finished. To be repaired."""
    MOVED = "moved"
    """Only others are there: a person's order."""
    BARE = "bare"
    """None is there: a person took it off, or it was lost with its definition."""


ORDERS = frozenset({Sign.MOVED, Sign.BARE})
"""What ends the work on an item, unless a bare one lost its label with the label's definition."""


def sign(shown: frozenset[Stage], recorded: Stage, before: frozenset[Stage]) -> Sign:
    """What `shown` says beside the `recorded` stage; `before` are the stages that an agent moves from to it."""
    if not shown:
        return Sign.BARE
    if shown == {recorded}:
        return Sign.AGREES
    return Sign.LAGS if shown & (before | {recorded}) else Sign.MOVED


def before(
    recorded: Stage, *, tracks: Collection[Track], movers: Collection[Role], events: Collection[Event] = ()
) -> frozenset[Stage]:
    """The stages from which one of `movers`, or one of `events`, leads to `recorded` on these tracks."""
    return frozenset(
        stage
        for (track, stage, event), there in TRANSITIONS.items()
        if track in tracks and there.to is recorded and (there.by in movers or event in events)
    )


def was_taken_off(events: Sequence[LabelEvent], label: str) -> bool:
    """Whether the last that happened to a label, oldest first, was its removal, or nothing ever happened to it.

    A deleted definition takes its label off every item without an event.
    """
    newest = next((event for event in reversed(events) if event.label.casefold() == label.casefold()), None)
    return newest is None or not newest.added


def is_half_a_move(events: Sequence[LabelEvent], old: Collection[str], ours: Collection[int]) -> bool:
    """Whether the last that happened to a stage label, oldest first, was that one of `ours` took off an `old` one.

    An engine takes off the label of the stage before last, so none is left only when an earlier write of its own
    came late, or the later one never did. `events` are of stage labels alone.
    """
    if not events or events[-1].added or events[-1].actor.id not in ours:
        return False
    return events[-1].label.casefold() in {label.casefold() for label in old}


def unknown(names: Labels, labels: Iterable[str]) -> frozenset[str]:
    """The labels that look like a stage and are none; nothing is ever done about them."""
    prefix = names.status_prefix.casefold()
    known = {names.of(stage).casefold() for stage in Stage if stage not in UNLABELLED}
    return frozenset(
        name for name in labels if prefix and name.casefold().startswith(prefix) and name.casefold() not in known
    )
