"""A world in which something happens right before any one of the reviewer's calls to the outside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from fakes.reviewer_forge import FakeSource, forge_of, reviewer
from fakes.reviewer_world import BASE, World, answer
from reviewer_agent.agent import Reviewer
from reviewer_agent.merge.merge_turns import REF, MergeTurn
from shared.ci.verdict import CiVerdict


@dataclass
class Calls:
    """The calls after the verdict, as `part.verb`; before the one numbered `at` (from 1), `deed` happens once."""

    deed: Callable[[], object] = field(default=lambda: None)
    at: int = 0
    made: list[str] = field(default_factory=list)
    begun: bool = False

    def pass_by(self, name: str) -> None:
        """A call is about to be made."""
        if self.begun:
            self.made.append(name)
            if len(self.made) == self.at:
                self.deed()
        self.begun = self.begun or name == "reviews.submit"

    @property
    def after(self) -> list[str]:
        """The calls from the struck one on."""
        return self.made[self.at - 1 :]


class Watched:
    """A port whose calls pass by `calls` first."""

    def __init__(self, part: str, port: Any, calls: Calls) -> None:
        self._part, self._port, self._calls = part, port, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def passing(*args: Any, **kwargs: Any) -> Any:
            told = f" {args[0][:4]}" if name == "of" and isinstance(args[0], str) else ""
            self._calls.pass_by(f"{self._part}.{name}{told}")
            return await found(*args, **kwargs)

        return passing


def watched(world: World, calls: Calls, **policy: Any) -> Reviewer:
    """A reviewer all of whose calls but those about its lease pass by `calls`."""
    forge = forge_of(world)
    parts = {part.name: Watched(part.name, getattr(forge, part.name), calls) for part in fields(forge)}
    source = Watched("source", FakeSource(world), calls)
    return reviewer(world, forge=type(forge)(**parts), source=source, **policy)  # type: ignore[arg-type]


def opened() -> World:
    """One approval away from a merge, if the policy allows."""
    return World(answers=[answer()], tips={"refs/heads/main": BASE, "refs/heads/gone": BASE})


def turn_of(world: World, number: int = 58, *, tip: str = BASE, checks: CiVerdict = CiVerdict.GREEN) -> None:
    """Another reviewer has taken the turn for another pull request."""
    world.turns[REF] = "1" * 40, MergeTurn(number, "main", tip, checks, world.now).write("n")
