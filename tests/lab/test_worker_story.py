"""The worker on a whole GitHub: real HTTP, real git, real tests, a scripted coder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine import REPOSITORY, Engine
from judge import Judge
from lab.server import Lab
from shared.workflow import Role, Stage

SCENARIO = Path(__file__).parents[2] / "lab" / "scenarios" / "user_search.yml"

BODY = """\
## Acceptance criteria
- [ ] AC1: search_users(directory, text) returns the users whose name contains the text, ignoring case.
- [ ] AC2: The users come in the order of the directory.
- [ ] AC3: A blank text finds nobody.
"""


@pytest.fixture
async def engine(tmp_path: Path, judge: Judge) -> AsyncIterator[Engine]:
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        async with Engine.of(lab, tmp_path, SCENARIO) as engine:
            yield engine
        assert lab.unlisted == []
        assert lab.faults.unused == []
    assert judge.complaints == []
    assert judge.judged > 0


async def test_a_hand_labelled_issue_becomes_a_green_pull_request(engine: Engine) -> None:
    number = engine.ready("Search users by name", BODY)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: "status:reviewing" in engine.issue(number).labels, worker)
        (pull,) = engine.lab.at(REPOSITORY).pulls.opened_onto("main")
        assert engine.issue(pull.number).labels and {"status:reviewing", "automated"} <= set(engine.issue(pull.number).labels)
        fence = await engine.fence(Role.WORKER, number)
    assert fence is not None
    assert fence.stage is Stage.REVIEWING
    assert fence.attempt == 2
