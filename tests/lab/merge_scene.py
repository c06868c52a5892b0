"""A pull request right before its merge."""

from __future__ import annotations

from dataclasses import dataclass, field

from branch_scene import push
from engine import OWNER, REPOSITORY, Engine

from shared.loop.polling_loop import Loop

SCRIPT = """
- call: review
  answer:
    verdict: approved
    summary: It greets.
    findings: []
    criteria: [{id: AC1, met: true, note: read}]
    breaking_change: {breaks: false, why: ""}

- call: check_criteria
  answer: {criteria: [{id: AC1, met: true, note: read}]}
"""


@dataclass
class Change:
    """A person's pull request, and what the reviewer asks of the server after its verdict on it."""

    engine: Engine
    number: int
    branch: str
    head: str
    asked: list[str] = field(default_factory=list)
    struck: bool = False

    @property
    def merged(self) -> bool:
        return self.engine.lab.at(REPOSITORY).pulls.require(self.number).merged_at is not None

    @property
    def merges(self) -> int:
        """Number of times that a merge was requested."""
        return sum(one.startswith("PUT ") and one.endswith("/merge") for one in self.asked)

    @property
    def pushes(self) -> int:
        """Number of pushes that were sent."""
        return sum(one.endswith("POST /ada/directory.git/git-receive-pack") for one in self.asked)


async def opened(engine: Engine, name: str, text: str = "Read me.\n") -> Change:
    """Open a pull request from a branch of the repository as the owner, and ask for a review."""
    here = engine.lab.at(REPOSITORY)
    base = await here.bare.sha("refs/heads/main")
    assert base is not None
    head = await push(engine, name, {f"{name}.md": text}, on=base)
    await engine.lab.idle()
    thread = here.issues.open(OWNER, f"Add {name}", "It adds a page.", is_pull=True)
    here.pulls.open(thread, (name, head), ("main", base), draft=False)
    engine.lab.label(REPOSITORY, thread.number, "status:reviewing", actor=OWNER)
    return Change(engine, thread.number, name, head)


async def looks(engine: Engine, reviewer: Loop, ticks: int = 3) -> None:
    for _ in range(ticks):
        await engine.tick(reviewer)
        engine.lab.clock.advance(2)
