"""The claim of a proof: the hidden, signed line at the end of a pull request's body, read back (pure).

It is data to be checked, never believed: `workflow-engine verify` runs everything again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from pydantic import TypeAdapter, ValidationError

from shared.errors import Blocked
from shared.git import names
from shared.git.notes import Baseline
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring

VERSION = 2
"""The version that is written; version 1 has no `proof`, and both are read."""

NAME, PURPOSE = "engine-claim", "claim"
"""The marker's name, and the purpose of its MAC."""

_LINE = re.compile(rf"^<!-- {NAME}/[0-9]+ .* -->[ \t]*$", re.MULTILINE)


class NoClaim(Blocked):
    """The pull request has no line `<!-- engine-claim/... -->`, or one that cannot be read: it claims nothing."""


@dataclass(frozen=True, slots=True)
class ClaimedProof:
    """The trials of the new tests, and the fate of old ones: `unnoticed` is a count.

    A list that was cut ends with an entry `... and 3 more`.
    """

    damages: int = 0
    noticed: int = 0
    unnoticed: int = 0
    changed_tests: tuple[str, ...] = ()
    removed_tests: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that of these `count` tests, not passing on `base`, each passes at `head`.

    `tests` maps a test to its outcome on the base (`failed`, `not collected`, empty if its red run
    was on another commit); `ids_sha` is the digest of all their ids. `red_exit` and `green_exit`
    are exit codes of the test command, `result` counts the tests at `head`. `proof` is None in version 1. `criteria`
    are the ids of the acceptance criteria that one of these tests stands for.
    """

    issue: int
    base: str
    head: str
    count: int = 0
    ids_sha: str = ""
    tests: Mapping[str, str] = field(default_factory=dict)
    baseline: Baseline | None = None
    result: str = ""
    red_exit: int | None = None
    green_exit: int | None = None
    attempts: int = 0
    cost_usd: float | None = None
    proof: ClaimedProof | None = None
    criteria: tuple[str, ...] = ()
    v: int = VERSION


@cache
def _reader() -> TypeAdapter[Claim]:
    return TypeAdapter(Claim)


def digest(tests: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of the sorted ids."""
    return hashlib.sha256("\n".join(sorted(tests)).encode("utf-8", "surrogateescape")).hexdigest()


def read(body: str, keys: Keyring) -> tuple[Claim, CommentSignatures]:
    """Return the claim of a pull request's body, and whether it is signed by our keys; raises `NoClaim`."""
    lines = _LINE.findall(body.replace("\r\n", "\n"))
    mark = comment_signatures.find(lines[-1]) if lines else None
    if mark is None or mark.name != NAME:
        raise NoClaim
    try:
        claim = _reader().validate_json(mark.fields.get("data", ""), strict=True)
        names.oid(claim.base)
        names.oid(claim.head)
    except (ValidationError, ValueError, RecursionError):
        raise NoClaim from None
    if not 1 <= claim.v <= VERSION:
        raise NoClaim(f"The claim is of version {claim.v}; this engine reads versions 1 to {VERSION}.")
    return claim, keys.verify(PURPOSE, claim.issue, lines[-1])


def is_there(body: str) -> bool:
    """Return whether a body has such a line at all, readable or not."""
    return _LINE.search(body.replace("\r\n", "\n")) is not None


def without(body: str) -> str:
    """Return a body without any such line."""
    return _LINE.sub("", body.replace("\r\n", "\n"))
