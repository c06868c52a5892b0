"""`workflow-engine tdd` as a process of its own on a person's own repository: no GitHub, no network, no model."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import anyio
import pytest
from engine import OWNER, WRITES
from judge import Judge
from local_project import APPROVES, CHECKED, CODE, NEVER_ENDS, REQUESTS_CHANGES, TESTS, Project

from console.tdd.task import Records, State
from lab.git_command import Git
from lab.server import Lab
from lab.world.repository import RepositoryRecord
from shared import process

pytestmark = pytest.mark.long

GOOD = TESTS + CODE + APPROVES + CHECKED
SECONDS = 60


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    return await Project.made(tmp_path)


async def test_a_branch_comes_out_and_everything_else_stays_as_it_was(project: Project) -> None:
    project.write("README.md", "Stashed.\n")
    await project.git("stash")
    project.write("README.md", "Not committed.\n")
    project.write("notes.txt", "Not tracked.\n")
    project.write("staged.txt", "Staged.\n")
    await project.git("add", "staged.txt")
    hook = project.top / ".git/hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch '{project.outside}/hook-ran'\n")
    hook.chmod(0o755)
    before = await project.photograph()
    done = await project.tdd("../SPEC.md", "--json", "--branch", "greeting", scenario=GOOD)
    assert done.code == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert (told["state"], told["branch"], told["pull_request"], told["reviews"]) == ("done", "greeting", None, 1)
    assert any("not committed" in warning for warning in told["warnings"])
    assert any("no remote" in warning for warning in told["warnings"])
    assert await project.photograph(without=["greeting"]) == before
    assert not (project.outside / "hook-ran").exists()
    assert told["commit"] == await project.git("rev-parse", "greeting")
    changed = await project.git("diff", "--name-only", "trunk...greeting")
    assert changed.split() == ["greeting.txt", "tests/test_greeting.sh"]
    log = await project.git("log", "--format=%an <%ae>%n%B", "trunk..greeting")
    assert "workflow-engine <workflow-engine@localhost>" in log
    assert "#1" not in log
    assert told["place"] is None
    assert list((project.outside / "state/tdd").iterdir()) == []


async def test_used_up_reviews_keep_the_branch_and_a_detached_head_stays_detached(project: Project) -> None:
    await project.git("checkout", "--quiet", "--detach")
    before = await project.photograph()
    wishes = ("--base", "trunk", "--max-reviews", "1", "--branch", "kept")
    done = await project.tdd("../SPEC.md", *wishes, scenario=TESTS + CODE + REQUESTS_CHANGES)
    assert done.code == 5, done.stderr.decode()
    assert "still asks for changes after 1 of 1" in done.text
    assert await project.photograph(without=["kept"]) == before
    assert await project.git("show", "kept:greeting.txt")
    assert project.calls("review") == 1
    (place,) = (project.outside / "state/tdd").iterdir()
    assert str(place) in done.text
    (task,) = Records(project.top).all()
    assert task.state is State.ROUNDS_USED_UP
    again = await project.tdd("--resume", task.id)
    assert (again.code, project.calls("review")) == (5, 1)


async def test_a_killed_task_goes_on_without_paying_twice(project: Project) -> None:
    before = await project.photograph()
    began = await interrupted(project, signal.SIGKILL, "../SPEC.md", "--branch", "greeting")
    assert began == -signal.SIGKILL
    (record,) = (project.top / ".workflow").glob("task-*.json")
    task = json.loads(record.read_text())
    assert task["state"] == "working"
    assert await interrupted(project, signal.SIGINT, "--resume", task["id"]) == 130
    assert await project.photograph() == before
    done = await project.tdd("--resume", task["id"], scenario=GOOD)
    assert done.code == 0, done.stderr.decode()
    assert await project.photograph(without=["greeting"]) == before
    assert (project.calls("write_tests"), project.calls("implement"), project.calls("review")) == (1, 1, 1)
    assert await project.git("show", "greeting:greeting.txt")


async def interrupted(project: Project, number: signal.Signals, *words: str) -> int:
    """Start, send a signal while the code is being written, and return the exit code."""
    argv = project.command(*words, scenario=TESTS + NEVER_ENDS)
    log = project.outside / f"{number.name}.log"
    async with process.started(argv, cwd=project.top, env=project.variables(), log=log) as running:
        with anyio.fail_after(SECONDS):
            while not await writing_code(project, log):  # noqa: ASYNC110 - another process writes it
                await anyio.sleep(0.1)
            running.send_signal(number)
            return await running.wait()


async def writing_code(project: Project, log: Path) -> bool:
    """Whether the tests are there and the coder has begun with the code, in the process that writes `log`."""
    bares = list((project.outside / "state/tdd").glob("*/github/git/*.git"))
    if not bares or "Writing tests and code." not in await anyio.Path(log).read_text():
        return False
    shown = await Git(bares[0]).run("log", "-1", "--format=%B", "refs/ack/worker/1")
    held = shown.code == 0 and "Phase: green" in shown.text
    places = list((project.outside / "state/tdd").glob("*/state/workspaces/*/issue-1/tree"))
    return held and bool(places)


async def test_a_pull_request_on_origin_has_the_proof_and_no_number_of_ours(
    project: Project, tmp_path: Path, judge: Judge
) -> None:
    async with Lab(tmp_path / "real") as lab:
        lab.exchanges.observe(judge)
        real = await lab.repository("ada/directory", {"README.md": "Other.\n"}, default_branch="trunk")
        mine = lab.issue("ada/directory", "Something of my own", "", author=OWNER)
        await project.git("push", "--quiet", "--force", str(real.bare.path), "trunk:trunk")
        await project.git("remote", "add", "origin", f"{lab.git_url('ada/directory')}")
        before = await project.photograph()
        project.configured(GOOD, github={"api_url": lab.url, "write_interval_seconds": 0})
        token = lab.token(OWNER, WRITES)
        done = await project.tdd("../SPEC.md", "--branch", "greeting", "--json", token=token)
        assert done.code == 0, done.stderr.decode()
        told = json.loads(done.stdout)
        assert told["pull_request"] == f"{lab.url}/ada/directory/pull/2"
        assert await project.photograph(without=["greeting"]) == before
        await proved(real, told["commit"])
        assert lab.at("ada/directory").issues.require(mine.number).open
        assert lab.unlisted == []
        assert token not in done.stdout.decode() + done.stderr.decode() + json.dumps(told)
    assert judge.complaints == []


async def proved(real: RepositoryRecord, commit: str) -> None:
    """One pull request, of exactly that commit, and no other branch or ref beside it."""
    (pull,) = real.pulls.records.values()
    assert (pull.head_branch, pull.base_branch, pull.head_sha) == ("greeting", "trunk", commit)
    thread = real.issues.require(pull.number)
    assert "## Evidence" in (thread.body or "")
    assert "test_greeting.sh" in (thread.body or "")
    assert "#1" not in f"{thread.title} {thread.body}"
    assert set(await real.bare.refs("refs/")) == {"refs/heads/greeting", "refs/heads/trunk", "refs/pull/2/head"}


async def test_a_coder_without_a_change_fails_and_nothing_is_deleted(project: Project) -> None:
    before = await project.photograph()
    done = await project.tdd("../SPEC.md", scenario="- {call: write_tests, retry: any, text: I would rather not.}\n")
    assert done.code == 1, done.stderr.decode()
    assert "No file was changed." in done.text
    assert "status:" not in done.text  # nobody can set labels here
    assert await project.photograph() == before
    (place,) = (project.outside / "state/tdd").iterdir()
    assert str(place) in done.text
