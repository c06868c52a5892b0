"""A reporter of the engine's own, laid beside the report of one run, for programs that have none that serves."""

from __future__ import annotations

from pathlib import Path

from worker_agent.tdd.runners.runner import Invocation


def laid(call: Invocation, name: str, text: str) -> Path:
    """Write a file into the run's own directory, outside the checkout; where it is."""
    path = call.report.parent / name
    path.write_text(text)
    return path
