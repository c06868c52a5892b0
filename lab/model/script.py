"""The answers of a scripted model: for each kind of request a list of turns, as data or as YAML.

    - for: user search              # a part of the request's text; left out: every request
      turns:
        - say: I will write the file.
          tools:
            - {name: Write, input: {file_path: "{cwd}/hello.py", content: "..."}}
        - trouble: {kind: status, status: 529, times: 2}   # twice, then what follows
          say: Done.
          usage: {input: 1000, cached: 300, written: 200, output: 50}
    - for: your plan
      turns:
        - answer: {steps: []}       # by the schema that the request brings

The next turn follows from the request's own history, so that a retried request, a second
session and a proxy in between all get the right one; after the last turn the last is given again.
`{cwd}` in an input stands for the directory that the request names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from shared.errors import Misconfigured


class AnswerFault(StrEnum):
    """Kind of a fault of an answer."""

    STATUS = "status"
    SLOW = "slow"
    SILENT = "silent"
    STALLED = "stalled"
    CUT = "cut"
    MALFORMED = "malformed"
    EMPTY = "empty"


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Trouble(_StrictModel):
    """One fault, `times` times (None: always). `silent` never answers, `stalled` stops in the middle, `cut` ends there.

    `status` answers with `type` and `message` as the vendor words them, `slow` waits `seconds` first.
    """

    kind: AnswerFault
    status: int = 500
    type: str | None = None
    message: str = "scripted trouble"
    retry_after: int | None = None
    seconds: float = 1.0
    times: int | None = None


class Tokens(_StrictModel):
    """Token counts that an answer reports; `searches` are the vendor's own, made while it was written."""

    input: int = 1000
    cached: int = 300
    written: int = 200
    output: int = 50
    searches: int = 0


class Tool(_StrictModel):
    """One tool call; an input that is text is a free-form call, as some tools of OpenAI's take."""

    name: str
    input: dict[str, Any] | str = Field(default_factory=dict)


class Turn(_StrictModel):
    """One answer; `refuses` ends it as a refusal, `cut_off` as one that met its limit of tokens."""

    say: str = ""
    tools: tuple[Tool, ...] = ()
    answer: dict[str, Any] | None = None
    usage: Tokens = Tokens()
    refuses: bool = False
    cut_off: bool = False
    trouble: Trouble | None = None


class Scene(_StrictModel):
    """The turns of the sessions whose first text holds `part`."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    part: str = Field("", alias="for")
    turns: tuple[Turn, ...] = Field(min_length=1)


_SCENES = TypeAdapter(tuple[Scene, ...])


@dataclass(frozen=True, slots=True)
class Script:
    """The scenes, the narrowest of which answers: the one with the longest `for`."""

    scenes: tuple[Scene, ...]

    @classmethod
    def of(cls, *turns: Turn | Mapping[str, Any]) -> Script:
        """The same turns for every session."""
        return cls.read([{"turns": [turn.model_dump() if isinstance(turn, Turn) else turn for turn in turns]}])

    @classmethod
    def read(cls, scenes: Iterable[Mapping[str, Any]], source: str = "script") -> Script:
        """Scenes as data; raises `Misconfigured` naming every fault and its place."""
        try:
            return cls(_SCENES.validate_python(tuple(scenes)))
        except (ValidationError, TypeError) as error:
            raise Misconfigured(f"{source}: {_faults(error)}") from None

    @classmethod
    def load(cls, path: Path) -> Script:
        """A YAML file; raises `Misconfigured`."""
        try:
            return cls.read(yaml.safe_load(path.read_text("utf-8")) or (), str(path))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise Misconfigured(f"The script {path} cannot be read: {error}") from None

    def scene(self, text: str) -> Scene | None:
        """The scene for a session that begins with `text`."""
        fitting = [scene for scene in self.scenes if scene.part.casefold() in text.casefold()]
        return max(fitting, key=lambda scene: len(scene.part), default=None)


def _faults(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "a script is a list of scenes, each with `turns`"
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The common parts of all vendors' requests: the session's first text, its directory, its next turn."""

    text: str
    cwd: str
    turn: int
    stream: bool

    def placed(self, turn: Turn) -> Turn:
        """`turn` with `{cwd}` filled in."""
        tools = tuple(tool.model_copy(update={"input": _fill_in(tool.input, self.cwd)}) for tool in turn.tools)
        return turn.model_copy(update={"tools": tools})


def turn_of(ids: Iterable[str], answers: int) -> int:
    """Return the next turn of a session: one after the newest turn that our `ids` name, or as many as were `said`."""
    turns = [int(parts[2]) for parts in (text.split("_") for text in ids) if _is_ours(parts)]
    return max(*turns, answers - 1, -1, -1) + 1


def call_id(prefix: str, turn: int, number: int) -> str:
    """The id of a tool call; it carries the turn through the session's history."""
    return f"{prefix}_lab_{turn}_{number}"


def directory_in(text: str, pattern: re.Pattern[str]) -> str:
    """The working directory that a session names: the first group of the pattern, or `.`."""
    found = pattern.search(text)
    return found[1].strip() if found else "."


def event(data: Mapping[str, Any]) -> bytes:
    """A server-sent event that bears its data's type."""
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def _is_ours(parts: Sequence[str]) -> bool:
    return len(parts) == 4 and parts[1] == "lab" and parts[2].isdigit()


def _fill_in(value: Any, cwd: str) -> Any:
    if isinstance(value, str):
        return value.replace("{cwd}", cwd)
    if isinstance(value, dict):
        return {key: _fill_in(part, cwd) for key, part in value.items()}
    return [_fill_in(part, cwd) for part in value] if isinstance(value, list) else value
