"""What `workflow-engine tdd` prints at its end: sentences for people, or one JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from console.launch import FAILED, OK
from console.tdd.task import Records, State, Task

ROUNDS_USED_UP = 5
"""Exit code: the branch is kept, and the review still asks for changes."""

CODES = {State.DONE: OK, State.ROUNDS_USED_UP: ROUNDS_USED_UP}


def code_of(task: Task) -> int:
    """The exit code for how far a task is."""
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
    width = max(len(task.id) for task in tasks)
    return "\n".join(f"{task.id:<{width}}  {task.created_at[:16]}  {task.state}  {task.order.title}" for task in tasks)


def told(task: Task) -> str:
    """How it ended, and what a person can do now."""
    return "\n".join(_lines(task))


def again(task: Task) -> str:
    """The command that goes on."""
    return f"Go on with: workflow-engine tdd --resume {task.id}"


def _lines(task: Task) -> Iterator[str]:
    order = task.order
    match task.state:
        case State.DONE:
            yield f"Done: the review approves, and the work is on the branch {order.branch}."
        case State.ROUNDS_USED_UP:
            yield f"The review still asks for changes after {task.reviews} of {order.max_reviews}: a person decides."
        case State.FAILED:
            yield "It failed. Begin anew when this is mended:"
        case _:
            yield f"It is not finished: {task.state}."
    if task.state is not State.DONE and task.sentence:
        yield f"\n{task.sentence}\n"
    if task.head:
        yield f"Look at it: git diff {shlex.quote(order.base)}...{shlex.quote(order.branch)}"
    if task.url:
        yield f"Pull request: {task.url}"
    if Path(task.place).exists():
        yield f"Logs, trees and reviews of the task are in {task.place}."


def _facts(task: Task, records: Records) -> dict[str, Any]:
    order = task.order
    return {
        "task": task.id,
        "state": str(task.state),
        "title": order.title,
        "base": order.base,
        "branch": order.branch if task.head else None,
        "commit": task.head or None,
        "pull_request": task.url or None,
        "reviews": task.reviews,
        "sentence": task.sentence,
        "record": str(records.file(task.id)),
        "place": task.place if Path(task.place).exists() else None,
    }
