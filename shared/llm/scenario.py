"""A scenario: a YAML list of answers, each for one call of a coding backend.

    - call: implement            # write_tests implement refactor fix_ci resolve_conflict
                                 # summarise plan triage answer review check_criteria diagnose
      for: user search           # a part of the title, in any case; left out: every title
      attempt: 1                 # number or `any`; the defaults are attempt 1, round 0, retry 0
      takes: 2                   # seconds, on the engine's clock
      edits:                     # calls that edit
        - {path: src/search.py, content: "..."}
        - {path: src/app.py, replace: {old: "...", new: "..."}}
        - {path: src/old.py, delete: true}
      text: what the backend says
    - call: plan
      answer: {steps: []}        # calls that read: the JSON answer
    - call: review
      fails: transient           # any ending but `completed`; alone: always
      times: 2                   # fails twice, then answers
      answer: {verdict: approved}

Which entry answers depends on the request alone, so a restarted agent gets the same one again. An
entry with `for` goes before one without, then the one with fewer `any`; a tie is an error.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import yaml

from shared.errors import Misconfigured
from shared.llm import recording
from shared.llm.answer import ANY, Edit, ScriptedAnswer
from shared.llm.port import CoderCall, Ending, Request


class Unscripted(Misconfigured):
    """The scenario has no answer, or several, for a call."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The answers of one file; `digest` identifies this version of it."""

    source: str
    digest: str
    answers: tuple[ScriptedAnswer, ...]

    @classmethod
    def load(cls, path: Path) -> Scenario:
        """Read a scenario file, or a directory of recordings; raise `Misconfigured` with the place of every fault."""
        if path.is_dir():
            return cls.parse(recording.scenario(recording.exchanges(path)), str(path))
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise Misconfigured(f"The scenario {path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise Misconfigured(f"The scenario {path} is not UTF-8: byte {error.start}.") from error
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, source: str = "scenario") -> Scenario:
        """Parse the text of a scenario, like `load`; `source` is its name in messages."""
        return cls(source, hashlib.sha256(text.encode()).hexdigest()[:8], answers_of(text, source))

    def answer_to(self, request: Request) -> ScriptedAnswer:
        """Return the one entry for `request`; raise `Unscripted` if there is none or no single best one."""
        fitting = [answer for answer in self.answers if answer.matches(request)]
        if not fitting:
            raise Unscripted(f"{self.source} has no answer for this call; add for example:\n{stub(request)}")
        precision = max(answer.precision for answer in fitting)
        best = [answer for answer in fitting if answer.precision == precision]
        if len(best) > 1:
            listed = "\n".join(f"  {answer}" for answer in best)
            raise Unscripted(f"{len(best)} answers fit {request.call} for '{request.title}' equally well:\n{listed}")
        return best[0]


def stub(request: Request) -> str:
    """Return a YAML entry that would answer `request`, to be pasted into a scenario and filled in."""
    shown = [f"- call: {request.call}", f"  for: {json.dumps(request.title, ensure_ascii=False)}"]
    counters = (("attempt", request.attempt, 1), ("round", request.round, 0), ("retry", request.retry, 0))
    shown += [f"  {name}: {value}" for name, value, default in counters if value != default]
    edits = ["  edits:", "    - path: FILE", "      content: |", "        TEXT"]
    return "\n".join(shown + (edits if request.call.edits else ["  answer: {}"]))


T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

_KEYS = (
    *("call", "for", "attempt", "round", "retry", "times", "takes"),
    *("edits", "answer", "text", "fails"),
)
_EDIT_KEYS = ("path", "content", "replace", "delete")
_REPLACE_KEYS = ("old", "new")


def answers_of(text: str, source: str) -> tuple[ScriptedAnswer, ...]:
    """Return the answers that `text` lists; raise `Misconfigured` with every fault found."""
    try:
        reader = _Reader(source, yaml.SafeLoader(text))
        answers = tuple(reader.answers(reader.loader.get_single_node()))
    except RecursionError as error:
        raise Misconfigured(f"{source} is nested too deeply.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Misconfigured(f"{_place(source, mark)}: {error.problem or error.context}.") from error
    except yaml.YAMLError as error:
        raise Misconfigured(f"{source}: {' '.join(str(error).split())}.") from error
    faults = reader.faults + list(_rivals(answers))
    if faults:
        raise Misconfigured("\n".join(faults))
    return answers


def _place(source: str, mark: yaml.Mark | None) -> str:
    return f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source


def _rivals(answers: tuple[ScriptedAnswer, ...]) -> Iterator[str]:
    first: dict[tuple[object, ...], ScriptedAnswer] = {}
    for answer in answers:
        other = first.setdefault(answer.subject, answer)
        if other is not answer:
            yield f"{answer.where}: the answer at {other.where} is meant for the same calls."


Fields = dict[str, yaml.Node]


@dataclass(slots=True)
class _Reader:
    """Reads nodes and collects faults; a fault yields None, so that the reading goes on."""

    source: str
    loader: yaml.SafeLoader
    faults: list[str] = field(default_factory=list)

    def answers(self, root: yaml.Node | None) -> Iterator[ScriptedAnswer]:
        if not isinstance(root, yaml.SequenceNode):
            self._fault(root, "a scenario is a list of answers, each with a `call`")
            return
        for node in root.value:
            fields = self._fields(node, _KEYS)
            before = len(self.faults)
            answer = self._answer(node, fields) if fields is not None else None
            if answer and len(self.faults) == before:
                yield answer

    def _answer(self, node: yaml.Node, fields: Fields) -> ScriptedAnswer | None:
        call = self._get(fields, "call", lambda n: self._word(n, CoderCall), None)
        if call is None:
            if "call" not in fields:
                self._fault(node, "`call` is missing")
            return None
        times = 1 if {"edits", "answer"} & fields.keys() else None  # without an answer it fails every time
        answer = ScriptedAnswer(
            call=call,
            where=_place(self.source, node.start_mark),
            part=self._get(fields, "for", self._text, ""),
            attempt=self._counter(fields, "attempt", first=1),
            round=self._counter(fields, "round", first=0),
            retry=self._counter(fields, "retry", first=0),
            takes_seconds=self._get(fields, "takes", self._seconds, 0.0),
            edits=self._get(fields, "edits", self._edits, ()),
            answer=self._get(fields, "answer", self._json, None),
            text=self._get(fields, "text", self._text, ""),
            fails=self._get(fields, "fails", lambda n: self._word(n, Ending), None),
            times=self._get(fields, "times", lambda n: self._number(n, least=1), times),
        )
        for fault in _contradictions(answer, fields):
            self._fault(node, fault)
        return answer

    def _edits(self, node: yaml.Node) -> tuple[Edit, ...]:
        if not isinstance(node, yaml.SequenceNode):
            self._fault(node, "`edits` is a list")
            return ()
        edits = (self._edit(entry, self._fields(entry, _EDIT_KEYS)) for entry in node.value)
        return tuple(edit for edit in edits if edit)

    def _edit(self, node: yaml.Node, fields: Fields | None) -> Edit | None:
        if fields is None:
            return None
        if "path" not in fields or len(fields) != 2:
            self._fault(node, "an edit has a `path` and one of `content`, `replace` and `delete: true`")
            return None
        path = self._text(fields["path"])
        replace = self._get(fields, "replace", self._replace, None)
        content = self._get(fields, "content", self._text, None)
        self._get(fields, "delete", self._true, False)
        place = _place(self.source, node.start_mark)
        return Edit(path, place, content, replace) if path else None

    def _replace(self, node: yaml.Node) -> tuple[str, str] | None:
        fields = self._fields(node, _REPLACE_KEYS)
        if fields is None or len(fields) != 2:
            self._fault(node, "`replace` has `old` and `new`")
            return None
        old, new = self._text(fields["old"]), self._text(fields["new"])
        if not old or old == new:
            self._fault(node, "`old` is empty or the same as `new`")
        return old, new

    def _fields(self, node: yaml.Node, names: Iterable[str]) -> Fields | None:
        if not isinstance(node, yaml.MappingNode):
            self._fault(node, f"here a mapping is expected, with keys such as {', '.join(list(names)[:3])}")
            return None
        fields: Fields = {}
        for key_node, value in node.value:
            key = str(key_node.value)
            if key in fields:
                self._fault(key_node, f"`{key}` stands here twice")
            elif key not in names:
                near = difflib.get_close_matches(key, list(names), 1)
                self._fault(key_node, f"unknown key `{key}`{f'; did you mean `{near[0]}`?' if near else ''}")
            else:
                fields[key] = value
        return fields

    def _get(self, fields: Fields, name: str, read: Callable[[yaml.Node], T], default: T) -> T:
        return read(fields[name]) if name in fields else default

    def _text(self, node: yaml.Node) -> str:
        value = self.loader.construct_object(node, deep=True)
        if not isinstance(value, str):
            self._fault(node, "here a text is expected; put it in quotes")
            return ""
        return value

    def _word(self, node: yaml.Node, words: type[E]) -> E | None:
        word = str(node.value)
        if word in set(words):
            return words(word)
        near = difflib.get_close_matches(word, list(words), 1)
        self._fault(node, f"`{word}` is none of {', '.join(words)}{f'; did you mean `{near[0]}`?' if near else ''}")
        return None

    def _counter(self, fields: Fields, name: str, first: int) -> int | None:
        node = fields.get(name)
        if node is None:
            return first
        return None if node.value == ANY else self._number(node, least=first)

    def _number(self, node: yaml.Node, least: int) -> int:
        value = self.loader.construct_object(node, deep=True)
        if type(value) is not int or value < least:
            self._fault(node, f"here a number from {least} is expected")
            return least
        return value

    def _seconds(self, node: yaml.Node) -> float:
        value = self.loader.construct_object(node, deep=True)
        if type(value) not in {int, float} or not 0 <= value <= 10**6:
            self._fault(node, "here a number of seconds is expected")
            return 0.0
        return float(value)

    def _true(self, node: yaml.Node) -> bool:
        if self.loader.construct_object(node, deep=True) is not True:
            self._fault(node, "`delete` is `true` or left out")
        return True

    def _json(self, node: yaml.Node) -> str | None:
        value: Any = self.loader.construct_object(node, deep=True)
        try:
            if isinstance(value, dict):
                return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            self._fault(node, f"`answer` is not JSON: {error}")
            return None
        self._fault(node, "`answer` is a JSON object")
        return None

    def _fault(self, node: yaml.Node | None, sentence: str) -> None:
        end = "" if sentence.endswith("?") else "."
        self.faults.append(f"{_place(self.source, node.start_mark if node else None)}: {sentence}{end}")


def _contradictions(answer: ScriptedAnswer, fields: Fields) -> Iterator[str]:
    given = fields.keys()
    if answer.fails is Ending.COMPLETED:
        yield "`fails` is an ending other than completed"
    if answer.call.edits and "answer" in given:
        yield f"{answer.call} edits files and has no `answer`"
    if not answer.call.edits and "edits" in given:
        yield f"{answer.call} only reads and has no `edits`"
    if not {"edits", "answer", "text", "fails"} & given:
        yield "nothing is answered: `edits`, `answer`, `text` or `fails` is missing"
    if "times" in given and ("fails" not in given or not {"edits", "answer"} & given):
        yield "`times` says how often the call `fails` before its `edits` or `answer`"
