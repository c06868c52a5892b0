"""`verify --local`: two commits of a repository, run again from a fresh clone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from anyio import to_thread
from structlog.testing import capture_logs
from verify_scene import BASE, CODE, TEST, examined, repository, verify

from config.repository_file import FILE
from console.verify.command import VerifyOptions, verified

pytestmark = pytest.mark.long


async def test_tests_that_were_red_and_are_green_are_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert await examined(tmp_path, BASE, TEST, CODE, capsys=capsys) == (0, {})


async def test_a_head_that_is_not_green_is_false(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = await examined(tmp_path, BASE, TEST, capsys=capsys)
    assert code == 1
    assert any("tests/test_new.py::test_new" in sentence for sentence in found["green"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (VerifyOptions(), "Name one pull request"),
        (VerifyOptions("a/b#1", ("x", "y")), "Name one pull request"),
        (VerifyOptions("a/b"), "'a/b' is no pull request: write it as owner/repo#7."),
    ],
)
def test_wrong_arguments_end_with_2(options: VerifyOptions, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(options, {}) == 2
    assert sentence in capsys.readouterr().err


async def test_a_commit_that_is_not_there_is_a_wrong_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (base,) = await repository(tmp_path / "greetings.git", BASE)
    assert await to_thread.run_sync(lambda: verify(tmp_path / "greetings.git", base, "nobody")) == 2
    assert "'nobody' names no commit" in capsys.readouterr().err


async def test_changed_code_that_no_test_notices_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {
        "greet.py": f"{BASE['greet.py']}\n\ndef leave(name):\n    return f'Bye, {{name}}'\n",
        "settings.py": "WAIT = 30\n",
    }
    after = {
        "greet.py": f"{CODE['greet.py']}\n\ndef leave(name):\n    return name\n",
        "settings.py": "WAIT = 0\n",
        **TEST,
    }
    made = await repository(tmp_path / "greetings.git", {**BASE, **before}, after)
    assert await to_thread.run_sync(lambda: verify(tmp_path / "greetings.git", made[0], made[1])) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["claimed"] is None, "two commits claim nothing"
    assert said["remarks"] == [
        "No test that the change concerns fails when these changed functions raise: `leave` in `greet.py`",
        "No test that the change concerns fails with these files as they were on the base: `settings.py`",
    ]


async def test_the_rules_of_the_base_hold_for_what_is_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = {FILE: f"setup_command: touch {tmp_path / 'set-up'}\n"}
    with capture_logs():
        assert await examined(tmp_path, BASE | rules, TEST, CODE, capsys=capsys) == (0, {})
    assert (tmp_path / "set-up").exists()


async def test_rules_of_the_head_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = {FILE: f"setup_command: touch {tmp_path / 'set-up'}\n"}
    await examined(tmp_path, BASE, TEST, CODE | rules, capsys=capsys)
    assert not (tmp_path / "set-up").exists()
