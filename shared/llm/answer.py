"""One entry of a scenario as a value: which requests it is meant for, and what it does."""

from __future__ import annotations

from dataclasses import dataclass

from shared.llm.port import Call, Ending, Request

ANY = "any"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file; exactly one of `content`, `replace` (old, new) and `delete` is set."""

    path: str
    where: str
    content: str | None = None
    replace: tuple[str, str] | None = None
    delete: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """One entry; a counter of None stands for `any`. `answer` is JSON text, `where` its place in the file."""

    call: Call
    where: str
    part: str = ""
    attempt: int | None = 1
    round: int | None = 0
    retry: int | None = 0
    times: int = 1
    takes_seconds: float = 0.0
    edits: tuple[Edit, ...] = ()
    answer: str | None = None
    text: str = ""
    fails: Ending | None = None

    def matches(self, request: Request) -> bool:
        """Whether this entry is meant for `request`."""
        return (
            self.call is request.call
            and self.part.casefold() in request.title.casefold()
            and self.attempt in {None, request.attempt}
            and self.round in {None, request.round}
            and (self.retry is None or self.retry <= request.retry < self.retry + self.times)
        )

    @property
    def precision(self) -> tuple[bool, int]:
        """How narrowly it is meant; the narrowest entry answers."""
        return bool(self.part), sum(counter is not None for counter in (self.attempt, self.round, self.retry))

    def rivals(self, other: Answer) -> bool:
        """Whether some request would fit both equally well, whatever its title."""
        if self.precision != other.precision or self._subject != other._subject:
            return False
        if self.retry is None or other.retry is None:
            return True
        return self.retry < other.retry + other.times and other.retry < self.retry + self.times

    @property
    def _subject(self) -> tuple[object, ...]:
        return self.call, self.part.casefold(), self.attempt, self.round

    def __str__(self) -> str:
        counters = {"attempt": self.attempt, "round": self.round, "retry": self.retry}
        shown = ", ".join(f"{name} {ANY if value is None else value}" for name, value in counters.items())
        return f"{self.where}: {self.call}{f' for {self.part!r}' if self.part else ''} ({shown})"
