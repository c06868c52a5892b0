"""The loops that are told that something has happened in a repository, by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from shared.loop.polling_loop import Loop


class WebhookHints:
    """One bell for each repository. Ringing is a hint: a loop looks at most once in a few seconds, whoever rings."""

    def __init__(self) -> None:
        self._answering: dict[str, list[Loop]] = {}

    @contextmanager
    def answered_by(self, loops: Mapping[str, Loop]) -> Iterator[None]:
        """Let these loops answer for their repositories while the block runs."""
        for name, loop in loops.items():
            self._answering.setdefault(name.casefold(), []).append(loop)
        try:
            yield
        finally:
            for name, loop in loops.items():
                self._answering[name.casefold()].remove(loop)

    def ring(self, repository: str) -> bool:
        """Let every loop of this repository look again; return whether there is one."""
        loops = self._answering.get(repository.casefold(), [])
        for loop in loops:
            loop.hear_of_news()
        return bool(loops)
