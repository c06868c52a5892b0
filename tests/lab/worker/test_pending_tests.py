"""Pending tests on a whole GitHub: each gets one issue, its marker goes, and code is written only where it is red."""

from __future__ import annotations

import json

import pytest
from anyio import to_thread
from branch_scene import push, subjects, text
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine
from project_pytest import PYTEST_ALONE
from worker_scene import calls, fence, labels, pulls, status

from console.verify.command import VerifyOptions, verified
from lab.github.merge_button import MergeOrder, press
from lab.github.world.issues import IssueRecord
from shared.workflow import Role

pytestmark = pytest.mark.long

GREEN = """\
import pytest

from directory import Directory


@pytest.mark.skip(reason="spec: an empty directory has no users")
def test_is_empty_at_first():
    assert list(Directory()) == []


def test_counts_nobody():
    assert len(Directory()) == 0
"""

RED = """\
import pytest


@pytest.mark.parametrize("name", ["Ada", "Grace"])
@pytest.mark.xfail(
    reason="spec: people are greeted by name",
)
def test_greets(name):
    from directory.greeting import greet

    assert greet(name) == f"Hello, {name}"
"""

CODE = """
- call: implement
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
"""

MEDDLING = """
- call: implement
  attempt: 1
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
    - {path: tests/test_red.py, content: "def test_greets():\\n    pass\\n"}

- call: implement
  attempt: 2
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
"""


@pytest.fixture
async def engine(engine: Engine) -> Engine:
    """Return an engine with two pending tests, and a planner that looks for them."""
    engine.script(CODE)
    engine.repository_settings["tdd"] = {"pending": {"globs": ["tests/test_green.py", "tests/**/test_*.py"]}}
    await push(engine, "main", {"tests/test_green.py": GREEN, "tests/test_red.py": RED})
    return engine


def created(engine: Engine) -> list[IssueRecord]:
    """Return the issues that the engine wrote, oldest first."""
    issues = engine.lab.at(REPOSITORY).issues
    return [one for one in issues.records.values() if one.author == ENGINE and not one.is_pull]


async def plan(engine: Engine, state: str = "machine-1") -> None:
    """Start a planner on one machine, have it look twice, and stop it."""
    async with engine.agent(Role.PLANNER, state=state) as planner:
        await engine.tick(planner)
        await engine.tick(planner)


async def verify(engine: Engine, number: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run `verify` on a pull request and return its false statements."""
    file = engine.directory / "verify.yml"
    command = PYTEST_ALONE
    file.write_text(
        f"""
repositories: [{{name: {REPOSITORY}, test_command: {json.dumps(command)}}}]
sandbox: none
state_dir: {json.dumps(str(engine.directory / "checker"))}
work_dir: {json.dumps(str(engine.directory / "checker-work"))}
github: {{api_url: "{engine.lab.url}"}}
"""
    )
    environment = {"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES), "PATH": "/usr/bin:/bin"}
    options = VerifyOptions(f"{REPOSITORY}#{number}", json=True, config=file)
    capsys.readouterr()
    await to_thread.run_sync(verified, options, environment)
    return [one["sentence"] for one in json.loads(capsys.readouterr().out)["false"]]


async def merge(engine: Engine) -> None:
    pull = pulls(engine)[-1]
    await press(engine.lab.at(REPOSITORY), pull.number, MergeOrder(), engine.lab.account(OWNER))


async def test_a_test_that_is_green_once_activated_becomes_a_pull_request_without_any_call(engine: Engine) -> None:
    async with engine.agent(Role.PLANNER) as planner, engine.agent(Role.WORKER, state="machine-2") as worker:
        await engine.tick(planner)
        (issue,) = created(engine)
        assert issue.title == "[TDD] Implement tests/test_green.py::test_is_empty_at_first | attempt 1/3"
        assert set(issue.labels) == {"status:ready"}
        await engine.until(lambda: bool(worker.ended), worker)
        await is_published(engine, issue.number)
        await engine.tick(planner)
        assert len(created(engine)) == 1, "the next one waits until this one is merged"
        await merge(engine)
        await engine.tick(planner)
    assert [one.title.partition(" | ")[0] for one in created(engine)[1:]] == [
        "[TDD] Implement tests/test_red.py::test_greets"
    ]


async def is_published(engine: Engine, number: int) -> None:
    """Assert that a pull request has the activation, and that nothing else was made or paid for."""
    branch = f"tdd/{number}-tests-test-green-py-test-is-empty-at-first"
    (pull,) = pulls(engine)
    assert (pull.head_branch, labels(engine, number)) == (branch, {"status:reviewing"})
    marker = '@pytest.mark.skip(reason="spec: an empty directory has no users")\n'
    assert await text(engine, branch, "tests/test_green.py") == GREEN.replace(marker, "")
    assert await subjects(engine, branch) == ["Activate tests/test_green.py::test_is_empty_at_first"]
    assert [calls(engine, call) for call in ("write_tests", "implement")] == [0, 0]
    record = engine.issue(pull.number)
    assert record.title == "[TDD] Implement tests/test_green.py::test_is_empty_at_first"
    assert "<details><summary>Evidence: 0 attempts, $0.00</summary>" in (record.body or ""), record.body
    assert "engine-claim" not in (record.body or ""), "nothing was red, so no red is claimed"


async def test_a_test_that_is_red_once_activated_gets_its_code_and_stays_as_it_is(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.script(MEDDLING)
    engine.repository_settings["tdd"] = {"pending": {"globs": ["tests/test_red.py"]}}
    await plan(engine)
    (issue,) = created(engine)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert labels(engine, issue.number) == {"status:reviewing"}, status(engine, issue.number)
    found = await fence(engine, issue.number)
    assert (found.attempt, calls(engine, "write_tests")) == (2, 0), "an implementation that touches the test is refused"
    assert await subjects(engine, found.branch) == [
        "Implement tests/test_red.py::test_greets",
        "Activate tests/test_red.py::test_greets",
    ]
    marker = '@pytest.mark.xfail(\n    reason="spec: people are greeted by name",\n)\n'
    assert await text(engine, found.branch, "tests/test_red.py") == RED.replace(marker, "")
    body = engine.issue(found.pr).body or ""
    assert "test_greets[Ada]" in body
    assert "engine-claim" in body
    assert engine.issue(issue.number).title.endswith(" | attempt 2/3")
    assert await verify(engine, found.pr, capsys) == []


async def test_what_a_person_closes_or_is_given_is_not_opened_again(engine: Engine) -> None:
    await plan(engine)
    first = created(engine)[0]
    engine.lab.close(REPOSITORY, first.number, actor=OWNER)
    await plan(engine, "machine-2")
    engine.lab.unlabel(REPOSITORY, created(engine)[-1].number, "status:ready", actor=OWNER)
    engine.lab.label(REPOSITORY, created(engine)[-1].number, "status:failed", actor=OWNER)
    await plan(engine)
    await plan(engine, "machine-3")
    assert [one.title.partition("::")[2].partition(" ")[0] for one in created(engine)] == [
        "test_is_empty_at_first",
        "test_greets",
    ]
    bare = engine.lab.at(REPOSITORY).bare
    assert await bare.sha("refs/ack/pending") is not None
    async with bare.changing(OWNER):
        await bare.git.check("update-ref", "-d", "refs/ack/pending")
    await plan(engine, "machine-4")
    assert len(created(engine)) == 2, "without its register it knows them by their hidden lines"
