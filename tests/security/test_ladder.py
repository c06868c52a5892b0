"""The search after whole runs of tests sees a leak wherever one is left, and nothing where secrets belong."""

from __future__ import annotations

import gzip
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from security.detector import FORMS
from security.ladder import PLANTED, search

KEY = f"-----BEGIN PRIVATE KEY-----\n{secrets.token_hex(32)}\n-----END PRIVATE KEY-----\n"


@pytest.fixture
def token() -> str:
    return f"ghs_lab1{secrets.token_hex(16)}"


@pytest.fixture
def place(tmp_path: Path, token: str) -> Iterator[Path]:
    """Yield a directory of a test's remains: GitHub's saved world, the token's file, a key, a log; later left out."""
    place = tmp_path / "run" / "test_a_story0"
    for name in ("github", "state/agents/worker.askpass", "logs"):
        (place / name).mkdir(parents=True)
    world = {"tokens": [{"value": token, "login": "engine"}], "repositories": []}
    (place / "github/world.json").write_text(json.dumps(world))
    for name, text in (("state/agents/worker.askpass/token", f"{token}\n"), ("app.pem", KEY)):
        (place / name).touch(mode=0o600)
        (place / name).write_text(text)
    (place / "logs/worker.log").write_text('{"event": "started"}\n')
    yield place
    (place / PLANTED).touch()


def test_what_is_where_it_belongs_is_no_leak(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search([place.parents[1]]) == 0
    assert capsys.readouterr().out == "0 leaks of 2 secrets in 4 files of 1 tests\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_leak_is_named_and_not_repeated(
    place: Path, token: str, form: str, packed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    told = b"see " + FORMS[form](token.encode()) + b" there"
    (place / "logs/worker.log").write_bytes(gzip.compress(told) if packed else told)
    assert search([place.parents[1]]) == 1
    said = capsys.readouterr().out
    assert f"logs/worker.log: token 0 ({form})" in said
    assert token not in said


@pytest.mark.parametrize(
    ("name", "mode"), [("state/copy", 0o644), ("state/agents/worker.askpass/token", 0o640), ("kept/note.md", 0o600)]
)
def test_a_token_that_others_may_read_or_that_stands_in_a_text_is_a_leak(
    place: Path, token: str, name: str, mode: int
) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text(token if "kept" not in name else f"It is {token}.")
    (place / name).chmod(mode)
    assert search([place.parents[1]]) == 1


def test_what_people_read_on_github_and_names_of_files_are_searched(place: Path, token: str) -> None:
    world = json.loads((place / "github/world.json").read_text())
    (place / "github/world.json").write_text(json.dumps({**world, "comments": [f"Look: {token[::-1]}"]}))
    assert search([place.parents[1]]) == 1
    (place / "github/world.json").write_text(json.dumps(world))
    (place / f"auto-{token}").symlink_to("nowhere")
    assert search([place.parents[1]]) == 1


def test_a_line_of_a_key_is_a_leak_too(place: Path) -> None:
    (place / "logs/worker.log").write_text(f"InvalidKey: {KEY.splitlines()[1]}")
    assert search([place.parents[1]]) == 1


def test_leaks_on_purpose_are_left_out_and_nothing_searched_is_no_success(place: Path, token: str) -> None:
    (place / "logs/worker.log").write_text(token)
    (place / PLANTED).touch()
    assert search([place.parents[1]]) == 2
