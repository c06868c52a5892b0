"""A specification that is changed while its task has stopped: what was built stays, and the new text counts."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from local_project import (
    APPROVES,
    CHECKED,
    CODE,
    FIXED,
    HANGS,
    NOTHING,
    REQUESTS_CHANGES,
    SPECIFICATION,
    TESTS,
    Project,
)

from console.tdd.task import Records, State
from shared import process

pytestmark = pytest.mark.long

NEW = f"{SPECIFICATION}\nWhoever is meant is called Ada.\n"
SAYS = "../SPEC.md has changed: what was built stays; from now on the new text is what counts."
ANY_ROUND = "\n  round: any\n"
APPROVES_LATER = (APPROVES + CHECKED).replace("- call: review\n", f"- call: review{ANY_ROUND}")
APPROVES_LATER = APPROVES_LATER.replace("- call: check_criteria\n", f"- call: check_criteria{ANY_ROUND}")


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    return await Project.made(tmp_path)


def prompts(project: Project, call: str) -> list[str]:
    """Return the prompts of the coder's calls of one kind, over all processes."""
    return [file.read_text() for file in sorted((project.outside / "record").glob(f"*-{call}.json"))]


async def test_code_that_failed_is_written_for_the_new_text(project: Project) -> None:
    done = await project.tdd("../SPEC.md", "--branch", "greeting", scenario=TESTS + NOTHING)
    assert done.code == 1, done.stderr.decode()
    (task,) = Records(project.top).all()
    assert task.state is State.FAILED
    project.text("SPEC.md", NEW)
    done = await project.tdd("--resume", task.id, scenario=TESTS + CODE + APPROVES_LATER)
    assert done.code == 0, done.stderr.decode()
    assert done.stderr.decode().count(SAYS) == 1
    assert project.calls("write_tests") == 1, "the tests that were valid stay"
    assert "called Ada" not in prompts(project, "implement")[0]
    assert all("called Ada" in prompts(project, call)[-1] for call in ("implement", "review", "check_criteria"))
    assert Records(project.top).read(task.id).order.text in NEW


async def test_what_was_handed_over_is_changed_for_the_new_text(project: Project) -> None:
    options = ("--max-reviews", "1", "--branch", "greeting")
    done = await project.tdd("../SPEC.md", *options, scenario=TESTS + CODE + REQUESTS_CHANGES)
    assert done.code == 5, done.stderr.decode()
    (task,) = Records(project.top).all()
    built = await project.git("rev-parse", "greeting")
    other = project.text("O'Brien's other.md", NEW)
    earlier = "findings: []\n    earlier: [{id: F1, resolved: true, note: Ada is named.}]"
    later = FIXED + APPROVES_LATER.replace("findings: []", earlier)
    done = await project.tdd(str(other), "--resume", task.id, scenario=later)
    assert done.code == 0, done.stderr.decode()
    assert f"{other} has changed: what was built stays" in done.stderr.decode()
    assert [project.calls(call) for call in ("write_tests", "implement", "review")] == [1, 2, 2]
    assert all("called Ada" in prompts(project, call)[-1] for call in ("implement", "review", "check_criteria"))
    assert await project.git("merge-base", "greeting", built) == built
    assert await project.git("show", "greeting:greeting.txt") == "Hello, Ada!"

    done = await project.tdd(str(other), "--resume", task.id, "--json")
    assert done.code == 2
    (sentence,) = json.loads(done.stdout)["errors"]
    said, _, again = sentence.partition(" For more begin another task: ")
    assert said == f"{task.id} is done, in greeting."
    assert shlex.split(again) == ["workflow-engine", "tdd", str(other)]


@pytest.mark.parametrize(
    ("made", "sentence"), [("code", "Writing the code (attempt 1 of 3)."), ("review", "Reviewing.")]
)
async def test_what_was_interrupted_goes_on_with_the_new_text(project: Project, made: str, sentence: str) -> None:
    async with hanging(project, made, sentence) as running:
        running.send_signal(signal.SIGKILL)
        assert await running.wait() == -signal.SIGKILL
    (task,) = Records(project.top).all()
    assert task.state is State.WORKING
    project.text("SPEC.md", NEW)
    done = await project.tdd("--resume", task.id, scenario=TESTS + CODE + FIXED + APPROVES_LATER)
    assert done.code == 0, done.stderr.decode()
    assert SAYS in done.stderr.decode()
    assert project.calls("write_tests") == 1
    assert all("called Ada" in prompts(project, call)[-1] for call in ("implement", "review", "check_criteria"))


async def test_a_kind_is_said_on_the_command_line_and_once(project: Project) -> None:
    done = await project.tdd("../SPEC.md", "--kind", "docs", scenario=TESTS)
    assert done.code == 2
    assert "--kind: there is no 'docs'; there is feature, refactoring" in done.text + done.stderr.decode()
    project.text("SPEC.md", f"{SPECIFICATION}\nKind: removal\n")
    done = await project.tdd("../SPEC.md", "--kind", "documentation")
    assert done.code == 2
    assert "says 'Kind: removal', and --kind says documentation: leave one of them out." in done.text + str(done.stderr)
    assert not Records(project.top).directory.exists()


@asynccontextmanager
async def hanging(project: Project, made: str, sentence: str) -> AsyncIterator[Process]:
    """Start a process in which the coder hangs; yield it once it has printed `sentence`."""
    argv = project.command("../SPEC.md", "--branch", "greeting", scenario=HANGS[made])
    log = project.outside / f"{made}.log"
    async with process.started(argv, cwd=project.top, env=project.variables(), log=log) as running:
        with anyio.fail_after(180):
            while sentence not in await anyio.Path(log).read_text():  # noqa: ASYNC110 - another process writes it
                await anyio.sleep(0.1)
        yield running
