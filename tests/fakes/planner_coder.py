"""A backend for tests of the planner, and the plan that it answers by default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from shared.llm.port import Ending, Request, RunOutcome

PLAN: dict[str, Any] = {
    "summary": "Find users by a part of the name.",
    "complexity": "low",
    "estimate_hours": 2,
    "steps": [
        {"id": "s1", "title": "Write tests", "files": ["tests/test_search.py"], "depends_on": []},
        {"id": "s2", "title": "Search", "files": ["directory/search.py"], "depends_on": ["s1"]},
    ],
    "ambiguities": [],
    "options": [{"title": "A function", "tradeoff": "Linear in the users.", "chosen": True}],
    "specifications": [
        {
            "key": "export",
            "title": "Export the search",
            "goal": "Callers find the search in the package.",
            "criteria": ["directory.search_users exists."],
            "depends_on": ["search"],
        },
        {
            "key": "search",
            "title": "Search users by name",
            "goal": "A caller finds all users whose name contains a text.",
            "criteria": ["Case is ignored.", "A blank text finds nobody."],
            "files": ["directory/search.py"],
        },
    ],
}


def plan(**changes: Any) -> dict[str, Any]:
    """The answer of a well-behaved backend, with changes at its top level."""
    return deepcopy(PLAN) | changes


def question(text: str = "Which field?") -> dict[str, Any]:
    """A blocking ambiguity."""
    return {"question": text, "assumption": "The name.", "blocking": True}


@dataclass
class Coder:
    """Gives the answers in order, the last one for ever, and keeps what it was asked."""

    answers: list[Mapping[str, Any] | str | RunOutcome] = field(default_factory=lambda: [plan()])
    asked: list[Request] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name, as configured."""
        return "fake"

    async def run(self, request: Request) -> RunOutcome:
        """The next answer; text stands for an answer that is no JSON."""
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, RunOutcome):
            return answer
        if isinstance(answer, str):
            return RunOutcome(Ending.MALFORMED, answer)
        return RunOutcome(Ending.COMPLETED, answer=json.loads(json.dumps(answer)))
