"""What a pull request claims, for machines: one hidden, signed line at the end of its body (pure).

It is data to be checked, never believed: `workflow-engine verify` runs everything again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache

from pydantic import TypeAdapter, ValidationError

from shared import marks
from shared.errors import Blocked
from shared.git import names
from shared.git.notes import Baseline
from shared.marks import Authenticity, Keyring
from worker_agent.tdd.runners.report import TestId

VERSION = 1

LIMIT = 16_000
"""Characters of the whole line; tests that do not fit are only counted, and named by their digest."""

_NAME, _PURPOSE = "engine-claim", "claim"
_LINE = re.compile(rf"^<!-- {_NAME}/[0-9]+ .* -->[ \t]*$", re.MULTILINE)
_UNSAFE = re.compile(r"[<>@#& ]")
"""What would end the line, or be read by GitHub; in JSON each has a spelling that is not."""


class NoClaim(Blocked):
    """The pull request has no line `<!-- engine-claim/... -->`, or one that cannot be read: it claims nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Of these `count` tests, not passing on `base`, each passes at `head`.

    `tests` maps a test to how it was on the base (`failed`, `not collected`, empty when its red run
    was on another commit); `ids_sha` is the digest of all their ids. `red_exit` and `green_exit`
    are exit codes of the test command, `result` counts the tests at `head`.
    """

    issue: int
    base: str
    head: str
    count: int = 0
    ids_sha: str = ""
    tests: Mapping[TestId, str] = field(default_factory=dict)
    baseline: Baseline | None = None
    result: str = ""
    red_exit: int | None = None
    green_exit: int | None = None
    attempts: int = 0
    cost_usd: float | None = None
    v: int = VERSION


@cache
def _reader() -> TypeAdapter[Claim]:
    return TypeAdapter(Claim)


def digest(tests: Iterable[TestId]) -> str:
    """SHA-256 (hex) of the sorted ids."""
    return hashlib.sha256("\n".join(sorted(tests)).encode("utf-8", "surrogateescape")).hexdigest()


def write(claim: Claim, keys: Keyring) -> str:
    """The line; at most `LIMIT` characters, whatever the tests are called."""
    left = LIMIT - len(_line(_content(claim, {}), keys))
    kept: dict[TestId, str] = {}
    for test, red in claim.tests.items():
        left -= len(_spelled({test: red}))
        if left < 0:
            break
        kept[test] = red
    return _line(_content(claim, kept), keys)


def read(body: str, keys: Keyring) -> tuple[Claim, Authenticity]:
    """The claim of a pull request's body, and whether it is signed by our keys; raises `NoClaim`."""
    lines = _LINE.findall(body.replace("\r\n", "\n"))
    mark = marks.find(lines[-1]) if lines else None
    if mark is None or mark.name != _NAME:
        raise NoClaim
    try:
        claim = _reader().validate_json(mark.fields.get("data", ""), strict=True)
        names.oid(claim.base)
        names.oid(claim.head)
    except (ValidationError, ValueError, RecursionError):
        raise NoClaim from None
    if claim.v != VERSION:
        raise NoClaim(f"The claim is of version {claim.v}; this engine reads version {VERSION}.")
    return claim, keys.verify(_PURPOSE, claim.issue, lines[-1])


def _content(claim: Claim, tests: Mapping[TestId, str]) -> dict[str, object]:
    return asdict(claim) | {"tests": dict(tests)}


def _line(content: Mapping[str, object], keys: Keyring) -> str:
    issue = content["issue"]
    line = marks.render(_NAME, {"data": _spelled(content)}, version=VERSION)
    return keys.sign(_PURPOSE, issue if isinstance(issue, int) else 0, line)


def _spelled(content: Mapping[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
