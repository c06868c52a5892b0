"""A CI that fails by its own workflow file: repaired where that is configured, for a person otherwise, merged never."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from git_remote import commit_to
from worker_scene import CODE, TESTS, branch, labels, once, pulls, status

from reviewer_agent.review import patch
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

PATH = ".github/workflows/ci.yml"
BROKEN = f"""sh -c '
grep -q "^on:" {PATH} && exit 0
echo "##[error]{PATH} (Line: 1, Col: 1): Unexpected value oops"; exit 1'"""

FIX = f"""
- call: fix_ci
  attempt: any
  edits: [{{path: {PATH}, content: "on: push\\n"}}]
- call: implement
  round: 1
  edits:
    - {{path: directory/greeting.py, replace: {{old: "def greet", new: "# greets\\ndef greet"}}}}
"""


@pytest.fixture
async def engine(engine: Engine) -> Engine:
    """Return an engine whose workflow file is broken, and a coder that repairs it."""
    bare = engine.lab.at(REPOSITORY).bare
    tip = await bare.sha("refs/heads/main")
    async with bare.changing(OWNER):
        await commit_to(bare, "main", {PATH: "oops: push\n"}, parent=tip)
    engine.script(TESTS + CODE + FIX, ci=BROKEN)
    return engine


async def test_it_is_repaired_where_that_is_configured_and_a_person_merges_it(engine: Engine) -> None:
    engine.repository_settings["ci"] = {"may_edit_workflows": True}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
        bare = engine.lab.at(REPOSITORY).bare
        assert await bare.read(str(await branch(engine, number)), PATH) == b"on: push\n"
        assert await bare.read("refs/heads/main", PATH) == b"oops: push\n"
        (pull,) = pulls(engine)
        diff = await bare.diff("refs/heads/main", str(await branch(engine, number)))
        assert patch.read(diff, 10**6).sensitive == (PATH,), "for which the reviewer leaves the merge to a person"
        engine.lab.comment(REPOSITORY, pull.number, "Say what it does.", author=OWNER)
        engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 2, worker)
        assert worker.ended[1].result is Result.HANDED_OVER, "a later round may keep what is repaired"
    assert b"# greets" in (await bare.read(str(await branch(engine, number)), "directory/greeting.py") or b"")


async def test_it_is_left_to_a_person_without_the_key(engine: Engine) -> None:
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert labels(engine, number) >= {"flag:manual-intervention"}
    assert f"`{PATH}`: Only a person may change this file." in status(engine, number)
    tip = str(await branch(engine, number))
    assert await engine.lab.at(REPOSITORY).bare.read(tip, PATH) == b"oops: push\n"
