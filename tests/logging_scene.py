"""A test that configures the log of its process, and leaves it to the next one as it was."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logging_as_before() -> Iterator[None]:
    """Put the handlers, the level and structlog's defaults back at the end."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        structlog.contextvars.clear_contextvars()
        structlog.reset_defaults()
