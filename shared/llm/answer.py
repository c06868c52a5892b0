"""One entry of a scenario as a value: the requests that it is for, and its effect."""

from __future__ import annotations

from dataclasses import dataclass

from shared.llm.port import CoderCall, Ending, Request

ANY = "any"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file: its new `content`, or to `replace` (old, new); with neither it is deleted."""

    path: str
    where: str
    content: str | None = None
    replace: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One entry; a counter of None stands for `any`. `answer` is JSON text, `where` the entry's place in the file.

    `fails` is the ending of the first `times` calls, or of all calls if `times` is None.
    """

    call: CoderCall
    where: str
    part: str = ""
    attempt: int | None = 1
    round: int | None = 0
    retry: int | None = 0
    takes_seconds: float = 0.0
    edits: tuple[Edit, ...] = ()
    answer: str | None = None
    text: str = ""
    fails: Ending | None = None
    times: int | None = None

    def matches(self, request: Request) -> bool:
        """Return whether this entry is for `request`."""
        return (
            self.call is request.call
            and self.part.casefold() in request.title.casefold()
            and self.attempt in {None, request.attempt}
            and self.round in {None, request.round}
            and self.retry in {None, request.retry}
        )

    @property
    def precision(self) -> tuple[bool, int]:
        """Sort key for how narrowly the entry matches; the narrowest entry answers."""
        return bool(self.part), sum(counter is not None for counter in (self.attempt, self.round, self.retry))

    @property
    def subject(self) -> tuple[object, ...]:
        """Key of the calls that the entry is for: two entries with equal keys are for the same calls."""
        return self.call, self.part.casefold(), self.attempt, self.round, self.retry

    def __str__(self) -> str:
        counters = {"attempt": self.attempt, "round": self.round, "retry": self.retry}
        shown = ", ".join(f"{name} {ANY if value is None else value}" for name, value in counters.items())
        return f"{self.where}: {self.call}{f' for {self.part!r}' if self.part else ''} ({shown})"
