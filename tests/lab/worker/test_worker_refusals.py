"""Contents that the worker may not publish, by its own policy or the server's: told to a person, never repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine import REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, TESTS, branch, calls, labels, once, pulls, status

from shared.workflow import Role

pytestmark = pytest.mark.long

GIVEN_UP = {"status:failed", "flag:manual-intervention"}
SLACK = "xoxb-2345678901-" + "abcDEFghiJKL"
GREETING = "def greet(name):\\n    return f'Hello, {name}'\\n"

REFUSE = """#!/bin/sh
case "$1" in
refs/heads/auto/*) cat >&2 <<'EOF'
%s
EOF
exit 1 ;;
esac
"""
"""A server that refuses a work branch in these words, and nothing else."""

WORDS = f"error: GH013: Push cannot contain secrets: {SLACK} in greeting.py:1"


def implementing(content: str) -> str:
    edit = f'{{path: directory/greeting.py, content: "{content}"}}'
    return f"- call: implement\n  attempt: any\n  edits:\n    - {edit}\n"


def told(engine: Engine) -> str:
    """Return all texts that people can read there."""
    repository = engine.lab.at(REPOSITORY)
    bodies = [comment.body for number in range(1, 9) for comment in repository.comments.of(number)]
    issues = [engine.issue(item.number) for item in (*repository.issues.records.values(),)]
    return "\n".join([*bodies, *(f"{item.title}\n{item.body}" for item in issues)])


def kept(engine: Engine) -> Path:
    (patch,) = (engine.directory / "machine-1" / "kept").rglob("patch.diff")
    return patch


async def published(engine: Engine, text: str) -> bool:
    """Return whether any commit, note or file on the server contains a text."""
    git = engine.lab.at(REPOSITORY).bare.git
    objects = await git.run("cat-file", "--batch-all-objects", "--batch")
    return text in str(objects)


async def test_a_secret_in_code_is_kept_here_and_told_without_its_value(engine: Engine) -> None:
    engine.script(TESTS + implementing(f"TOKEN = '{SLACK}'\\n{GREETING}"))
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == GIVEN_UP
    said = status(engine, number)
    assert "`directory/greeting.py`: It adds what looks like a credential (Slack token)" in said
    assert SLACK in kept(engine).read_text()
    assert kept(engine).stat().st_mode & 0o777 == 0o600
    assert str(kept(engine).relative_to(engine.directory / "machine-1")) in said
    assert await branch(engine, number) is None
    assert SLACK not in told(engine)
    assert not await published(engine, SLACK)
    assert await published(engine, "test_greets")  # the detector sees what was pushed


async def test_a_secret_in_the_output_of_tests_is_not_repeated(engine: Engine) -> None:
    engine.script(TESTS + implementing(GREETING.replace("f'Hello, {name}'", f"'{SLACK[::-1]}'[::-1]")))
    engine.repository_settings["max_attempts"] = 1
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == GIVEN_UP
    assert "test_greets" in status(engine, number)
    assert "***" in status(engine, number)
    assert SLACK not in told(engine)


@pytest.mark.parametrize(("call", "ci"), [("implement", "true"), ("fix_ci", "false")])
async def test_nothing_of_a_tree_that_the_policy_refuses_is_run(engine: Engine, call: str, ci: str) -> None:
    seen, ran = engine.directory / "seen", engine.directory / "ran"
    bad = f"open('{ran}', 'w').close()\\n{GREETING}"
    edits = f"    - {{path: setup.py, content: '# new'}}\n    - {{path: directory/greeting.py, content: \"{bad}\"}}\n"
    good = "" if call == "implement" else CODE
    engine.script(f"{TESTS}{good}- call: {call}\n  attempt: any\n  edits:\n{edits}", ci=ci)
    engine.repository_settings["setup_command"] = f"sh -c 'ls >> {seen}'"
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) >= {"flag:manual-intervention"}
    assert "`setup.py`: " in status(engine, number)
    assert "+# new" in kept(engine).read_text()
    assert calls(engine, call) == 1
    assert "pyproject.toml" in seen.read_text()  # it was set up for the trees before
    assert "setup.py" not in seen.read_text()
    assert not ran.exists()


@pytest.mark.fault(33)
async def test_rules_that_refuse_every_branch_are_paid_for_once(engine: Engine) -> None:
    hook = engine.lab.at(REPOSITORY).bare.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(REFUSE % "error: GH013: Repository rule violations found. Commits must have verified signatures.")
    hook.chmod(0o700)
    engine.script(TESTS + CODE)
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    first, second = engine.ready("Greet people"), engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(4):
            await engine.tick(worker)
            clock.skip(301)  # the fences themselves are accepted
        assert "verified signatures" in status(engine, first)
        assert (calls(engine, "write_tests"), labels(engine, second)) == (1, {"status:ready"})
        hook.unlink()
        engine.lab.comment(REPOSITORY, first, "/retry", author="ada")
        await engine.until(lambda: "status:testing" in labels(engine, first), worker)
        clock.skip(601)
        await engine.until(lambda: "status:ready" not in labels(engine, second), worker)


@pytest.mark.fault(33)
async def test_a_push_that_the_server_refuses_goes_to_a_person_in_its_words(engine: Engine) -> None:
    hook = engine.lab.at(REPOSITORY).bare.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(REFUSE % WORDS)
    hook.chmod(0o700)
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    await once(engine, number)
    assert labels(engine, number) == GIVEN_UP
    said = status(engine, number)
    assert "The git server refused the push" in said
    assert WORDS.replace(SLACK, "***") in said
    assert SLACK not in told(engine)
    assert "+def greet(name):" in kept(engine).read_text()
    assert str(kept(engine).relative_to(engine.directory / "machine-1")) in said
    assert await branch(engine, number) is None
    assert pulls(engine) == []
    async with engine.agent(Role.WORKER) as worker:
        await engine.look(worker)
        assert worker.ended == []
    assert calls(engine, "implement") == 1
