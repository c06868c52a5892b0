"""Quality commands: those that are clean on the base bind, and only what they find is mended by another role."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from worker_scene import TESTS, branch, calls, fence, labels, once, pulls, status

pytestmark = pytest.mark.long

CLEAN = "sh -c '! grep -rn FIXME directory'"
RED_ON_THE_BASE = "grep -rn FIXME directory"

SLOPPY = """
- call: implement
  edits: [{path: directory/greeting.py, content: "def greet(name):  # FIXME\\n    return f'Hello, {name}'\\n"}]
"""
BREAKS_FIRST = """
- call: refactor
  for: quality
  edits: [{path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}]
- call: refactor
  for: quality
  retry: 1
  edits: [{path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}]
"""
NEVER = """
- call: refactor
  for: quality
  retry: any
  edits: [{path: directory/greeting.py, content: "def greet(name):  # FIXME!\\n    return f'Hello, {name}'\\n"}]
"""
FIX = """
- call: fix_ci
  edits:
    - path: directory/greeting.py
      replace: {old: "def greet(name):", new: "GREETS = True  # FIXME\\n\\n\\ndef greet(name):"}
"""
TIDY = """
- call: refactor
  for: quality
  edits: [{path: directory/greeting.py, replace: {old: "  # FIXME", new: ""}}]
"""
NEAT = """
- call: implement
  edits: [{path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}]
"""


async def test_what_only_quality_commands_find_is_cleaned_up_without_an_attempt(engine: Engine) -> None:
    engine.repository_settings["quality_commands"] = (CLEAN, RED_ON_THE_BASE, "no-such-linter .")
    engine.script(TESTS + SLOPPY + BREAKS_FIRST)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:reviewing"}
    assert (await fence(engine, number)).attempt == 1
    assert (calls(engine, "implement"), calls(engine, "refactor")) == (1, 2)
    (pull,) = pulls(engine)
    bare = engine.lab.at(REPOSITORY).bare
    assert "FIXME" not in (await bare.git.run("show", f"{pull.head_sha}:directory/greeting.py")).text
    body = engine.issue(pull.number).body or ""
    assert f"- Linters: `{CLEAN}`: clean" in body
    assert f"- Linters: `{RED_ON_THE_BASE}`: not clean on the base, so it does not bind" in body
    assert "- Linters: `no-such-linter .`: not clean on the base" in body


async def test_what_stays_red_goes_to_a_person_with_what_was_found(engine: Engine) -> None:
    engine.repository_settings["quality_commands"] = (CLEAN,)
    engine.script(TESTS + SLOPPY + NEVER)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert "quality commands find faults after 3 tries" in status(engine, number)
    (patch,) = engine.directory.glob("machine-1/kept/*/issue-*/*/patch.diff")
    assert "def greet(name):  # FIXME!" in patch.read_text()
    assert f"{patch.parent.name}/patch.diff" in status(engine, number)
    assert await branch(engine, number) is None
    assert (await fence(engine, number)).attempt == 0


async def test_a_repair_of_ci_is_cleaned_up_too(engine: Engine) -> None:
    engine.repository_settings["quality_commands"] = (CLEAN,)
    engine.script(TESTS + NEAT + FIX + TIDY, ci="grep -q GREETS directory/greeting.py")
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == {"status:reviewing"}
    (pull,) = pulls(engine)
    shown = (await engine.lab.at(REPOSITORY).bare.git.run("show", f"{pull.head_sha}:directory/greeting.py")).text
    assert "GREETS" in shown
    assert "FIXME" not in shown
