"""One damage of the changed code: its kinds, and the whole damaged file with the words for people."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class DamageKind(StrEnum):
    """The kind of damage; the order is that in which kinds in the same function are preferred."""

    HUNK = "hunk"
    """One piece of the change is as before it."""
    NEGATE = "negate"
    """A condition is the other way round."""
    LIKE = "like"
    """Another value of the same type is returned, or another exception is raised."""
    NONE = "none"
    """A function does nothing and returns nothing, or the zero value of its type."""
    ASSIGN = "assign"
    """Another value is assigned."""
    DROP = "drop"
    """A statement is left out."""
    RET = "ret"
    """Another value is returned."""
    BOUND = "bound"
    """A limit or a step is off by one."""
    CONST = "const"
    """A constant has another value."""
    RAISE = "raise"
    """One function raises."""
    GONE = "gone"
    """Every changed function of one file raises."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One damaged file: `content` is all of it, `what` one line of at most 80 characters for people.

    `line` is the line in the undamaged head; `function` is qualified, and empty outside of functions. *Quiet* damage
    changes what the code does; loud damage makes it crash or lets names disappear, which any test notices.
    """

    path: str
    line: int
    kind: DamageKind
    content: bytes = field(repr=False)
    what: str
    function: str = ""
    quiet: bool = True
    direct: bool = True
    """True if it is on a line that the change touched, and not in a message for people: tried first."""
