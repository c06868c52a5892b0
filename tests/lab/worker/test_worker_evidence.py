"""The evidence of a pull request is that of the head which stands there, also after repairs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from engine import OWNER, REPOSITORY, Engine
from project_pytest import ALONE
from worker_scene import CODE, REVIEW, TESTS, WRONG, calls, fence, labels, once, pulls

from lab.github.server import CHECK_NAME
from shared.git import proof_claim
from shared.text.comment_signatures import Keyring
from shared.workflow import Role

FIX = """
- call: fix_ci
  attempt: any
  edits:
    - {{path: directory/greeting.py, content: "def greet(name):\\n    return {}\\n"}}
"""
HONEST = "'Hello, ' + name"
UNTESTED = "'Hello, ' + name\\n\\n\\ndef shout(name):\\n    return name.upper()"
"""A repair that brings more than anybody tests."""
OURS = "grep -q f.Hello directory/greeting.py && { echo 'directory/greeting.py:1: error: no f-strings'; exit 1; }; true"


async def repaired(engine: Engine, code: str) -> tuple[proof_claim.Claim, str, int]:
    """Run a repair of CI; return the claim of the pull request that is handed over, its body, and the issue."""
    engine.script(TESTS + CODE + FIX.format(code) + REVIEW)
    engine.repository_settings |= {"refactor": "off"}
    engine.ci.jobs = {CHECK_NAME: OURS}
    number = engine.ready("Greet people", "## Acceptance criteria\n- [ ] AC1: greet(name) greets.")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    (pull,) = pulls(engine)
    body = engine.lab.at(REPOSITORY).issues.require(pull.number).body or ""
    assert calls(engine, "fix_ci") == 1
    return proof_claim.read(body, Keyring(0))[0], body, number


@pytest.mark.long
async def test_after_a_repair_the_claim_is_about_the_new_head(engine: Engine) -> None:
    claim, body, number = await repaired(engine, HONEST)
    assert claim.head == (await fence(engine, number)).work_head
    assert claim.tests == {"tests/test_greeting.py::test_greets": "not collected"}
    assert claim.proof is not None
    assert (claim.proof.noticed > 0, claim.proof.doubts) == (True, ())
    assert f"at {claim.head[:7]}" in body
    assert body.count("## Tests") == body.count("engine-claim/") == 1


DOCUMENTED = """
- call: fix_ci
  attempt: any
  edits:
    - path: directory/greeting.py
      content: |
        def greet(name):
            \"\"\"A friendly word.\"\"\"
            return f'Hello, {name}'
"""
UNDOCUMENTED = "grep -q friendly directory/greeting.py || { echo 'greeting.py:1: no docstring'; exit 1; }"


@pytest.mark.long
async def test_a_repair_that_only_documents_keeps_the_proof(engine: Engine, tmp_path: Path) -> None:
    runs, python = tmp_path / "runs", tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho >> {shlex.quote(str(runs))}\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o700)
    engine.repository_settings |= {
        "refactor": "off",
        "test_command": f"{ALONE} {shlex.quote(str(python))} -m pytest -q",
    }
    engine.script(TESTS + CODE + DOCUMENTED + REVIEW)
    engine.ci.jobs = {CHECK_NAME: UNDOCUMENTED}
    number = engine.ready("Greet people", "## Acceptance criteria\n- [ ] AC1: greet(name) greets.")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(pulls(engine)), worker)
        proved, first = runs.read_text().count("\n"), (await fence(engine, number)).work_head
        await engine.until(lambda: bool(worker.ended), worker)
    (pull,) = pulls(engine)
    claim, _ = proof_claim.read(engine.lab.at(REPOSITORY).issues.require(pull.number).body or "", Keyring(0))
    assert claim.head == (await fence(engine, number)).work_head != first
    assert claim.tests == {"tests/test_greeting.py::test_greets": "not collected"}
    assert claim.proof is not None
    assert claim.proof.damages == claim.proof.noticed > 0, "what was noticed once is noticed still"
    assert proved > 3
    assert runs.read_text().count("\n") == proved + 2, "before the repair, and after it"


@pytest.mark.long
async def test_what_a_repair_brings_untested_is_asked_about(engine: Engine) -> None:
    claim, body, number = await repaired(engine, UNTESTED)
    assert claim.head == (await fence(engine, number)).work_head
    assert claim.proof is not None
    (doubt,) = claim.proof.doubts
    assert doubt.startswith("directory/greeting.py::shout: it is new, and no test")
    assert "Please decide" in body


@pytest.mark.long
async def test_an_attempt_that_retry_makes_once_more_is_not_listed_twice_under_one_name(engine: Engine) -> None:
    engine.repository_settings |= {"max_attempts": 1}
    engine.script(TESTS + WRONG)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert "status:failed" in labels(engine, number)
    for coder in (TESTS + WRONG, TESTS + CODE):
        engine.script(coder)
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, number, "/retry", author=OWNER)
        await once(engine, number)
    (pull,) = pulls(engine)
    body = engine.lab.at(REPOSITORY).issues.require(pull.number).body or ""
    assert [body.count(f"- `Implementation 1{again} was refused") for again in ("", " (2nd time)", " (3rd time)")] == [
        1,
        1,
        0,
    ]
