"""The loops that are told that something has happened in a repository, by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from shared.loop.polling_loop import Loop


class WebhookHints:
    """One bell for each repository. Ringing is a hint: a loop looks at most once in a few seconds, whoever rings."""

    def __init__(self) -> None:
        self._answering: dict[str, list[Loop]] = {}

    @contextmanager
    def answered_by(self, repository: str, loop: Loop) -> Iterator[None]:
        """Let this loop answer for a repository while the block runs."""
        loops = self._answering.setdefault(repository.casefold(), [])
        loops.append(loop)
        try:
            yield
        finally:
            loops.remove(loop)

    def ring(self, repository: str) -> bool:
        """Let every loop of this repository look again; return whether there is one."""
        loops = self._answering.get(repository.casefold(), [])
        for loop in loops:
            loop.hear_of_news()
        return bool(loops)
