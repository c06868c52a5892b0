"""The stream that `cargo_script` writes, taken apart: what was built, and what each test binary reported.

Test binaries write into the same stream: what they tell is checked against their own sums and their exit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from worker_agent.tdd.runners.cargo_script import DOCTESTS
from worker_agent.tdd.runners.json_lines import json_object, lines

_EVENT = '{ "type": "'
"""How an event of the test harness begins; what a child process printed may stand before it in its line."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target of a package: where its code begins."""

    manifest: str
    kind: str
    name: str
    source: str


@dataclass
class Session:
    """One test binary, from the line with its path to that with its exit code."""

    binary: str
    events: list[dict[str, Any]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    code: int | None = None

    @property
    def ends(self) -> list[dict[str, Any]]:
        """The events that say that the binary is through; an honest one has one."""
        return [e for e in self.events if e.get("type") == "suite" and e.get("event") in {"ok", "failed"}]


@dataclass
class Stream:
    """Everything of one report. `errors` are the compiler's, as people see them, by target."""

    header: dict[str, Any] = field(default_factory=dict)
    binaries: dict[str, Target] = field(default_factory=dict)
    errors: dict[Target, list[str]] = field(default_factory=dict)
    manifests: set[str] = field(default_factory=set)
    sessions: list[Session] = field(default_factory=list)

    @property
    def built(self) -> frozenset[str]:
        """The root files of the targets whose tests were built."""
        return frozenset(target.source for target in self.binaries.values())


def taken_apart(data: bytes) -> Stream:
    """Read a stream; never raises for its content."""
    stream = Stream()
    for line in lines(data):
        found = json_object(line)
        if not stream.header and "selected" in found:
            stream.header = found
        elif isinstance(found.get("reason"), str):
            _compiled(stream, found)
        elif isinstance(binary := found.get("target"), str):
            _framed(stream, binary, found)
        elif stream.sessions and stream.sessions[-1].code is None:
            _told(stream.sessions[-1], line)
    return stream


def _compiled(stream: Stream, message: dict[str, Any]) -> None:
    about = message.get("target")
    if not isinstance(about, dict) or (stream.sessions and stream.sessions[-1].code is None):
        return
    kinds = about.get("kind") or [""]
    manifest = str(message.get("manifest_path", ""))
    target = Target(manifest, str(kinds[0]), str(about.get("name", "")), str(about.get("src_path", "")))
    stream.manifests.add(manifest)
    if message["reason"] == "compiler-artifact" and isinstance(binary := message.get("executable"), str):
        if (message.get("profile") or {}).get("test"):
            stream.binaries[PurePosixPath(binary).name] = target
    elif message["reason"] == "compiler-message":
        said = message.get("message") or {}
        rendered = str(said.get("rendered") or "")
        if said.get("level") == "error" and rendered not in stream.errors.setdefault(target, []):
            stream.errors[target].append(rendered)


def _framed(stream: Stream, binary: str, frame: dict[str, Any]) -> None:
    name = PurePosixPath(binary).name
    session = stream.sessions[-1] if stream.sessions else None
    if isinstance(code := frame.get("code"), int):
        if session is not None and session.binary == name and session.code is None:
            session.code = code
    elif session is None or session.code is not None:
        stream.sessions.append(Session(name))


def _told(session: Session, line: str) -> None:
    at = line.find(_EVENT)
    event = json_object(line[at:]) if at >= 0 and session.binary != DOCTESTS else {}
    if event:
        session.events.append(event)
    else:
        session.text.append(line)


def names(session: Session, event: str) -> Iterator[str]:
    """The tests of which the harness told such an event."""
    yield from (str(e.get("name")) for e in session.events if e.get("type") == "test" and e.get("event") == event)
