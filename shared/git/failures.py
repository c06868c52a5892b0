"""git's error messages and its report of a push, divided by the caller's reaction to them (pure)."""

from __future__ import annotations

import re

from shared.errors import Blocked, Gone, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.process import CommandFailed, Finished


class NoSuchRef(Blocked):
    """The other repository has no such ref or commit."""


class NotAtomic(NotAllowed):
    """The git server does not offer atomic pushes, by which state, code and lock move together."""


class PushRefused(NotAllowed):
    """The git server took the push and refused it, by a rule of its own."""


class StaleLock(Transient):
    """A lock file of a git that was killed is in the way."""


class TooMuchOutput(Blocked):
    """git printed more than is kept in memory."""


NO_SPACE = re.compile(rb"^(?!remote:).*(?:No space left on device|Disk quota exceeded)", re.MULTILINE)
"""The local disk is full; the server's messages about its own disk begin with `remote:`."""

_STALE_LOCK = re.compile(r"Unable to create '.*\.lock': File exists")
_NO_SUCH_REF = re.compile(r"couldn't find remote ref|upload-pack: not our ref|no such remote ref")
_NO_GIT = re.compile(r"couldn't find remote ref HEAD$|info/refs not valid", re.MULTILINE)
"""An answer of status 200 that is not git's: HEAD is asked for because every repository has it."""
_UNAUTHORIZED = re.compile(
    r"Authentication failed|could not read (?:Username|Password)|returned error: 401|HTTP 401|Invalid username or"
)
_GONE = re.compile(
    r"Repository not found|repository '.*' not found|does not appear to be a git repo|returned error: 404"
)
_NOT_ALLOWED = re.compile(r"returned error: 403|HTTP 403|Permission to .* denied|[Ww]rite access to repository not gr")
_UNREACHABLE = re.compile(
    r"unable to access|RPC failed|hung up|early EOF|unexpected disconnect|unable to connect|"
    r"Could not resolve|Could not read from remote|timed out|Connection (?:reset|refused)|"
    r"Operation too slow|returned error: (?:429|5\d\d)|HTTP (?:429|5\d\d)|expected flush|bad line length"
)
_NOTHING_SENT = re.compile(r"unable to access|Could not resolve|unable to connect|Could not read from remote")
_LIMITED = re.compile(r"rate limit|abuse detection|returned error: 429|HTTP 429", re.IGNORECASE)


_REPORT_LINE = re.compile(r"^(?P<flag>.)\t(?P<refs>[^\t]*)\t(?P<summary>.*)$", re.MULTILINE)
_REPORT_REASON = re.compile(r"^\[[a-z ]+\] \((?P<reason>.*)\)$")
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


def local(finished: Finished) -> Exception:
    """Return the error of a command that uses no network."""
    said = _output(finished)
    if _STALE_LOCK.search(said):
        return StaleLock(_sentence(finished))
    return CommandFailed(finished)


def unwritten(error: Exception) -> CommandFailed:
    """Return the error for an object that was not written, as if a git had been asked to."""
    return CommandFailed(Finished(("git", "hash-object", "-w"), 128, b"", f"fatal: {error}\n".encode()))


def unreadable(oid: str) -> CommandFailed:
    """Return the error for an object whose content cannot be read."""
    return CommandFailed(Finished(("git", "cat-file", "-p"), 128, b"", f"fatal: {oid} cannot be read\n".encode()))


def fetching(finished: Finished) -> Exception:
    """Return the error of a fetch."""
    said = _output(finished)
    if _NO_GIT.search(said):
        return Transient(f"The git server's answer is not one of git: {_sentence(finished)}")
    if _NO_SUCH_REF.search(said):
        return NoSuchRef(_sentence(finished))
    refused = _refusal(finished, said)
    if refused is not None:
        return refused
    return Transient(_sentence(finished)) if _UNREACHABLE.search(said) else local(finished)


def pushing(finished: Finished) -> Exception:
    """Return the error of a push without a report; it says if something may have been sent, or nothing for certain."""
    said = _output(finished)
    if "does not support --atomic push" in said:
        return NotAtomic()
    refused = _refusal(finished, said)
    if refused is not None:
        return refused
    if _NOTHING_SENT.search(said) and "RPC failed" not in said:
        return Transient(_sentence(finished))
    return UnknownOutcome(_sentence(finished))


def moved(finished: Finished) -> bool:
    """Return True if every ref moved, False if a ref had another value than expected, and nothing moved.

    Raises `UnknownOutcome` if the reply was lost, `Transient` if the server failed and wrote
    nothing, `PushRefused` with the server's words if it refuses, and the error of `pushing`
    if there is no report at all.
    """
    lines = list(_REPORT_LINE.finditer(finished.stdout.decode("utf-8", "replace")))
    rejected = [line["summary"] for line in lines if line["flag"] == "!"]
    if finished.code == 0 and lines and not rejected:
        return True
    if not rejected:
        raise pushing(finished)
    output = _output(finished)
    reasons = [_reason(summary) for summary in rejected]
    if any(_NO_REPLY.search(reason) for reason in reasons):
        raise UnknownOutcome(_refusal_sentence(reasons, output))
    return _judge_refusal(reasons, output)


def _judge_refusal(reasons: list[str], output: str) -> bool:
    foreign = [reason for reason in reasons if not (_LEASE.search(reason) or _ATOMIC.search(reason))]
    if not foreign and not _NAME_TAKEN.search(output):
        return False
    if any(_SERVER_FAULT.search(reason) for reason in foreign):
        raise Transient(_refusal_sentence(reasons, output))
    raise PushRefused(_refusal_sentence(foreign or reasons, output))


def _reason(summary: str) -> str:
    found = _REPORT_REASON.match(summary)
    return found["reason"] if found else summary


def _refusal_sentence(reasons: list[str], output: str) -> str:
    remote = [line.removeprefix("remote:").strip() for line in output.splitlines() if line.startswith("remote:")]
    words = "; ".join(dict.fromkeys(reasons))
    return f"The git server refused the push: {words}. {' '.join(filter(None, remote))}".strip()[:1000]


def unauthorized(finished: Finished) -> bool:
    """Return whether the server carried out nothing because it does not accept the token."""
    return not finished.stdout and isinstance(_refusal(finished, _output(finished)), Unauthorized)


def _refusal(finished: Finished, output: str) -> Exception | None:
    if _LIMITED.search(output):
        return Transient(_sentence(finished))
    for pattern, error in ((_UNAUTHORIZED, Unauthorized), (_GONE, Gone), (_NOT_ALLOWED, NotAllowed)):
        if pattern.search(output):
            return error(_sentence(finished))
    return None


def _output(finished: Finished) -> str:
    return finished.stderr.decode("utf-8", "replace")


def _sentence(finished: Finished) -> str:
    lines = [line.strip() for line in _output(finished).splitlines() if line.strip()]
    return f"git: {' | '.join(lines[-6:])[-1000:]}"
