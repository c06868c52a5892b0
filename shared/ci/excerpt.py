"""A job's log cut to the step that failed: no time stamps, no workflow commands, no colours, the end kept (pure).

The notation is that of GitHub's runner: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shared.text import excerpt, printable

_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?", re.MULTILINE)
_STEP = re.compile(r"##\[group\]Run ")
_ERROR = re.compile(r"##\[error\]|::error\b")
_CLEAN_UP = ("Post job cleanup.", "Cleaning up orphan processes")
_MARK = re.compile(r"^##\[(group|endgroup|error|warning|notice|debug|command|section)\](.*)$")
_COMMAND = re.compile(r"^::([a-z-]+)(?: ([^:]*(?:::?[^:]+)*?))?::(.*)$")
_LOUD = frozenset({"error", "warning", "notice"})


def failing_step(log: str, limit_bytes: int) -> str:
    """Return the steps of a job's log that report an error, or the whole log if none does; its last `limit_bytes`.

    `log` may have lost its beginning.
    """
    lines = printable(_STAMP.sub("", log)).removeprefix("<U+FEFF>").split("\n")
    steps = list(_steps(lines))
    told = [step for step in steps if any(_ERROR.match(line) for line in step)] or steps
    return excerpt("\n".join(said for step in told for said in _readable_lines(step)).strip("\n"), limit_bytes)


def _steps(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """Split the log into its parts: set-up, each step, clean-up."""
    start = 0
    for number, line in enumerate(lines):
        if number > start and (_STEP.match(line) or line in _CLEAN_UP):
            yield lines[start:number]
            start = number
    yield lines[start:]


def _readable_lines(step: Sequence[str]) -> Iterator[str]:
    """Yield a step as people read it: the command, its output, the runner's messages."""
    heading = 0
    for line in step:
        mark = _MARK.match(line)
        if _STEP.match(line):
            heading = 1
            yield f"$ {line[len('##[group]Run ') :]}"
        elif heading:  # the script once more, its shell and environment
            heading = 0 if line == "##[endgroup]" else 1
        elif mark:
            yield from _marked_text(mark[1], mark[2])
        else:
            yield from _command_text(line)


def _marked_text(kind: str, text: str) -> Iterator[str]:
    if kind == "error":  # kept: by its mark, what the runner says is told from what a command printed
        yield f"##[error]{text}"
    elif kind in _LOUD:
        yield f"{kind}: {text}"
    elif kind == "command":
        yield f"$ {text}"
    elif kind in {"group", "section"} and text:
        yield text


def _command_text(line: str) -> Iterator[str]:
    """Yield a workflow command that the runner left as it was printed in plain form; yield any other line unchanged."""
    found = _COMMAND.match(line)
    if found is None:
        yield line
    elif found[1] in _LOUD:
        given = dict(part.partition("=")[::2] for part in (found[2] or "").split(","))
        place = ":".join(given[name] for name in ("file", "line") if given.get(name))
        yield f"{found[1]}: {place}: {found[3]}" if place else f"{found[1]}: {found[3]}"
    elif found[1] == "group":
        yield found[3]
