"""One repository with pending tests, in memory: its register, its issues, its base, its clocks, and its troubles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from fakes.unasked import UnaskedFences, UnaskedIssues, UnaskedMirror
from planner_agent.pending.opening import Opening, Wanted, Writer
from planner_agent.pending.register import PENDING_TESTS
from planner_agent.register import Register
from shared.errors import Gone
from shared.git.failures import TooMuchOutput
from shared.git.history import Commit
from shared.lock.port import RefUpdate
from shared.lock.write_permit import WritePermit
from shared.models import Account, Issue
from shared.pending import mark
from shared.text.comment_signatures import Key, Keyring

AT = datetime(2026, 1, 5, tzinfo=UTC)
KEYS = Keyring(99, (Key.of(b"p" * 32),))
ENGINE = Account(7, "engine-bot")
SKIP = "@pytest.mark.skip(reason='spec: x')\n"


def file(*names: str) -> bytes:
    return ("import pytest\n" + "".join(f"{SKIP}def test_{name}(): pass\n" for name in names)).encode()


@dataclass
class World(UnaskedFences, UnaskedIssues, UnaskedMirror):
    """One repository: its register, its issues, its base, and the clocks."""

    files: dict[str, bytes] = field(default_factory=lambda: {"tests/test_x.py": file("a", "b", "c")})
    main: str = "a" * 40
    lines: dict[str, Commit] = field(default_factory=dict)
    head: str | None = None
    issues: dict[int, Issue] = field(default_factory=dict)
    now: datetime = AT
    asked: list[str] = field(default_factory=list)
    trouble: dict[str, Exception] = field(default_factory=dict)
    rival: list[str] = field(default_factory=list)

    def boot(self) -> float:
        return (self.now - AT).total_seconds()

    def _stumble(self, where: str) -> None:
        error = self.trouble.pop(where, None)
        if error is not None:
            raise error

    async def read(self, ref: str) -> tuple[str, str] | None:
        self.asked.append("register")
        return None if self.head is None else (self.head, self.lines[self.head].message)

    async def advance(
        self, ref: str, message: str, expected: str | None, parents: Sequence[str], updates: Sequence[RefUpdate]
    ) -> str | None:
        assert (ref, tuple(updates), list(parents)) == ("refs/ack/pending", (), [expected] if expected else [])
        if self.rival:
            other, self.rival = self.rival[0], self.rival[1:]
            self._put(other)
        if self.head != expected:
            return None
        self._stumble("before the line")
        oid = self._put(message)
        self._stumble("after the line")
        return oid

    def _put(self, message: str) -> str:
        oid = f"{len(self.lines) + 1:040x}"
        self.lines[oid] = Commit(oid, (self.head,) if self.head else (), self.now, message)
        self.head = oid
        return oid

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]:
        found: list[Commit] = []
        at = self.lines.get(ref)
        while at is not None and len(found) < min(limit, 3):
            found.append(at)
            at = self.lines.get(at.parents[0]) if at.parents else None
        return found

    async def refresh(self, ref: str) -> str | None:
        assert ref == "refs/heads/main"
        return self.main

    async def paths(self, commit: str) -> tuple[str, ...]:
        self.asked.append("paths")
        return tuple(self.files)

    async def contents(self, commit: str, paths: Sequence[str]) -> tuple[bytes | None, ...]:
        if len(paths) > 1 and any(self.files[path] == b"huge" for path in paths):
            raise TooMuchOutput
        return tuple(self.files[path] for path in paths)

    async def issue(self, number: int) -> Issue:
        self.asked.append(f"#{number}")
        if number not in self.issues:
            raise Gone
        return self.issues[number]

    async def named(self, number: int, at: datetime) -> Issue:
        return await self.issue(number)

    async def created_by(self, login: str, since: datetime) -> tuple[Issue, ...]:
        self.asked.append("all issues" if since.year < 2026 else "new issues")
        return tuple(one for one in self.issues.values() if one.author.login == login and one.updated_at >= since)

    async def create(self, title: str, body: str, labels: Collection[str], permit: WritePermit) -> Issue:
        self._stumble("slow")
        permit.check()
        self._stumble("before the issue")
        number = len(self.issues) + 1
        self.issues[number] = Issue(number, title, body, frozenset(labels), ENGINE, self.now, self.now)
        self._stumble("after the issue")
        return self.issues[number]

    def planner(self, agent: str = "planner-1", **more: Any) -> Opening:
        writer = Writer(agent, ENGINE, KEYS, lambda: self.now, self.boot)
        return Opening(
            self, self, Register(PENDING_TESTS, self, self), writer, replace(Wanted(("tests/**/test_*.py",)), **more)
        )

    @property
    def listed(self) -> Mapping[int, Issue]:
        return {number: one for number, one in self.issues.items() if one.open}

    @property
    def tests(self) -> list[str]:
        """The tests that have issues, by their last letter, in the order of creation."""
        found = [mark.read(one.body, KEYS) for one in self.issues.values()]
        return [one.test[-1] for one in found if one is not None]

    def change(self, number: int, **changes: Any) -> None:
        self.issues[number] = replace(self.issues[number], **changes)
