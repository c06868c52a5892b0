"""`verify owner/repo#N` on a whole GitHub: what the worker claims is true, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from engine import ENGINE, REPOSITORY, WRITES, Engine
from project_pytest import PYTEST_ALONE
from worker_scene import CODE, TESTS, comments, once, pulls

from console.verify.command import VerifyOptions, verified
from shared.git import proof_claim
from shared.git.proof_claim import NoClaim
from shared.text.comment_signatures import Keyring
from worker_agent.tdd import claim_writing

pytestmark = pytest.mark.long

NO_KEYS = Keyring(0)


LIES: tuple[tuple[dict[str, Any], dict[str, str]], ...] = (
    (
        {"tests": {"tests/test_greeting.py::test_more": "failed"}, "attempts": 7},
        {
            "tests": "tests/test_greeting.py::test_more is not there on the head.",
            "attempts": "7 attempts are claimed; the notes of its commits say 1.",
            "table": "The table has no row for tests/test_greeting.py::test_more, which the claim has.",
        },
    ),
    ({"head": "f" * 40}, {"history": f"The commit {'f' * 12} does not exist in {REPOSITORY}."}),
)
"""Changes that somebody makes to the claim, and the sentences that `verify` then reports as false."""


class Checker:
    """A person with read access and a configuration of their own."""

    def __init__(self, engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
        self.engine = engine
        self.capsys = capsys
        self.token = engine.lab.token(ENGINE, {**WRITES, "contents": "read", "issues": "read", "pull_requests": "read"})
        self.file = engine.directory / "verify.yml"
        command = PYTEST_ALONE
        self.file.write_text(
            f"""
repositories: [{{name: {REPOSITORY}, test_command: {json.dumps(command)}}}]
sandbox: none
state_dir: {json.dumps(str(engine.directory / "checker"))}
work_dir: {json.dumps(str(engine.directory / "checker-work"))}
github: {{api_url: "{engine.lab.url}"}}
"""
        )

    async def verify(self, number: int) -> tuple[int, dict[str, Any]]:
        """Run `verify`; return the exit code and the printed JSON."""
        options = VerifyOptions(f"{REPOSITORY}#{number}", json=True, config=self.file)
        environment = {"GITHUB_TOKEN": self.token, "PATH": "/usr/bin:/bin"}
        self.capsys.readouterr()
        code = await to_thread.run_sync(verified, options, environment)
        out = self.capsys.readouterr().out
        assert self.token not in out
        assert list((self.engine.directory / "checker-work").iterdir()) == [], "no clone is left"
        return code, json.loads(out)

    async def false(self, number: int) -> dict[str, str]:
        """Return the false statements, one sentence each; assert that the exit code agrees."""
        code, said = await self.verify(number)
        assert code == (0 if said["true"] else 1)
        return {one["what"]: one["sentence"] for one in said["false"]}


async def test_what_the_worker_claims_is_true_and_what_others_make_of_it_is_not(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.script(TESTS + CODE)
    await once(engine, engine.ready("Greet people", "## Acceptance criteria\n- [ ] AC1: greet(name) greets."))
    (pull,) = pulls(engine)
    issues = engine.lab.at(REPOSITORY).issues
    body = issues.require(pull.number).body or ""
    claim, _ = proof_claim.read(body, NO_KEYS)
    assert claim.tests == {"tests/test_greeting.py::test_greets": "not collected"}
    assert "| AC1: greet(name) greets. | `tests/test_greeting.py::test_greets` | cannot be loaded: " in body
    assert "**5 passed** at " in body

    checker = Checker(engine, capsys)
    code, said = await checker.verify(pull.number)
    assert (code, said["true"], said["false"]) == (0, True, [])
    assert said["proven"] == ["tests/test_greeting.py::test_greets"]

    visible = "\n".join(line for line in body.splitlines() if "engine-claim" not in line)
    for lie, found in LIES:
        issues.edit(pull.number, ENGINE, body=f"{visible}\n{claim_writing.write(replace(claim, **lie), NO_KEYS)}")
        assert await checker.false(pull.number) == found
    issues.edit(pull.number, ENGINE, body=f"Closes #1\n\n{claim_writing.write(claim, NO_KEYS)}")
    assert await checker.false(pull.number) == {"table": "The table of new tests is not there any more."}
    elsewhere = claim_writing.write(replace(claim, base=claim.head), NO_KEYS)
    issues.edit(pull.number, ENGINE, body=f"{visible}\n{elsewhere}")
    _, said = await checker.verify(pull.number)
    assert {one["what"] for one in said["false"]} == {"history"}
    assert (said["on_base"], said["green"]) == ("", ""), "nothing of such a claim is run"
    issues.edit(pull.number, ENGINE, body=visible)
    code, said = await checker.verify(pull.number)
    assert (code, said["true"], said["claimed"]) == (3, True, False), "it is judged by its own difference"
    assert said["proven"] == ["tests/test_greeting.py::test_greets"]
    assert said["remarks"] == [f"no claim: {NoClaim.__doc__}"]
    assert len(issues.records) == 2, "nobody was told anything on GitHub"
    assert comments(engine, pull.number) == []


async def test_a_token_that_is_refused_is_no_verdict(
    engine: Engine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    checker = Checker(engine, capsys)
    options = VerifyOptions(f"{REPOSITORY}#1", config=checker.file)
    environment = {"GITHUB_TOKEN": "ghp_nobody", "PATH": "/usr/bin:/bin"}
    assert await to_thread.run_sync(verified, options, environment) == 4


async def test_a_pull_request_that_is_not_there_is_no_verdict(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    checker = Checker(engine, capsys)
    options = VerifyOptions(f"{REPOSITORY}#99", config=checker.file)
    environment = {"GITHUB_TOKEN": checker.token, "PATH": "/usr/bin:/bin"}
    assert await to_thread.run_sync(verified, options, environment) == 4
    assert f"GitHub does not show {REPOSITORY}#99 to this token: check the number" in capsys.readouterr().err
