"""One cycle per criterion: phases in order, one move of the branch, a criterion set aside, another machine."""

from __future__ import annotations

import json

import pytest
from engine import REPOSITORY, Engine
from worker_scene import TESTS, WRONG, branch, calls, eventually, fence, labels, once, pulls

from shared.workflow import Role

pytestmark = pytest.mark.long

BODY = """\
## Acceptance criteria
- [ ] AC1: greet(name) says hello.
- [ ] AC2: Two and two are four.
- [ ] AC3: part(name) says goodbye.
"""

CYCLES = """
- call: write_tests
  for: AC1
  edits:
    - path: tests/test_greet.py
      content: |
        from directory.words import greet


        def test_greet():
            assert greet('Ada') == 'Hello, Ada'
- call: implement
  for: AC1
  edits: [{path: directory/words.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}]
- call: write_tests
  for: AC2
  edits: [{path: tests/test_sum.py, content: "def test_sum():\\n    assert 2 + 2 == 4\\n"}]
- call: write_tests
  for: AC3
  edits:
    - path: tests/test_part.py
      content: |
        from directory.words import part


        def test_part():
            assert part('Ada') == 'Bye, Ada'
"""

PART = "def part(name):\\n    return f'Bye, {name}'\\n"
LAST = f"""
- call: implement
  for: AC3
  edits: [{{path: directory/words.py, content: "def greet(name):\\n    return f'Hello, {{name}}'\\n\\n\\n{PART}"}}]
"""
STUCK = """
- call: implement
  for: AC3
  takes: 600
  edits: []
"""


async def test_each_criterion_has_a_cycle_and_another_machine_goes_on_between_two_phases(engine: Engine) -> None:
    engine.repository_settings["tdd"] = {"cycles": "per-criterion"}
    engine.script(CYCLES + STUCK)
    number = engine.ready("Words", BODY)
    async with engine.agent(Role.WORKER) as first:
        await engine.look(first)
        await eventually(lambda: "AC3" in shown(engine, number))
        waiting = await fence(engine, number)
        assert (waiting.phase, waiting.attempt) == ("green", 0), "attempts are counted for each criterion"
        assert await branch(engine, number) is None, "nothing is published before everything is green"
    engine.script(CYCLES + LAST)
    await once(engine, number, state="machine-2")
    assert calls(engine, "write_tests") == 3, "what the first machine pushed was not paid for again"
    (pull,) = pulls(engine)
    history = await engine.lab.at(REPOSITORY).bare.log(waiting.base, pull.head_sha, 10)
    assert [commit.message.splitlines()[0] for commit in history] == [
        "Implement Words (AC3)",
        "Add tests for Words (AC3)",
        "Implement Words (AC1)",
        "Add tests for Words (AC1)",
    ]
    assert len(engine.lab.at(REPOSITORY).checks.of(pull.head_sha)) == 1
    assert "flag:problematic-test" in labels(engine, number)
    body = engine.issue(pull.number).body or ""
    rows = {line.split("|")[1].strip()[:3]: line for line in body.splitlines() if line.startswith("| AC")}
    assert "| `tests/test_greet.py::test_greet` |" in rows["AC1"]
    assert "| `tests/test_part.py::test_part` |" in rows["AC3"]
    assert rows["AC2"].endswith("| no test: none proved it | | |")
    assert "TEST_UNEXPECTED_PASS" in body


async def test_the_last_criterion_is_set_aside_and_what_is_green_goes_on(engine: Engine) -> None:
    engine.repository_settings["tdd"] = {"cycles": "per-criterion"}
    engine.script(CYCLES)
    number = engine.ready("Words", BODY.replace("- [ ] AC3: part(name) says goodbye.\n", ""))
    await once(engine, number)
    (pull,) = pulls(engine)
    assert pull.head_sha == await branch(engine, number)
    body = engine.issue(pull.number).body or ""
    assert [line for line in body.splitlines() if "| no test: none proved it |" in line and line.startswith("| AC2")]
    assert labels(engine, number) == {"status:reviewing", "flag:problematic-test"}


async def test_nothing_is_built_when_every_criterion_is_set_aside(engine: Engine) -> None:
    engine.repository_settings["tdd"] = {"cycles": "per-criterion"}
    engine.script(CYCLES.replace("for: AC1", "for: AC9").replace("for: AC2", "for: Numbers"))
    number = engine.ready("Numbers", BODY.replace("- [ ] AC3: part(name) says goodbye.\n", ""))
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:problematic-test"}
    assert calls(engine, "implement") == 0
    assert not list(pulls(engine))


async def test_every_rollback_stands_in_the_note_of_the_commit_that_is_gone_back_to(engine: Engine) -> None:
    engine.script(TESTS + WRONG)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    red = (await fence(engine, number)).work_head
    git = engine.lab.at(REPOSITORY).bare.git
    note = json.loads((await git.run("notes", f"--ref=refs/notes/workflow/issue-{number}", "show", red)).text)
    assert (note["phase"], note["next_phase"]) == ("red", "green")
    assert [error["message"] for error in note["rolled_back"]] == [
        f"implementation {attempt} was refused and rolled back" for attempt in (1, 2, 3)
    ]
    for error in note["rolled_back"]:
        assert (error["type"], error["retry_count"]) == ("IMPLEMENTATION_FAILED", 1)
        assert "tests/test_greeting.py::test_greets" in error["details"]
        assert error["timestamp"]


def shown(engine: Engine, number: int) -> str:
    """Return the status comment; empty if there is none."""
    found = [one.body for one in engine.lab.at(REPOSITORY).comments.of(number) if "engine-status" in one.body]
    return found[0] if found else ""
