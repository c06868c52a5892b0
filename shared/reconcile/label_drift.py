"""Comparison of an item's stage labels with its fence: agreement, our own lag, or a person's order (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from shared.models import LabelEvent
from shared.workflow import TRANSITIONS, UNLABELLED, Event, Role, Stage, Track
from shared.workflow.labels import Labels, folded


class Sign(StrEnum):
    """Relation of an item's stage labels to the stage that its fence records."""

    AGREES = "agrees"
    """The recorded stage is the only one shown."""
    LAGS = "lags"
    """The recorded stage is among several, or the one before it is shown: an unfinished move of ours, to repair."""
    MOVED = "moved"
    """Only other stages are shown: a person's order."""
    BARE = "bare"
    """No stage is shown: a person took the label off, or it was lost with its definition."""


def sign(shown: frozenset[Stage], recorded: Stage, before: frozenset[Stage]) -> Sign:
    """Compare the stages `shown` with the `recorded` one; `before` are the stages from which an agent moves to it."""
    if not shown:
        return Sign.BARE
    if shown == {recorded}:
        return Sign.AGREES
    return Sign.LAGS if shown & (before | {recorded}) else Sign.MOVED


def ordered_to_stop(shown: frozenset[Stage], recorded: Stage, before: frozenset[Stage]) -> bool:
    """Return whether stage labels are a person's order that ends the work on an item, and not a lag of our own.

    A bare item may have lost its label with the label's definition.
    """
    return sign(shown, recorded, before) in {Sign.MOVED, Sign.BARE}


def before(
    recorded: Stage, *, tracks: Collection[Track], movers: Collection[Role], events: Collection[Event] = ()
) -> frozenset[Stage]:
    """Return the stages from which one of `movers`, or one of `events`, leads to `recorded` on these tracks."""
    return frozenset(
        stage
        for (track, stage, event), there in TRANSITIONS.items()
        if track in tracks and there.to is recorded and (there.by in movers or event in events)
    )


def was_taken_off(events: Sequence[LabelEvent], label: str) -> bool:
    """Return whether the last event of a label, oldest first, is its removal, or it has no event at all.

    A deleted definition takes its label off every item without an event.
    """
    newest = newest_event(events, label)
    return newest is None or not newest.added


def newest_event(events: Sequence[LabelEvent], label: str) -> LabelEvent | None:
    """Return the last event of a label among `events`, oldest first."""
    return next((event for event in reversed(events) if event.label.casefold() == label.casefold()), None)


def is_half_a_move(events: Sequence[LabelEvent], old: Collection[str], ours: Collection[int]) -> bool:
    """Return whether the last event of a stage label, oldest first, is the removal of an `old` one by one of `ours`.

    The engine takes off the label of the stage before last, so none is left only if an earlier write of its own
    came late, or the later one never did. `events` are of stage labels alone.
    """
    if not events or events[-1].added or events[-1].actor.id not in ours:
        return False
    return events[-1].label.casefold() in folded(old)


def unknown(names: Labels, labels: Iterable[str]) -> frozenset[str]:
    """Return the labels that look like a stage and are none; nothing is ever done about them."""
    prefix = names.status_prefix.casefold()
    known = {names.of(stage).casefold() for stage in Stage if stage not in UNLABELLED}
    return frozenset(
        name for name in labels if prefix and name.casefold().startswith(prefix) and name.casefold() not in known
    )
