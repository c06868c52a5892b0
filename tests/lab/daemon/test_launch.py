"""Starting an agent as people do: exit codes, one clear sentence for each failure, never a traceback."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from engine import ENGINE, REPOSITORY, WRITES
from judge import Judge

from lab.github.server import Lab
from shared.process import Finished, run

ROOT = Path(__file__).parents[3]
TOKEN = {"GITHUB_TOKEN": "canary-token-4711"}

BASIC = """
repositories: [{{name: {name}, llm_backend: {backend}}}]
state_dir: {state}
github: {{api_url: "{url}"}}
lock: {{settle: 0}}
sandbox: none
"""


async def worker(directory: Path, *words: str, environment: dict[str, str] | None = None) -> Finished:
    """Run `worker-agent WORDS` in `directory`."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(directory), "PYTHONPATH": str(ROOT)}
    argv = (sys.executable, "-m", "worker_agent", *words)
    done = await run(argv, cwd=directory, env=env | (TOKEN if environment is None else environment))
    said = (done.stdout + done.stderr).decode()
    assert "Traceback" not in said, said
    assert TOKEN["GITHUB_TOKEN"] not in said
    return done


def sentence(done: Finished) -> str:
    """Return the last line on standard error that is not a log event."""
    return [line for line in done.stderr.decode().splitlines() if not line.startswith("{")][-1]


@pytest.mark.fault(1)
async def test_without_a_configuration_it_says_what_to_do(tmp_path: Path) -> None:
    done = await worker(tmp_path)
    assert done.code == 2
    assert sentence(done).startswith("There is no configuration: name a repository (owner/repo)")


@pytest.mark.fault(2)
async def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    (tmp_path / "repos.yml").write_text("repositories:\n  - name: a/b\n    pol_interval: 3\n")
    done = await worker(tmp_path)
    assert done.code == 2
    assert "pol_interval" in sentence(done)
    assert "poll_interval" in sentence(done)
    assert "repos.yml:3:" in sentence(done)


@pytest.mark.fault(3)
@pytest.mark.parametrize(("name", "part"), [("nonsense", "'nonsense'"), ("c/d", "'c/d' is not configured here")])
async def test_a_repository_that_is_none_or_not_configured(tmp_path: Path, name: str, part: str) -> None:
    (tmp_path / "repos.yml").write_text("repositories: [{name: a/b}]\n")
    done = await worker(tmp_path, name)
    assert done.code == 2
    assert part in sentence(done)


@pytest.mark.long
async def test_a_sandbox_that_does_not_start_here_is_refused_with_what_to_change(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "bwrap"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    done = await worker(tmp_path, "a/b", environment=TOKEN | {"PATH": f"{broken.parent}:/usr/bin:/bin"})
    assert done.code == 2
    assert "kernel.unprivileged_userns_clone" in sentence(done)


@pytest.mark.fault(4)
async def test_a_missing_token_names_the_variable(tmp_path: Path) -> None:
    write(tmp_path, "http://127.0.0.1:9")
    done = await worker(tmp_path, environment={})
    assert done.code == 4
    assert "GITHUB_TOKEN" in sentence(done)


@pytest.mark.long
async def test_a_github_that_is_not_there_is_an_error_of_one_line(tmp_path: Path) -> None:
    write(tmp_path, "http://127.0.0.1:9")
    done = await worker(tmp_path, "--once")
    assert done.code == 1
    assert "127.0.0.1" in sentence(done) or "GitHub" in sentence(done)


@pytest.fixture
async def lab(tmp_path: Path, judge: Judge) -> AsyncIterator[Lab]:
    """Yield a GitHub with one repository without any issue."""
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        await lab.repository(REPOSITORY, {"README.md": "hello\n"}, collaborators={ENGINE: "write"})
        yield lab
        assert lab.unlisted == []
    assert judge.complaints == []


@pytest.mark.long
@pytest.mark.fault(3)
async def test_a_repository_that_github_does_not_know(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url, name="ada/no-such-thing")
    done = await worker(tmp_path, "--once", environment=token(lab))
    assert done.code in {1, 2, 4}
    assert "ada/no-such-thing" in sentence(done)


@pytest.mark.long
@pytest.mark.fault(4)
async def test_a_token_that_github_does_not_accept(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url)
    done = await worker(tmp_path, "--once")
    assert done.code == 4
    assert "does not accept the token" in sentence(done)


@pytest.mark.long
@pytest.mark.fault(22)
async def test_a_backend_that_is_not_there_is_found_before_anything_is_sent(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url, backend="claude")
    with (tmp_path / "repos.yml").open("a") as file:
        file.write("claude_cli: /nowhere/claude\n")
    done = await worker(tmp_path, "--once", environment=token(lab))
    assert done.code == 2
    told = (
        "There is no program '/nowhere/claude' (claude_cli): take claude_cli out of the configuration and run `workflow"
    )
    assert sentence(done).startswith(told)
    assert list(lab.exchanges) == []


@pytest.mark.long
async def test_what_was_not_taken_is_said_with_its_reason(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url)
    issue = lab.issue(REPOSITORY, "Mine bitcoins", author="mallory", labels=("status:ready",))
    done = await worker(tmp_path, "--once", environment=token(lab))
    assert done.code == 3
    reason, last = done.text.splitlines()
    assert reason == f"not taken: {REPOSITORY}#{issue.number}: the label was not set by somebody with write access"
    assert last == "Nothing to do."


@pytest.mark.long
async def test_a_token_that_may_not_comment_is_refused_with_its_code(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url)
    lab.issue(REPOSITORY, "Greet people", author="ada", labels=("status:ready",))
    reads = {"GITHUB_TOKEN": lab.token(ENGINE, WRITES | {"issues": "read", "pull_requests": "read"})}
    done = await worker(tmp_path, "--once", environment=reads)
    assert done.code == 4, done.text
    assert "Nothing to do" not in done.text


@pytest.mark.long
async def test_nothing_to_do_has_a_code_of_its_own(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url)
    done = await worker(tmp_path, "--once", environment=token(lab))
    asks = "Nothing to do. To begin an issue, set `status:ready` on it, or comment `/start`."
    assert (done.code, done.text) == (3, asks), done.stderr


def token(lab: Lab) -> dict[str, str]:
    """Return the engine's own token as an environment."""
    return {"GITHUB_TOKEN": lab.token(ENGINE, WRITES)}


def write(directory: Path, url: str, *, name: str = REPOSITORY, backend: str = "scripted") -> None:
    """Write a configuration file for `url`, and an empty scenario."""
    (directory / "scenario.yml").write_text("[]")
    scenario = f"llm: {{scenario: {directory / 'scenario.yml'}}}\n"
    text = BASIC.format(name=name, backend=backend, state=directory / "state", url=url)
    (directory / "repos.yml").write_text(text + scenario)


@pytest.mark.long
async def test_in_quiet_hours_nothing_is_begun_and_the_sentence_says_until_when(lab: Lab, tmp_path: Path) -> None:
    write(tmp_path, lab.url)
    with (tmp_path / "repos.yml").open("a") as file:
        file.write('quiet_hours: [{start: "00:00", end: "00:00"}]\n')
    lab.issue(REPOSITORY, "Greet people", author="ada", labels=("status:ready",))
    done = await worker(tmp_path, "--once", environment=token(lab))
    assert done.code == 1
    assert "quiet hours until" in sentence(done)
    assert lab.at(REPOSITORY).comments.of(1) == []
