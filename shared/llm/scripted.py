"""The scripted backend: answers come from a scenario, edits are real, time is the engine's clock."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from shared.clock import Clock
from shared.errors import Misconfigured
from shared.llm.answer import Answer, Edit
from shared.llm.port import Coder, Ending, Outcome, Request, Usage
from shared.llm.scenario import Scenario
from shared.llm.setup import Setup

_FREE = Usage(cost_usd=0.0, cost_source="scripted")


@dataclass(slots=True)
class Scripted:
    """A coder that does what its scenario says, the same for the same request, in every process.

    With a directory `used`, each answer that was given leaves one file there, so that several
    processes and a restarted one know of each other's.
    """

    scenario: Scenario
    clock: Clock
    used: Path | None = None
    _given: set[str] = field(default_factory=set, init=False, repr=False)

    @property
    def name(self) -> str:
        """The configured word."""
        return "scripted"

    async def run(self, request: Request) -> Outcome:
        """Give the answer to `request`.

        Raises `Unscripted` when the scenario has none, and `Misconfigured` when an edit does not
        fit the tree or would leave it; then nothing is edited.
        """
        answer = self.scenario.answer_to(request)
        writes = _planned(request, answer)
        self._record(answer)
        deadline = request.limits.deadline_seconds
        if answer.takes_seconds > deadline:
            await self.clock.sleep(deadline)
            return Outcome(Ending.TIMED_OUT, usage=_FREE)
        if answer.takes_seconds:
            await self.clock.sleep(answer.takes_seconds)
        for path, content in writes.items():
            _write(path, content)
        return _outcome(answer)

    def unread(self) -> tuple[str, ...]:
        """The answers that were never given, one line each."""
        return tuple(str(answer) for answer in self.scenario.answers if not self._was_given(answer))

    def _record(self, answer: Answer) -> None:
        self._given.add(answer.where)
        if self.used is not None:
            self.used.mkdir(parents=True, exist_ok=True)
            self._trace(self.used, answer).write_text(f"{answer}\n", "utf-8")

    def _was_given(self, answer: Answer) -> bool:
        return answer.where in self._given or (self.used is not None and self._trace(self.used, answer).exists())

    def _trace(self, directory: Path, answer: Answer) -> Path:
        return directory / f"{self.scenario.digest}-{self.scenario.answers.index(answer):04d}-{answer.call}"


def build(setup: Setup) -> Coder:
    """The backend for the configured scenario; raises `Misconfigured` without one."""
    if setup.scenario is None:
        raise Misconfigured("The scripted backend needs a scenario: set llm.scenario to the path of its YAML file.")
    return Scripted(Scenario.load(setup.scenario), setup.clock, setup.used)


def _outcome(answer: Answer) -> Outcome:
    if answer.fails is not None:
        return Outcome(answer.fails, answer.text or f"scripted: {answer.fails}", usage=_FREE)
    structured = None if answer.answer is None else json.loads(answer.answer)
    return Outcome(Ending.COMPLETED, answer.text or answer.answer or "", structured, _FREE)


def _planned(request: Request, answer: Answer) -> dict[Path, str | None]:
    """What each file will hold, None for no file; raises before anything is written."""
    if not answer.edits:
        return {}
    if request.tree is None:
        raise Misconfigured(f"{answer.where}: the call has no tree to edit.")
    planned: dict[Path, str | None] = {}
    for edit in answer.edits:
        path = _inside(request.tree.resolve(), edit)
        before = planned[path] if path in planned else _content(path, edit)
        planned[path] = _after(before, edit)
    return planned


def _inside(tree: Path, edit: Edit) -> Path:
    parts = Path(edit.path).parts
    path = (tree / edit.path).resolve()
    if "\0" in edit.path or Path(edit.path).is_absolute() or ".." in parts or tree not in path.parents:
        raise Misconfigured(f"{edit.where}: '{edit.path}' is not a file inside the tree.")
    return path


def _content(path: Path, edit: Edit) -> str | None:
    if path.is_dir():
        raise Misconfigured(f"{edit.where}: '{edit.path}' is a directory.")
    return path.read_bytes().decode("utf-8") if path.exists() and edit.replace else None


def _after(before: str | None, edit: Edit) -> str | None:
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
    path.write_bytes(content.encode("utf-8"))
