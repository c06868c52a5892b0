"""A CI job's log as GitHub writes it, and the annotations that it leaves on a commit. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from lab.github.world.checks import AnnotationRecord

ANNOTATIONS = 10
"""GitHub keeps at most ten annotations of one kind per step."""

_COMPLAINT = re.compile(r"(?P<path>[\w./-]+\.\w+):(?P<line>\d+): (?P<message>\S.*)")
_COMMAND = "\x1b[36;1m{}\x1b[0m"

_BEGINNING = "\ufeff"
"""GitHub's logs start with a byte order mark."""

_SET_UP = (
    "Current runner version: '2.320.0'",
    "##[group]Operating System",
    "Ubuntu",
    "##[endgroup]",
    "##[group]GITHUB_TOKEN Permissions",
    "Contents: read",
    "Metadata: read",
    "##[endgroup]",
    "Secret source: Actions",
    "Prepare workflow directory",
    "Prepare all required actions",
    "Complete job name: {}",
    "##[group]Run actions/checkout@v4",
    "with:",
    "  fetch-depth: 1",
    "##[endgroup]",
)
"""A runner's output before the first step of the job itself; {} is the job's name."""

_TIDY_UP = ("Post job cleanup.", "Cleaning up orphan processes")
"""A runner's output after the last step, however that ended."""

_FILLER = "filling the log, which says nothing that matters"


def render(job: str, command: str, output: str, ending: str, *, started: float, ended: float) -> str:
    """The whole log: setting up, the command, what it printed, `ending` as an `##[error]` line, tidying up.

    An empty `ending` leaves no line. Times are seconds since the epoch; the lines up to the
    command carry the first, all others the second.
    """
    shown = [_COMMAND.format(line) for line in command.split("\n")]
    step = [f"##[group]Run {command.split(chr(10), 1)[0]}", *shown, "shell: /bin/sh -c {0}", "##[endgroup]"]
    head = [*(line.format(job) for line in _SET_UP), *step]
    body = output.removesuffix("\n").split("\n") if output else []
    tail = [*([f"##[error]{ending}"] if ending else []), *_TIDY_UP]
    stamped = [_stamp(line, started) for line in head] + [_stamp(line, ended) for line in (*body, *tail)]
    return _BEGINNING + "\n".join(stamped) + "\n"


def filler(size: int, *, at: float) -> Iterator[bytes]:
    """About `size` bytes of log lines, a block at a time: nobody holds them all."""
    line = f"{_stamp(_FILLER, at)}\n".encode()
    block = line * (2**16 // len(line))
    for _ in range(-(-size // len(block))):
        yield block


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


def _stamp(line: str, seconds: float) -> str:
    """GitHub stamps every line in UTC with seven decimals."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}0Z {line}"
