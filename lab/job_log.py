"""A CI job's log as GitHub writes it, and the annotations that it leaves on a commit. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from lab.world.checks import AnnotationRecord

ANNOTATIONS = 10
"""GitHub keeps at most ten annotations of one kind per step."""

_COMPLAINT = re.compile(r"(?P<path>[\w./-]+\.\w+):(?P<line>\d+): (?P<message>\S.*)")
_COMMAND = "\x1b[36;1m{}\x1b[0m"


def render(command: str, output: str, ending: str, *, started: float, ended: float) -> str:
    """The whole log: the command, what it printed, and `ending` as an `##[error]` line unless it is empty.

    Times are seconds since the epoch; the command's lines carry the first, all others the second.
    """
    shown = [_COMMAND.format(line) for line in command.split("\n")]
    head = [f"##[group]Run {command.split(chr(10), 1)[0]}", *shown, "shell: /bin/sh -c {0}", "##[endgroup]"]
    body = output.removesuffix("\n").split("\n") if output else []
    tail = [f"##[error]{ending}"] if ending else []
    stamped = [_stamped(line, started) for line in head] + [_stamped(line, ended) for line in (*body, *tail)]
    return "\n".join(stamped) + "\n"


def annotate(output: str, ending: str, paths: frozenset[str]) -> list[AnnotationRecord]:
    """One for every `path:line: message` that the output has on one of `paths`, and one that says how it ended."""
    found = list(_complaints(output, paths))[:ANNOTATIONS]
    return [*found, AnnotationRecord(".github", 1, 1, "failure", "", ending)]


def _complaints(output: str, paths: frozenset[str]) -> Iterator[AnnotationRecord]:
    for line in output.split("\n"):
        match = _COMPLAINT.fullmatch(line.strip())
        if match and match["path"] in paths:
            number = int(match["line"])
            yield AnnotationRecord(match["path"], number, number, "failure", "", match["message"])


def _stamped(line: str, seconds: float) -> str:
    """GitHub stamps every line in UTC with seven decimals."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}0Z {line}"
