"""Runs whose cost nobody knows: people are told once for each backend and day."""

from __future__ import annotations

from datetime import UTC, datetime

import structlog

from shared.clock import Clock
from shared.escalation.delivery import Escalation
from shared.escalation.notifier import Sink
from shared.text import one_line

log = structlog.get_logger()

SENTENCE_CHARS = 500


class Unpriced:
    """Tells of them, by the log and by a message. It concerns no item, so no thread is told."""

    def __init__(self, sink: Sink, repository: str, page: str, clock: Clock) -> None:
        """`page` is where people see the repository."""
        self._sink = sink
        self._repository = repository
        self._page = page
        self._clock = clock
        self._told: dict[str, str] = {}

    def tell(self, backend: str, model: str, usd: float) -> None:
        """A run of `backend` has cost nobody knows what, and counts as `usd`. Days are those of UTC."""
        day = f"{datetime.fromtimestamp(self._clock.now(), UTC):%Y-%m-%d}"
        if self._told.get(backend) == day:
            return
        self._told[backend] = day
        used = f" with the model {model}" if model else ""
        sentence = one_line(
            f"Nobody knows what a run of {backend}{used} has cost: it counts ${usd:.2f}. It was cut off, or its model "
            "has no price: then name one under `prices` in the configuration.",
            SENTENCE_CHARS,
        )
        # The id is made of these, so that a restart and another machine send no second message of the day.
        one = Escalation(self._repository, 0, f"unpriced-{backend}-{day}", "unpriced", sentence, self._page)
        log.error("cost_unknown", backend=backend, model=model, counted_usd=usd, sentence=sentence, id=one.id)
        self._sink.put(one)
