"""The demonstration's scenario as a script for the model server, so that a real CLI plays it with its own tools."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from lab.model.script import Script
from shared.errors import Misconfigured
from shared.llm.answer import Edit, ScriptedAnswer
from shared.llm.port import CoderCall
from shared.llm.scenario import Scenario

_PARTS = {
    (CoderCall.PLAN, 1, 0): "Turn one user story into a plan",
    (CoderCall.WRITE_TESTS, 1, 0): "Write the tests for one specification",
    (CoderCall.IMPLEMENT, 1, 0): "This is attempt 1 of",
    (CoderCall.IMPLEMENT, 2, 0): "This is attempt 2 of",
    (
        CoderCall.IMPLEMENT,
        1,
        1,
    ): "People or a reviewer asked for changes to a pull request. Make them. Your working directory",
    (CoderCall.FIX_CI, 1, 0): "A change passed its tests here and fails in continuous integration.",
    (CoderCall.REVIEW, 1, 0): "Review one pull request",
    (CoderCall.REVIEW, 1, 1): "They come in the directory's order; a blank text finds nobody.",
    (
        CoderCall.CHECK_CRITERIA,
        1,
        1,
    ): "Check, as the tester of this project, whether one change really meets its acceptance",
}
"""Words of a prompt by which its call is known; of several the longest counts. One is the changed docstring."""


def script(scenario: Scenario, backend: str) -> Script:
    """The scenario of one story, for the tools of `backend` (`claude` or `codex`)."""
    return Script.read({"for": _part(one), "turns": [*_turns(one, backend), _last(one)]} for one in scenario.answers)


def _part(answer: ScriptedAnswer) -> str:
    part = _PARTS.get((answer.call, answer.attempt or 1, answer.round or 0))
    if part is None:
        raise Misconfigured(f"{answer}: no prompt is known by which a model could tell this call.")
    return part


def _last(answer: ScriptedAnswer) -> dict[str, Any]:
    if answer.answer is not None:
        return {"answer": json.loads(answer.answer)}
    return {"say": answer.text or "Done."}


def _turns(answer: ScriptedAnswer, backend: str) -> Iterator[dict[str, Any]]:
    for edit in answer.edits:
        if backend == "codex":
            yield {"say": f"Changing {edit.path}.", "tools": [_of_codex(edit)]}
            continue
        place = f"{{cwd}}/{edit.path}"
        if edit.replace is None:
            tool = {"name": "Write", "input": {"file_path": place, "content": edit.content or ""}}
        else:
            yield {"say": f"Reading {edit.path}.", "tools": [{"name": "Read", "input": {"file_path": place}}]}
            old, new = edit.replace
            tool = {"name": "Edit", "input": {"file_path": place, "old_string": old, "new_string": new}}
        yield {"say": f"Changing {edit.path}.", "tools": [tool]}


def _of_codex(edit: Edit) -> dict[str, Any]:
    if edit.replace is None:
        return {"name": "apply_patch", "input": _patch(edit)}
    command = _command(edit.path, *edit.replace)
    return {"name": "exec_command", "input": {"cmd": command, "yield_time_ms": 30_000}}


def _patch(edit: Edit) -> str:
    added = "\n".join(f"+{line}" for line in (edit.content or "").splitlines())
    return f"*** Begin Patch\n*** Add File: {edit.path}\n{added}\n*** End Patch\n"


def _command(path: str, old: str, new: str) -> str:
    """A shell command that replaces parts of lines, which Codex's patches cannot."""
    code = f"import pathlib; p = pathlib.Path({path!r}); p.write_text(p.read_text().replace({old!r}, {new!r}))"
    return shlex.join(("python3", "-c", code))
