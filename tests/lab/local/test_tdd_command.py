"""`workflow-engine tdd` as a process of its own on a person's own repository: no GitHub, no network, no model."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from engine import OWNER, WRITES
from judge import Judge
from local_project import (
    APPROVES,
    APPROVES_THE_FIX,
    CHECKED,
    CODE,
    FIXED,
    NOTHING,
    REQUESTS_CHANGES,
    TESTS,
    Project,
)

from console.tdd.task import Records, State
from lab.github.server import Lab
from lab.github.world.repository import RepositoryRecord

pytestmark = pytest.mark.long

GOOD = TESTS + CODE + APPROVES + CHECKED


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
    for name in ("reference-transaction", "post-checkout", "post-commit", "pre-push"):
        hook = project.top / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(project.outside / 'hook-ran'))}\n")
        hook.chmod(0o755)
    before = await project.photograph()
    done = await project.tdd("../SPEC.md", "--json", "--branch", "greeting", scenario=GOOD)
    assert done.code == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert (told["state"], told["branch"], told["pull_request"], told["reviews"]) == ("done", "greeting", None, 1)
    assert (told["calls"], told["cost_usd"], told["calls_of_unknown_cost"]) == (4, 0, 0)
    assert told["seconds"] > 0
    assert any("Not committed" in warning and "staged.txt" in warning for warning in told["warnings"])
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


async def test_what_stopped_is_taken_up_again_from_what_was_built(project: Project) -> None:
    await project.git("checkout", "--quiet", "--detach")
    before = await project.photograph()
    options = ("--base", "trunk", "--max-reviews", "1", "--branch", "kept")
    done = await project.tdd("../SPEC.md", *options, scenario=TESTS + CODE + REQUESTS_CHANGES)
    assert done.code == 5, done.stderr.decode()
    (task,) = Records(project.top).all()
    assert "still asks for changes after 1 of 1" in done.text
    assert done.text.splitlines()[-1].endswith(f"with 1 review more: workflow-engine tdd --resume {task.id}")
    assert await project.photograph(without=["kept"]) == before
    built = await project.git("rev-parse", "kept")
    (place,) = (project.outside / "state/tdd").iterdir()
    assert str(place) in done.text

    done = await project.tdd("--resume", task.id, scenario=NOTHING)  # neither a change nor an answer to the review
    assert done.code == 1, done.stderr.decode()
    assert "Nothing was changed." in done.text
    assert done.text.splitlines()[-1].endswith(f"workflow-engine tdd --resume {task.id}")
    assert await project.git("rev-parse", "kept") == built

    done = await project.tdd("--resume", task.id, "--json", "--max-reviews", "2", scenario=FIXED + APPROVES_THE_FIX)
    assert done.code == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert (told["state"], told["reviews"], told["commit"]) == ("done", 2, await project.git("rev-parse", "kept"))
    assert await project.git("merge-base", "kept", built) == built
    assert await project.git("show", "kept:greeting.txt") == "Hello, Ada!"
    assert [project.calls(call) for call in ("write_tests", "review", "check_criteria")] == [1, 2, 1]
    assert told["calls"] == len(list((project.outside / "record").glob("*.json")))
    assert await project.photograph(without=["kept"]) == before


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
    """Assert one pull request with exactly that commit, and no other branch or ref."""
    (pull,) = real.pulls.records.values()
    assert (pull.head_branch, pull.base_branch, pull.head_sha) == ("greeting", "trunk", commit)
    thread = real.issues.require(pull.number)
    assert "## Tests" in (thread.body or "")
    assert "test_greeting.sh" in (thread.body or "")
    assert "#1" not in f"{thread.title} {thread.body}"
    assert set(await real.bare.refs("refs/")) == {"refs/heads/greeting", "refs/heads/trunk", "refs/pull/2/head"}


async def test_a_coder_without_a_change_fails_and_nothing_is_deleted(project: Project) -> None:
    before = await project.photograph()
    done = await project.tdd("../SPEC.md", scenario="- {call: write_tests, retry: any, text: I would rather not.}\n")
    assert done.code == 1, done.stderr.decode()
    assert "The coder wrote no test.\n- The coder changed no file" in done.text
    assert "What to do: Correct the specification or the code.\n" in done.text  # as the comment on an issue says
    assert "status:" not in done.text  # nobody can set labels here
    assert await project.photograph() == before
    (place,) = (project.outside / "state/tdd").iterdir()
    assert str(place) in done.text
    (task,) = Records(project.top).all()
    assert (task.state, task.head) == (State.FAILED, "")
    assert done.text.splitlines()[-1].endswith(f"workflow-engine tdd --resume {task.id}")


INSTALL = "import pathlib; place = pathlib.Path('node_modules'); place.mkdir(); (place / 'greeter').touch()"
NEEDS_IT = TESTS.replace("grep -q", "test -f node_modules/greeter && grep -q")


async def test_what_the_tests_need_is_installed_by_the_command_that_is_named(project: Project) -> None:
    code = CODE.replace("call: implement\n", "call: implement\n  attempt: any\n  retry: any\n")
    project.configured(NEEDS_IT + code + APPROVES + CHECKED)
    done = await project.tdd("../SPEC.md", "--local", "--branch", "greeting")
    assert done.code == 1, done.stderr.decode()
    (task,) = Records(project.top).all()
    install = shlex.join((sys.executable, "-c", INSTALL))
    done = await project.tdd("--resume", task.id, "--setup-command", install)
    assert done.code == 0, done.stderr.decode()
    changed = await project.git("diff", "--name-only", "trunk...greeting")
    assert changed.split() == ["greeting.txt", "tests/test_greeting.sh"]
