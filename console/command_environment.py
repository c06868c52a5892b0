"""The environment as the commands for people take it."""

from __future__ import annotations

from collections.abc import Mapping


def surroundings() -> Mapping[str, str]:
    """The environment of a command that logs to standard error, so that its answer alone is on standard output."""
    import sys

    from config.environment import snapshot
    from shared.telemetry.logging import configure

    configure(json=not sys.stderr.isatty(), verbose=False, secrets=())
    return snapshot()
