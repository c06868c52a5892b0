"""The scripted backend: answers come from a scenario, edits are real, time is the engine's clock."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from shared.clock import Clock
from shared.errors import Misconfigured
from shared.llm.answer import Edit, ScriptedAnswer
from shared.llm.backend import BackendSpec, Setup
from shared.llm.port import Coder, Ending, Request, RunOutcome, Usage
from shared.llm.scenario import Scenario

_FREE = Usage(cost_usd=0.0, cost_source="scripted")


@dataclass(slots=True)
class Scripted:
    """A coder that follows its scenario: the same request gets the same answer in every process.

    With a directory `used`, each answer and each failure that was given leaves one file there, so
    that several processes and a restarted one know of each other's.
    """

    name: ClassVar[str] = "scripted"
    """The backend's name in the configuration."""
    scenario: Scenario
    clock: Clock
    used: Path | None = None
    _seen: set[str] = field(default_factory=set, init=False, repr=False)

    async def run(self, request: Request) -> RunOutcome:
        """Give the answer to `request`.

        Raises `Unscripted` if the scenario has none, and `Misconfigured` if an edit does not
        fit the tree or would leave it; then nothing is edited.
        """
        answer = self.scenario.answer_to(request)
        deadline = request.limits.deadline_seconds
        if answer.takes_seconds:
            await self.clock.sleep(min(answer.takes_seconds, deadline))
        if answer.takes_seconds > deadline:
            self._first_time(answer, "given")
            return RunOutcome(Ending.TIMED_OUT, usage=_FREE)
        if answer.fails is not None and self._still_fails(answer):
            return RunOutcome(answer.fails, answer.text or f"scripted: {answer.fails}", usage=_FREE)
        for path, content in _plan_edits(request, answer).items():
            _write(path, content)
        self._first_time(answer, "given")
        structured = None if answer.answer is None else json.loads(answer.answer)
        return RunOutcome(Ending.COMPLETED, answer.text or answer.answer or "", structured, _FREE)

    def unread(self) -> tuple[str, ...]:
        """Return the answers that were never given, one line each."""
        return tuple(str(answer) for answer in self.scenario.answers if not self._was_given(answer))

    def _still_fails(self, answer: ScriptedAnswer) -> bool:
        if answer.times is None:
            self._first_time(answer, "given")
            return True
        return any(self._first_time(answer, f"failed-{time}") for time in range(1, answer.times + 1))

    def _first_time(self, answer: ScriptedAnswer, event: str) -> bool:
        """Note an event; return False if it was noted before, here or by another process."""
        trace = self._trace(answer, event)
        if trace in self._seen:
            return False
        self._seen.add(trace)
        if self.used is None:
            return True
        self.used.mkdir(parents=True, exist_ok=True)
        try:
            with (self.used / trace).open("x", encoding="utf-8") as file:
                file.write(f"{answer}\n")
        except FileExistsError:
            return False
        return True

    def _was_given(self, answer: ScriptedAnswer) -> bool:
        trace = self._trace(answer, "given")
        return trace in self._seen or (self.used is not None and (self.used / trace).exists())

    def _trace(self, answer: ScriptedAnswer, event: str) -> str:
        number = self.scenario.answers.index(answer) + 1
        return f"{self.scenario.digest}-{number:03d}-{answer.call}-{event}"


def build(setup: Setup) -> Coder:
    """Build the backend for the configured scenario; raise `Misconfigured` without one."""
    if setup.scenario is None:
        raise Misconfigured("The scripted backend needs a scenario: set llm.scenario to the path of its YAML file.")
    return Scripted(Scenario.load(setup.scenario), setup.clock, setup.used)


def _plan_edits(request: Request, answer: ScriptedAnswer) -> dict[Path, str | None]:
    """Return the new content of each file, None for no file; raise before anything is written."""
    if not answer.edits:
        return {}
    if request.tree is None:
        raise Misconfigured(f"{answer.where}: the call has no tree to edit.")
    planned: dict[Path, str | None] = {}
    for edit in answer.edits:
        path = _path_inside(request.tree.resolve(), edit)
        kept = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else None
        planned[path] = _edited_content(planned.get(path, kept), edit)
    return planned


def _path_inside(tree: Path, edit: Edit) -> Path:
    """Return the file of an edit, links followed; raise unless it is inside `tree`."""
    try:
        path = (tree / edit.path).resolve()
        fits = tree in path.parents and ".." not in Path(edit.path).parts and not Path(edit.path).is_absolute()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
        fits = False
    if not fits:
        raise Misconfigured(f"{edit.where}: {edit.path!r} is not a file inside the tree.")
    if path.is_dir() or any(parent.is_file() for parent in path.parents):
        raise Misconfigured(f"{edit.where}: {edit.path!r} is a directory, or a file stands where one is needed.")
    return path


def _edited_content(before: str | None, edit: Edit) -> str | None:
    if edit.replace is None:
        return edit.content
    old, new = edit.replace
    if before is not None and new in before and old not in before.replace(new, ""):
        return before  # done already: the run before this one was interrupted
    if before is None or before.count(old) != 1:
        count = "no" if before is None or old not in before else f"{before.count(old)} times the"
        raise Misconfigured(f"{edit.where}: '{edit.path}' has {count} text {old!r}.")
    return before.replace(old, new)


def _write(path: Path, content: str | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))


SPEC = BackendSpec(build)
"""The description of this backend: it follows a file and needs no program."""
