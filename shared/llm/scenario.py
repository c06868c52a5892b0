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

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from shared.errors import Misconfigured
from shared.llm import recording
from shared.llm.answer import ScriptedAnswer
from shared.llm.port import Request
from shared.llm.scenario_file import answers_of


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
