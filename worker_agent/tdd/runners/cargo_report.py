"""The reader of a report of cargo's tests: raw cases of its targets, and of those that were not built.

The reader of the stream that `cargo_script` writes: the built targets, and the report of each test binary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from worker_agent.tdd.runners import rust_doctests
from worker_agent.tdd.runners.cargo_script import DOCTESTS
from worker_agent.tdd.runners.cargo_targets import Manifests, files_of, has_tests, module_file
from worker_agent.tdd.runners.json_report import json_object, lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.rust_doctests import is_in_test
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

NOT_RUN = "the test binary ended before its tests were through"
CRASHED = "it ended the test binary"
"""The beginning of the message of a test that crashed: nothing after it has a result."""
IN_THE_TEST = "in the test, "
"""The beginning of a panic's message if the test itself raised it."""

_OUTCOMES = {
    "ok": CaseOutcome.PASSED,
    "failed": CaseOutcome.FAILED,
    "ignored": CaseOutcome.SKIPPED,
    "timeout": CaseOutcome.ERROR,
}
_PANIC = re.compile(
    r"^thread '(?P<thread>.*?)'(?: \(\d+\))? panicked at (?:'(?P<old>.*?)', )?(?P<file>[^\s:']+):(?P<line>\d+):\d+:?\n?"
    r"(?P<said>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)
_OVERFLOWED = re.compile(r"([\w:]+)' (?:\(\d+\) )?has overflowed its stack")
"""Rust's words about a thread."""
_ENDED_FROM_OUTSIDE = frozenset({None, 128 + 9, 128 + 15})
_PLACE = re.compile(r"^\s*(?:-->|:::) (\S+?\.rs):\d+", re.MULTILINE)


def read(data: bytes, project: Project) -> Report:
    """Read one stream; never raise for its content."""
    if data.count(b"\n") > 10 * ELEMENT_LIMIT:
        return Report(problem=f"the test report has more than {10 * ELEMENT_LIMIT} lines")
    stream = taken_apart(data)
    found: list[Case] = list(_not_built(stream, project))
    problems: list[str] = []
    for session in stream.sessions:
        cases, problem = _session(session, stream, project)
        found += cases
        problems += [problem] if problem else []
    return Report(tuple(found), "; ".join(problems))


def _session(session: Session, stream: Stream, project: Project) -> tuple[list[Case], str]:
    if session.binary == DOCTESTS:
        return rust_doctests.cases("\n".join(session.text), project)
    target = stream.binaries.get(session.binary)
    if target is None:
        return [], f"a test binary ran that was not built: {session.binary}"
    root = project.below(target.source)
    if target.name in stream.header.get("custom", ()):
        return [_whole(session, root)], ""
    if not session.ends:
        return _cut_short(session, root, project), ""
    cases = [case for event in session.events if (case := _case(event, root, project))]
    return cases, _disagreement(session)


def _whole(session: Session, root: str) -> Case:
    """Return the case of a target with its own `main`: one test, of which only the exit code is trusted."""
    text = "\n".join(session.text)[-MESSAGE_LIMIT:]
    failed = session.code != 0
    message = f"it ended with exit code {session.code}" if failed else ""
    return Case("main", "", root, CaseOutcome.FAILED if failed else CaseOutcome.PASSED, message, text if failed else "")


def _cut_short(session: Session, root: str, project: Project) -> list[Case]:
    """Return the results before a binary ended early: tests that had begun failed.

    The file lacks results, unless one of them is known to have crashed: then that one failed for a reason of its own.
    """
    cases = [case for event in session.events if (case := _case(event, root, project))]
    ended = {name for word in _OUTCOMES for name in names(session, word)}
    begun = [name for name in names(session, "started") if name not in ended]
    reason = f"{NOT_RUN} (exit code {session.code})"
    text = "\n".join(session.text)[-MESSAGE_LIMIT:]
    crashed = _crashed(begun, session)
    for name in begun:
        file, rest = module_file(root, name, project)
        said = f"{CRASHED} (exit code {session.code})" if name in crashed else reason
        cases.append(Case(rest, "", file, CaseOutcome.ERROR, said, text))
    return cases if crashed else [*cases, Case(root, "", root, CaseOutcome.ERROR, reason, text)]


def _crashed(begun: Sequence[str], session: Session) -> frozenset[str]:
    """Return which of the tests that had begun ended the binary: the only one, or whose stack overflowed.

    None if it left with success, or was ended from outside.
    """
    if not session.code or session.code in _ENDED_FROM_OUTSIDE:
        return frozenset()
    overflowed = set(_OVERFLOWED.findall("\n".join(session.text)))
    return frozenset(begun if len(begun) == 1 else overflowed.intersection(begun))


def _disagreement(session: Session) -> str:
    """Return the contradictions of a report: its own sums, its lines and the exit code must agree."""
    end = session.ends[-1]
    told = {word: end.get(word) for word in ("passed", "failed", "ignored")}
    ends = {"passed": "ok", "failed": "failed", "ignored": "ignored"}
    counted = {word: sum(1 for _ in names(session, event)) for word, event in ends.items()}
    code = 0 if end.get("event") == "ok" else 101
    if len(session.ends) > 1 or told != counted or session.code != code:
        return f"{session.binary} told of {told} tests and named {counted}; its exit code is {session.code}"
    return ""


def _case(event: dict[str, Any], root: str, project: Project) -> Case | None:
    outcome = _OUTCOMES.get(str(event.get("event"))) if event.get("type") == "test" else None
    if outcome is None or outcome is CaseOutcome.ERROR:
        return None
    name = str(event.get("name"))
    file, rest = module_file(root, name, project)
    if outcome is not CaseOutcome.FAILED:
        return Case(rest, "", file, outcome)
    text = str(event.get("stdout") or "")
    message = str(event.get("message") or event.get("reason") or "") or _error(name, text, file, project)
    return Case(rest, "", file, outcome, message[:MESSAGE_LIMIT], text[-MESSAGE_LIMIT:])


def _error(name: str, text: str, file: str, project: Project) -> str:
    """Return the place and message of a panic, preferably of the test's own thread."""
    panics = list(_PANIC.finditer(text))
    panic = next((found for found in panics if found["thread"] == name), panics[0] if panics else None)
    if panic is None:
        return next((line.strip() for line in text.splitlines() if line.strip()), "failed without a word")
    place = project.below(panic["file"])
    said = (panic["old"] or panic["said"]).strip().partition("\n")[0]
    lead = IN_THE_TEST if is_in_test(place, int(panic["line"]), file, project) else ""
    return f"{lead}{place}:{panic['line']}: {said}"


def _not_built(stream: Stream, project: Project) -> Iterator[Case]:
    """Yield each test file of a target that was not built, or whose build never began because of that."""
    seen: set[str] = set()
    everything = _shorten([text for texts in stream.errors.values() for text in texts])
    for target, texts in stream.errors.items():
        if not texts or target.source in stream.built:
            continue
        root, text = project.below(target.source), _shorten(texts)
        named = {project.below(place) for place in _PLACE.findall(text)}
        tested = {path for path in named & project.paths if has_tests(project.text(path))}
        for file in sorted({*files_of(root, project), *tested} - seen):
            seen.add(file)
            yield Case(file, "", file, CaseOutcome.ERROR, "", text)
    if everything:
        for root in sorted(_never_begun(stream, project) - seen):
            yield Case(root, "", root, CaseOutcome.ERROR, "", everything)


def _never_begun(stream: Stream, project: Project) -> set[str]:
    """Return the root files of targets that were to be built, and were not."""
    manifests = Manifests(project)
    built = {project.below(source) for source in stream.built}
    ran = {str(PurePosixPath(project.below(path)).parent) for path in stream.manifests}
    wanted = set(manifests.packages) if stream.header.get("every") else {"" if at == "." else at for at in ran}
    roots = {root for package in wanted & set(manifests.packages) for root in manifests.roots(package)}
    selected = set(stream.header.get("selected") or roots)
    broken = {project.below(target.source) for target, texts in stream.errors.items() if texts}
    tested = {root for root in roots - built - broken if has_tests(project.text(root))}
    return tested & selected


def _shorten(texts: list[str]) -> str:
    """Return the errors as the compiler shows them; only their heads and places if there are too many."""
    whole = "\n".join(text.strip("\n") for text in texts)
    if len(whole) <= MESSAGE_LIMIT:
        return whole
    lines = (line for text in texts for line in text.splitlines())
    short = [line for line in lines if re.match(r"error|\s*(?:-->|:::) |.*\^\^|.*defined here", line)]
    return "\n".join(short)[:MESSAGE_LIMIT]


_EVENT = '{ "type": "'
"""The beginning of an event of the test harness; output of a child process may be before it in its line."""


@dataclass(frozen=True, slots=True)
class CargoTarget:
    """One target of a package, with its root source file."""

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
        """The events that report the end of the binary; an honest one has exactly one."""
        return [e for e in self.events if e.get("type") == "suite" and e.get("event") in {"ok", "failed"}]


@dataclass
class Stream:
    """Everything of one report. `errors` are the compiler's, as people see them, by target."""

    header: dict[str, Any] = field(default_factory=dict)
    binaries: dict[str, CargoTarget] = field(default_factory=dict)
    errors: dict[CargoTarget, list[str]] = field(default_factory=dict)
    manifests: set[str] = field(default_factory=set)
    sessions: list[Session] = field(default_factory=list)

    @property
    def built(self) -> frozenset[str]:
        """The root files of the targets whose tests were built."""
        return frozenset(target.source for target in self.binaries.values())


def taken_apart(data: bytes) -> Stream:
    """Read a stream; never raise for its content."""
    stream = Stream()
    for line in lines(data):
        found = json_object(line)
        if not stream.header and "selected" in found:
            stream.header = found
        elif isinstance(found.get("reason"), str):
            _take_compiler_message(stream, found)
        elif isinstance(binary := found.get("target"), str):
            _take_frame(stream, binary, found)
        elif stream.sessions and stream.sessions[-1].code is None:
            _take_line(stream.sessions[-1], line)
    return stream


def _take_compiler_message(stream: Stream, message: dict[str, Any]) -> None:
    about = message.get("target")
    if not isinstance(about, dict) or (stream.sessions and stream.sessions[-1].code is None):
        return
    kinds = about.get("kind") or [""]
    manifest = str(message.get("manifest_path", ""))
    target = CargoTarget(manifest, str(kinds[0]), str(about.get("name", "")), str(about.get("src_path", "")))
    stream.manifests.add(manifest)
    if message["reason"] == "compiler-artifact" and isinstance(binary := message.get("executable"), str):
        if (message.get("profile") or {}).get("test"):
            stream.binaries[PurePosixPath(binary).name] = target
    elif message["reason"] == "compiler-message":
        said = message.get("message") or {}
        rendered = str(said.get("rendered") or "")
        if said.get("level") == "error" and rendered not in stream.errors.setdefault(target, []):
            stream.errors[target].append(rendered)


def _take_frame(stream: Stream, binary: str, frame: dict[str, Any]) -> None:
    name = PurePosixPath(binary).name
    session = stream.sessions[-1] if stream.sessions else None
    if isinstance(code := frame.get("code"), int):
        if session is not None and session.binary == name and session.code is None:
            session.code = code
    elif session is None or session.code is not None:
        stream.sessions.append(Session(name))


def _take_line(session: Session, line: str) -> None:
    at = line.find(_EVENT)
    event = json_object(line[at:]) if at >= 0 and session.binary != DOCTESTS else {}
    if event:
        session.events.append(event)
    else:
        session.text.append(line)


def names(session: Session, event: str) -> Iterator[str]:
    """Yield the tests for which the harness reported such an event."""
    yield from (str(e.get("name")) for e in session.events if e.get("type") == "test" and e.get("event") == event)
