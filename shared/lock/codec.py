"""The texts of the lock: ACK comments and fence commit messages, read and written (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from shared.marks import Authenticity, Keyring
from shared.models import Comment
from shared.workflow import AGENTS, Role, Stage

FENCE_NAMESPACE = "refs/ack"
"""Where fences live unless the server refuses custom namespaces (then `refs/heads/ack`)."""

OPAQUE_SECONDS = 7200
"""The longest timeout that is believed of an ACK whose MAC cannot be checked."""

_UNWRITTEN = datetime(1970, 1, 1, tzinfo=UTC)
# Digits are ASCII and bounded: a comment can hold more of them than `int` and `timedelta` take.
_FIRST_LINE = re.compile(r"ACK:(planner|worker|reviewer):([a-z0-9-]{1,64}):([0-9]{13})")
_TRAILER = re.compile(
    r"<!-- ack/2 prev=([0-9]{1,19}) nonce=([0-9a-f]{32}) state=(active|released|done) "
    r"hb=([0-9]{1,9}) ttl=([0-9]{1,8}) mac=\S* -->"
)
_LEGACY = f"<!-- ack/2 prev=0 nonce={'0' * 32} state=active hb=0 ttl=1800 mac= -->"
"""What an ACK of the first format, its first line alone, stood for: no predecessor, never renewed."""


@dataclass(frozen=True, slots=True)
class ItemKey:
    """What is locked: an issue or pull request number, for one kind of agent."""

    kind: Role
    number: int

    def __post_init__(self) -> None:
        if self.kind not in AGENTS:
            raise ValueError(f"'{self.kind}' is not an agent")

    @property
    def ref(self) -> str:
        """The fence's ref, for example `refs/ack/worker/42`."""
        return f"{FENCE_NAMESPACE}/{self.kind}/{self.number}"


class AckState(StrEnum):
    """What the writer of an ACK says of it."""

    ACTIVE = "active"
    RELEASED = "released"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ack:
    """One ACK. `id`, `updated_at` come from the server; `opaque`: it cannot be checked (unknown key, first format)."""

    key: ItemKey
    agent: str
    millis: int
    prev: int
    nonce: str
    ttl_seconds: int
    state: AckState = AckState.ACTIVE
    heartbeat: int = 0
    id: int = 0
    updated_at: datetime = _UNWRITTEN
    opaque: bool = False

    def live(self, at: datetime) -> bool:
        """Whether it still holds at server time `at`."""
        return self.state is AckState.ACTIVE and at - self.updated_at < timedelta(seconds=self.ttl_seconds)


def write_ack(ack: Ack, keys: Keyring) -> str:
    """The comment body of an ACK; raises `ValueError` for one that nobody could read back."""
    trailer = (
        f"<!-- ack/2 prev={ack.prev} nonce={ack.nonce} state={ack.state} "
        f"hb={ack.heartbeat} ttl={ack.ttl_seconds} mac= -->"
    )
    first = f"ACK:{ack.key.kind}:{ack.agent}:{ack.millis:013d}"
    if not _FIRST_LINE.fullmatch(first) or not _TRAILER.fullmatch(trailer):
        raise ValueError(f"no ACK can be written as {first!r}, {trailer!r}")
    says = _FIRST_SAYS if ack.state is AckState.ACTIVE and ack.heartbeat == 0 else _SAYS[ack.state]
    return keys.sign(_purpose(ack.key.kind), ack.key.number, f"{first}\n{trailer}\n{ack.agent} {says}")


_FIRST_SAYS = "takes this up, unless another agent was first. Editing or deleting this comment stops it."
"""What an ACK tells before its first heartbeat: whoever loses the race leaves it standing like this."""

_SAYS = {
    AckState.ACTIVE: "is working on this. Editing or deleting this comment stops it.",
    AckState.RELEASED: "has let go of this.",
    AckState.DONE: "has finished.",
}
"""What an ACK tells people, after the agent's name."""


def _purpose(kind: str) -> str:
    return f"ack:{kind}"


def trusted(comment: Comment, accounts: Collection[int], keys: Keyring) -> Ack | None:
    """The ACK that `comment` is, or None when it does not exist for the protocol.

    It must be written by one of our account ids, be an ACK by its first two whole lines, and carry a valid MAC. Two
    are `opaque`, live holders until their timeout (at most `OPAQUE_SECONDS`) because another engine may be at work: a
    MAC of an unknown key, and the first format, one line alone, which no other text of ours ever is.
    """
    ack = read_ack(comment) if comment.author.id in accounts else None
    if ack is None or ack.opaque:
        return ack
    verdict = keys.verify(_purpose(ack.key.kind), comment.number, comment.body)
    if verdict is Authenticity.UNKNOWN_KEY:
        return replace(ack, opaque=True, ttl_seconds=min(ack.ttl_seconds, OPAQUE_SECONDS))
    return ack if verdict is Authenticity.VALID else None


def read_ack(comment: Comment) -> Ack | None:
    """The ACK that a body spells, whoever wrote it; None when it spells none."""
    head, _, rest = comment.body.replace("\r\n", "\n").partition("\n")
    legacy, second = not rest.strip(), rest.partition("\n")[0].rstrip()
    first, trailer = _FIRST_LINE.fullmatch(head.rstrip()), _TRAILER.fullmatch(_LEGACY if legacy else second)
    if first is None or trailer is None:
        return None
    return Ack(
        key=ItemKey(Role(first[1]), comment.number),
        agent=first[2],
        millis=int(first[3]),
        prev=int(trailer[1]),
        nonce=trailer[2],
        state=AckState(trailer[3]),
        heartbeat=int(trailer[4]),
        ttl_seconds=int(trailer[5]),
        id=comment.id,
        updated_at=comment.created_at if legacy else comment.updated_at,
        opaque=legacy,
    )


@dataclass(frozen=True, slots=True)
class Wait:
    """Why an item rests, and until which server time at the latest it is looked at again."""

    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Fence:
    """One epoch's state. `oid` is its commit; `runs` were begun, `failures` met since something was last achieved."""

    key: ItemKey
    ack_id: int
    nonce: str
    agent: str
    stage: Stage
    at: datetime
    phase: str = ""
    base: str = ""
    work_head: str = ""
    pr: int = 0
    attempt: int = 0
    round: int = 0
    runs: int = 0
    body_sha256: str = ""
    approved_by: str = ""
    wait: Wait | None = None
    failures: str = ""
    next_role: str = ""
    oid: str = ""


def write_fence(fence: Fence) -> str:
    """The commit message of a fence."""
    wait = f"{fence.wait.reason}; until={_time(fence.wait.until)}" if fence.wait else ""
    trailers = {
        "Engine-Fence": "1",
        "Ack-Id": str(fence.ack_id),
        "Nonce": fence.nonce,
        "Agent": fence.agent,
        "Stage": fence.stage,
        "Phase": fence.phase,
        "Base": fence.base,
        "Work-Head": fence.work_head,
        "Pr": str(fence.pr or ""),
        "Attempt": str(fence.attempt),
        "Round": str(fence.round),
        "Runs": str(fence.runs or ""),
        "Body-Sha256": fence.body_sha256,
        "Approved-By": fence.approved_by,
        "Wait": wait,
        "Failures": fence.failures,
        "Next-Role": fence.next_role,
        "At": _time(fence.at),
    }
    lines = [f"{name}: {' '.join(value.split())}" for name, value in trailers.items() if value]
    return f"{fence.key.kind} #{fence.key.number} {fence.stage}\n\n" + "\n".join(lines) + "\n"


def read_fence(key: ItemKey, oid: str, message: str) -> Fence | None:
    """The fence that a commit message spells; None when it is not one of ours."""
    lines = (line.partition(": ") for line in message.splitlines())
    trailers = {name: value.strip() for name, _, value in lines if value}
    if trailers.get("Engine-Fence") != "1":
        return None
    try:
        return Fence(
            key=key,
            ack_id=int(trailers["Ack-Id"]),
            nonce=trailers["Nonce"],
            agent=trailers["Agent"],
            stage=Stage(trailers["Stage"]),
            at=_read_time(trailers["At"]),
            phase=trailers.get("Phase", ""),
            base=trailers.get("Base", ""),
            work_head=trailers.get("Work-Head", ""),
            pr=int(trailers.get("Pr", "0")),
            attempt=int(trailers.get("Attempt", "0")),
            round=int(trailers.get("Round", "0")),
            runs=int(trailers.get("Runs", "0")),
            body_sha256=trailers.get("Body-Sha256", ""),
            approved_by=trailers.get("Approved-By", ""),
            wait=_read_wait(trailers.get("Wait", "")),
            failures=trailers.get("Failures", ""),
            next_role=trailers.get("Next-Role", ""),
            oid=oid,
        )
    except (KeyError, ValueError):
        return None


def _read_wait(text: str) -> Wait | None:
    reason, _, until = text.rpartition("; until=")
    return Wait(reason, _read_time(until)) if until else None


def _read_time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"'{text}' does not say which zone it means")
    return at


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
