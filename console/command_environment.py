"""The environment as the commands for people take it."""

from __future__ import annotations

from collections.abc import Mapping


def surroundings(*, calm: bool = False) -> Mapping[str, str]:
    """The environment of a command that logs to standard error, so that its answer alone is on standard output.

    On a terminal a person reads sentences: warnings are logged there, and with `calm` errors alone.
    """
    import sys

    from config.environment import snapshot
    from shared.telemetry.logging import configure

    person = sys.stderr.isatty()
    configure(
        json=not person, verbose=False, secrets=(), quiet=person, event_sink=_drop_event if person and calm else None
    )
    return snapshot()


def _drop_event(_: Mapping[str, object]) -> bool:
    """The command's own sentences say it."""
    return True
