"""Final output of `workflow-engine tdd`: sentences for people, or one JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from console.tdd.task import Records, State, Task
from runtime.exit_codes import FAILED, OK
from runtime.telemetry.cost import spelled
from shared.text import printable

ROUNDS_USED_UP = 5
"""Exit code: the branch is kept, and the review still asks for changes."""

CODES = {State.DONE: OK, State.ROUNDS_USED_UP: ROUNDS_USED_UP}


def code_of(task: Task) -> int:
    """Return the exit code for a task's state."""
    return CODES.get(task.state, FAILED)


def as_json(task: Task, records: Records, code: int, warnings: Sequence[str] = (), error: str = "") -> str:
    """One object; `branch` and `commit` are null before there is a result, `place` once it was removed."""
    return json.dumps({**_facts(task, records), "exit_code": code, "warnings": list(warnings), "error": error or None})


def listed_as_json(tasks: Sequence[Task], records: Records) -> str:
    """One object with all tasks."""
    return json.dumps({"tasks": [_facts(task, records) for task in tasks]})


def refused_as_json(code: int, errors: Sequence[str], warnings: Sequence[str]) -> str:
    """One object for what was never begun."""
    return json.dumps({"task": None, "exit_code": code, "errors": list(errors), "warnings": list(warnings)})


def listed(tasks: Sequence[Task]) -> str:
    """One line for each task."""
    if not tasks:
        return "There are no tasks here."
    rows = [(task.id, task.created_at[:16], str(task.state), f"${task.spent.usd:.2f}") for task in tasks]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)), printable(task.order.title)])
        for row, task in zip(rows, tasks, strict=True)
    )


def ending_text(task: Task) -> str:
    """Return how the task ended, and the person's next step."""
    return "\n".join(_lines(task))


def again(task: Task) -> str:
    """The command that goes on, and what it does where the task has stopped by itself."""
    command = resuming(task)
    match task.state:
        case State.FAILED:
            return f"Take it up again from what was built, with all attempts: {command}"
        case State.ROUNDS_USED_UP:
            number = task.order.max_reviews
            return f"Have it make these changes, with {number} review{'s' * (number != 1)} more: {command}"
        case _:
            return f"Go on with: {command}"


def resuming(task: Task) -> str:
    """The command that goes on."""
    return f"workflow-engine tdd --resume {task.id}"


def _lines(task: Task) -> Iterator[str]:
    order = task.order
    match task.state:
        case State.DONE:
            yield f"Done: the review approves, and the work is on the branch {order.branch}."
        case State.ROUNDS_USED_UP:
            given = task.reviews - task.before
            yield f"The review still asks for changes after {given} of {order.max_reviews}: a person decides."
        case State.FAILED:
            yield "It failed:"
        case _:
            yield f"It is not finished: {task.state}."
    if task.state is not State.DONE and task.sentence:
        yield f"\n{printable(task.sentence)}\n"
    if task.head:
        yield f"Look at it: git diff {shlex.quote(order.base)}...{shlex.quote(order.branch)}"
    if task.url:
        yield f"Pull request: {task.url}"
    yield f"It took {spelled(task.spent)}."
    if Path(task.place).exists():
        yield f"Logs, trees and reviews of the task are in {task.place}."
        if task.state is State.FAILED and "`setup_command`" in task.sentence:
            yield "For these keys there are the options --test-command and --setup-command, also with --resume."
        if task.state is not State.DONE:
            yield again(task)


def _facts(task: Task, records: Records) -> dict[str, Any]:
    order, spent = task.order, task.spent
    return {
        "task": task.id,
        "state": str(task.state),
        "title": order.title,
        "base": order.base,
        "branch": order.branch if task.head else None,
        "commit": task.head or None,
        "pull_request": task.url or None,
        "reviews": task.reviews,
        "calls": spent.calls,
        "cost_usd": spent.usd,
        "calls_of_unknown_cost": spent.unpriced,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "seconds": spent.seconds,
        "sentence": task.sentence,
        "record": str(records.file(task.id)),
        "place": task.place if Path(task.place).exists() else None,
    }
