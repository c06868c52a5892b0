"""The report of `git push --atomic --porcelain`: all moved, a lease was refused, or an error (pure)."""

from __future__ import annotations

import re

from shared.errors import NotAllowed, Transient, UnknownOutcome
from shared.git import failures
from shared.process import Finished


class PushRefused(NotAllowed):
    """The git server took the push and refused it, by a rule of its own."""


_LINE = re.compile(r"^(?P<flag>.)\t(?P<refs>[^\t]*)\t(?P<summary>.*)$", re.MULTILINE)
_REASON = re.compile(r"^\[[a-z ]+\] \((?P<reason>.*)\)$")
_NAME_TAKEN = re.compile(r"'refs/[^']*' exists; cannot create '[^']*'")

_LEASE = re.compile(
    r"stale info|fetch first|non-fast-forward|already exists|failed to update ref|cannot lock ref|"
    r"incorrect old value provided|is at [0-9a-f]+ but expected|reference already exists"
)
"""Reasons that mean: a ref did not have the expected value."""

_ATOMIC = re.compile(r"atomic (?:push|transaction) (?:failed|failure)|transaction failed")
"""git's reason for good refs when another one was not; alone it is a lost race."""

_NO_REPLY = re.compile(r"remote failed to report status|unexpected disconnect|hung up")
_SERVER_FAULT = re.compile(r"unpacker error|internal|timed? ?out|unavailable|missing necessary objects", re.IGNORECASE)


def moved(finished: Finished) -> bool:
    """Return True if every ref moved, False if a ref had another value than expected, and nothing moved.

    Raises `UnknownOutcome` if the reply was lost, `Transient` if the server failed and wrote
    nothing, `PushRefused` with the server's words if it refuses, and the error of `failures.pushing`
    if there is no report at all.
    """
    lines = list(_LINE.finditer(finished.stdout.decode("utf-8", "replace")))
    rejected = [line["summary"] for line in lines if line["flag"] == "!"]
    if finished.code == 0 and lines and not rejected:
        return True
    if not rejected:
        raise failures.pushing(finished)
    output = finished.stderr.decode("utf-8", "replace")
    reasons = [_reason(summary) for summary in rejected]
    if any(_NO_REPLY.search(reason) for reason in reasons):
        raise UnknownOutcome(_sentence(reasons, output))
    return _judge_refusal(reasons, output)


def _judge_refusal(reasons: list[str], output: str) -> bool:
    foreign = [reason for reason in reasons if not (_LEASE.search(reason) or _ATOMIC.search(reason))]
    if not foreign and not _NAME_TAKEN.search(output):
        return False
    if any(_SERVER_FAULT.search(reason) for reason in foreign):
        raise Transient(_sentence(reasons, output))
    raise PushRefused(_sentence(foreign or reasons, output))


def _reason(summary: str) -> str:
    found = _REASON.match(summary)
    return found["reason"] if found else summary


def _sentence(reasons: list[str], output: str) -> str:
    remote = [line.removeprefix("remote:").strip() for line in output.splitlines() if line.startswith("remote:")]
    words = "; ".join(dict.fromkeys(reasons))
    return f"The git server refused the push: {words}. {' '.join(filter(None, remote))}".strip()[:1000]
