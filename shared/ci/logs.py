"""The output of failed checks: their jobs' logs or, where GitHub keeps none, summaries and annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import structlog

from shared.ci.triage import Failure
from shared.errors import Gone
from shared.github.ports import Checks
from shared.models import Check
from shared.text import excerpt, last_words, one_line, printable

log = structlog.get_logger()


BRIEF_LINES, BRIEF_CHARS = 3, 100
"""Characters of the end of a failed check's log that fit into one line."""

# The notation is that of GitHub's runner:
# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?", re.MULTILINE)
_STEP = re.compile(r"##\[group\]Run ")
_ERROR = re.compile(r"##\[error\]|::error\b")
_CLEAN_UP = ("Post job cleanup.", "Cleaning up orphan processes")
_MARK = re.compile(r"^##\[(group|endgroup|error|warning|notice|debug|command|section)\](.*)$")
_COMMAND = re.compile(r"^::([a-z-]+)(?: ([^:]*(?:::?[^:]+)*?))?::(.*)$")
_LOUD = frozenset({"error", "warning", "notice"})


def outputs(found: Sequence[Failure]) -> str:
    """Return the output of each failed check under a heading with its name."""
    return "\n\n".join(f"### {one.check.name}\n{one.output}" for one in found)


def brief(found: Sequence[Failure]) -> str:
    """Return one line for each failed check: its name and the end of its output."""
    return "\n".join(f"{one_line(one.check.name, 60)}: {_end(one.output)}" for one in found)


def _end(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return last_words(" ".join(lines[-BRIEF_LINES:]), BRIEF_CHARS)


async def failures(checks: Checks, failed: Sequence[Check], limit: int) -> tuple[Failure, ...]:
    """Return each failed check with the failing step of its log; about `limit` bytes in all. Raises `Transient`."""
    room = limit // max(1, len(failed))
    return tuple([Failure(check, await _output(checks, check, room)) for check in failed])


async def _output(checks: Checks, check: Check, room: int) -> str:
    """Return the log of a job or its replacement: other Apps have no jobs, and a commit status has only its summary.

    GitHub deletes logs after a while (410), and a job whose machine was lost never had one (404).
    """
    if check.job_id is not None:
        try:
            return failing_step(await checks.log(check.job_id), room)
        except Gone as error:
            log.info("log_gone", outcome="skipped", check=check.name, error=str(error))
    return excerpt(printable("\n".join([check.summary, *await _remarks(checks, check)])), room)


async def _remarks(checks: Checks, check: Check) -> tuple[str, ...]:
    if check.check_run_id is None:
        return ()
    try:
        return await checks.annotations(check.check_run_id)
    except Gone:
        return ()


def failing_step(log: str, limit_bytes: int) -> str:
    """Return the steps of a job's log that report an error, or the whole log if none does; its last `limit_bytes`.

    Time stamps, workflow commands and colours are left out. `log` may have lost its beginning.
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
