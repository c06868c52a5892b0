"""The lab's CI: real commands on real checkouts, reported into the world."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from ci_shop import Shop, shop_at, spoken, step

from lab import target_project
from lab.github.ci import job_log
from lab.github.world.checks import AnnotationRecord
from shared import process

SEARCH = "def search_users(directory, text):\n    return [user for user in directory if text in user.name]\n"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with shop_at(tmp_path) as here:
        yield here


async def commit(shop: Shop, tmp_path: Path, path: str, text: str, *, branch: str) -> None:
    """Put one more commit on `branch`, as a push would."""
    tree = tmp_path / "tree"
    git = shop.bare.git
    await git.check("worktree", "add", "--quiet", "--detach", str(tree), "main")
    (tree / path).write_text(text)
    identity = {f"GIT_{role}_{part}": "ada" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    for arguments in (("add", "--all"), ("commit", "--quiet", "-m", "Change")):
        await git.check("-C", str(tree), *arguments, env=identity)
    tip = (await git.check("-C", str(tree), "rev-parse", "HEAD")).text
    assert await shop.bare.update_ref(f"refs/heads/{branch}", tip)


async def test_the_demo_project_is_green(shop: Shop) -> None:
    check = await shop.run(target_project.CHECK_COMMAND)
    assert (check.status, check.conclusion, check.annotations) == ("completed", "success", ())
    assert "Complete job name: check" in spoken(check.log)
    said = step(check.log)
    assert said[:4] == [
        "##[group]Run python ci/check.py",
        "\x1b[36;1mpython ci/check.py\x1b[0m",
        "shell: /bin/sh -c {0}",
        "##[endgroup]",
    ]
    assert any("4 passed" in line for line in said)
    assert not any("##[error]" in line for line in said)


async def test_the_demo_project_is_red_without_a_docstring(shop: Shop, tmp_path: Path) -> None:
    shop.ci.settings.jobs = {"check": target_project.CHECK_COMMAND}
    await commit(shop, tmp_path, "directory/search.py", f'"""Search."""\n\n{SEARCH}', branch="topic")
    await shop.ci.idle()
    sha = await shop.bare.sha("topic") or ""
    (check,) = shop.checks.of(sha)
    assert (check.conclusion, check.summary) == ("failure", "Exit code 1")
    said = step(check.log)
    assert "directory/search.py:3: public function 'search_users' has no docstring" in said
    assert said[-1] == "##[error]Process completed with exit code 1."
    assert check.annotations == (
        AnnotationRecord("directory/search.py", 3, 3, "failure", "", "public function 'search_users' has no docstring"),
        AnnotationRecord(".github", 1, 1, "failure", "", "Process completed with exit code 1."),
    )


async def test_a_job_sees_its_commit_and_nothing_of_the_engine(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "must not be seen")
    check = await shop.run("env; git status || true; cat AGENTS.md; echo to stderr >&2")
    said = spoken(check.log)
    assert f"GITHUB_SHA={check.head_sha}" in said
    assert "GITHUB_REPOSITORY=octo/thing" in said
    assert "# Conventions" in said
    assert "to stderr" in said
    assert "CANARY" not in (check.log or "")
    assert any("not a git repository" in line for line in said)


async def test_a_check_is_queued_as_soon_as_the_push_is_told(shop: Shop) -> None:
    shop.ci.settings.jobs = {"lint": "true", "test": "exit 3"}
    sha = await shop.push()
    assert shop.states(sha) == [("lint", "queued", None), ("test", "queued", None)]
    await shop.ci.idle()
    assert shop.states(sha) == [("lint", "completed", "success"), ("test", "completed", "failure")]


async def test_a_commit_runs_once_however_many_branches_name_it(shop: Shop) -> None:
    sha = await shop.push()
    assert await shop.bare.update_ref("refs/heads/same", sha)
    assert await shop.bare.update_ref("refs/heads/same", None)
    await shop.ci.idle()
    assert len(shop.checks.of(sha, latest=False)) == 1


async def test_only_branches_are_checked(shop: Shop) -> None:
    sha = await shop.bare.sha("main") or ""
    for ref in ("refs/ack/worker/1", "refs/notes/x", "refs/tags/v1"):
        assert await shop.bare.update_ref(ref, sha)
    assert shop.checks.of(sha) == []


async def test_failed_jobs_run_again(shop: Shop, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    shop.ci.settings.jobs = {"good": "true", "flaky": f"test -e {marker} || {{ touch {marker}; exit 1; }}"}
    sha = await shop.push()
    await shop.ci.idle()
    shop.ci.rerun(sha, ["flaky"])
    await shop.ci.idle()
    assert shop.states(sha) == [
        ("good", "completed", "success"),
        ("flaky", "completed", "failure"),
        ("flaky", "completed", "success"),
    ]


async def test_a_job_that_passes_its_deadline_is_ended(shop: Shop) -> None:
    shop.ci.settings.deadline_seconds = 0.2
    check = await shop.run("echo begun; sleep 60")
    assert check.conclusion == "timed_out"
    assert step(check.log)[-2:] == [
        "begun",
        "##[error]The job has exceeded the maximum execution time of 0.2 seconds.",
    ]


async def test_closing_ends_every_process_of_a_job(shop: Shop, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    shop.ci.settings.jobs = {"check": f"sleep 60 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait"}
    sha = await shop.push()
    async with asyncio.timeout(10):
        while not pids.exists():  # noqa: ASYNC110 - the other side is a shell
            await asyncio.sleep(0.01)
    running = pids.read_text().split()
    assert [alive(pid) for pid in running] == [True, True]
    await shop.ci.close()
    async with asyncio.timeout(10):
        while any(alive(pid) for pid in running):  # noqa: ASYNC110 - what was signalled dies soon, not at once
            await asyncio.sleep(0.01)
    assert shop.states(sha) == [("check", "in_progress", None)]


def alive(pid: str) -> bool:
    """Return whether a process runs; a process that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


async def test_a_fault_of_the_ci_itself_is_not_swallowed(shop: Shop) -> None:
    await shop.ci.pushed("refs/heads/main", None, "1" * 40)
    with pytest.raises(process.CommandFailed):
        await shop.ci.idle()


def test_annotations_name_only_files_of_the_commit_and_are_limited() -> None:
    output = "\n".join([f"a.py:{n}: wrong" for n in range(1, 15)] + ["gone.py:1: no such file", "12:30: a time"])
    found = job_log.annotate(output, "Ended.", frozenset({"a.py"}))
    assert [remark.start_line for remark in found[:-1]] == list(range(1, 11))
    assert found[-1].message == "Ended."


def test_the_log_carries_github_s_time_stamps() -> None:
    log = job_log.render("check", "true", "said\n", "", started=0.5, ended=1.25)
    assert log.startswith("\ufeff1970-01-01T00:00:00.5000000Z Current runner version")
    assert "\n1970-01-01T00:00:00.5000000Z ##[group]Run true\n" in log
    assert "\n1970-01-01T00:00:01.2500000Z said\n" in log
    assert log.endswith("Z Cleaning up orphan processes\n")


@pytest.mark.parametrize("size", [0, 1, 10**7])
def test_filler_is_made_a_block_at_a_time(size: int) -> None:
    sizes = [len(block) for block in job_log.filler(size, at=0)]
    assert size <= sum(sizes) < size + 2**17
    assert all(one <= 2**16 for one in sizes)
