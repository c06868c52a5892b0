"""The login of Codex as a file: what it says, and when a renewed copy takes its place."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from shared.llm.codex_login import Login, bring_back, concealed, lend, read, unwritable

OLD, NEW = "2026-11-01T00:00:00Z", "2026-11-09T00:00:00Z"


def written(path: Path, renewal: str = "r0", account: str = "a", last: str = OLD, **more: Any) -> Path:
    """Write a login to a file."""
    tokens = {"access_token": f"access-{renewal}", "refresh_token": renewal, "account_id": account}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"tokens": tokens, "last_refresh": last, **more}))
    return path


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ('{"OPENAI_API_KEY": " k "}', Login(by_key=True, key="k")),
        (
            '{"OPENAI_API_KEY": null, "tokens": {"access_token": "t", "refresh_token": "r"}}',
            Login(access="t", renewal="r"),
        ),
        (
            '{"auth_mode": "chatgpt", "OPENAI_API_KEY": "k", "tokens": {"access_token": "t", "refresh_token": "r"}}',
            Login(key="k", access="t", renewal="r"),
        ),
        (
            '{"auth_mode": "apikey", "OPENAI_API_KEY": "k", "tokens": {"access_token": "t", "refresh_token": "r"}}',
            Login(by_key=True, key="k", access="t", renewal="r"),
        ),
        (
            '{"OPENAI_API_KEY": "k", "tokens": {"access_token": "t", "refresh_token": "r"}}',
            Login(by_key=True, key="k", access="t", renewal="r"),
        ),
        ('{"auth_mode": "chatgpt", "OPENAI_API_KEY": "k"}', None),
        ('{"auth_mode": "apikey", "tokens": {"access_token": "t", "refresh_token": "r"}}', None),
        ('{"auth_mode": "another", "OPENAI_API_KEY": "k"}', None),
        ('{"tokens": {"access_token": "t"}}', None),
        ('{"tokens": {"access_token": 1, "refresh_token": "r"}}', None),
        ('{"tokens": []}', None),
        ('{"tokens": {"access_token": "t", "refr', None),
        ("[]", None),
        ("", None),
    ],
)
def test_what_a_file_says(tmp_path: Path, text: str, login: Login | None) -> None:
    (tmp_path / "auth.json").write_text(text)
    assert read(tmp_path / "auth.json") == login
    assert read(tmp_path / "missing") is None


def test_a_copy_is_this_account_s_alone_and_no_login_shows_its_tokens(tmp_path: Path) -> None:
    file = written(tmp_path / "auth.json")
    file.chmod(0o644)
    (tmp_path / "call").mkdir()
    lend(file, tmp_path / "call")
    copy = tmp_path / "call" / "auth.json"
    assert (copy.read_bytes(), copy.stat().st_mode & 0o777) == (file.read_bytes(), 0o600)
    assert "r0" not in repr(read(copy))


@pytest.mark.parametrize(
    ("copy", "taken"),
    [
        ({"renewal": "r1", "last": NEW}, True),
        ({"renewal": "r0", "last": NEW}, False),
        ({"renewal": "r1", "last": NEW, "account": "somebody-else"}, False),
        ({"renewal": "r1", "last": OLD}, False),
        ({"renewal": "r1", "last": OLD.replace("Z", ".5Z")}, True),
        ({"renewal": "r1", "last": "9999"}, False),
        ({"renewal": "r1", "last": NEW, "OPENAI_API_KEY": "k"}, False),
    ],
    ids=[
        "renewed",
        "as it was",
        "another account's",
        "older than what a person's own Codex left meanwhile",
        "renewed within a second",
        "of no time",
        "by a key",
    ],
)
def test_a_renewed_copy_takes_the_login_s_place(tmp_path: Path, copy: dict[str, str], taken: bool) -> None:
    file = written(tmp_path / "auth.json")
    before = file.read_bytes()
    call = written(tmp_path / "call" / "auth.json", **copy)
    assert bring_back(tmp_path / "call", file) is taken
    assert file.read_bytes() == (call.read_bytes() if taken else before)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["auth.json", "call"]


@pytest.mark.parametrize("text", ["", "{", '{"tokens": {}}'])
def test_a_copy_that_was_spoilt_spoils_nothing(tmp_path: Path, text: str) -> None:
    file = written(tmp_path / "auth.json")
    (tmp_path / "call").mkdir()
    (tmp_path / "call" / "auth.json").write_text(text)
    assert not bring_back(tmp_path / "call", file)
    assert read(file) == read(written(tmp_path / "same.json"))


def test_a_login_behind_a_link_stays_behind_it(tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "codex.json")
    real.chmod(0o600)
    link = tmp_path / "auth.json"
    link.symlink_to(real)
    written(tmp_path / "call" / "auth.json", "r1", last=NEW)
    assert bring_back(tmp_path / "call", link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    found = read(real)
    assert found is not None
    assert found.renewal == "r1"


def test_a_login_that_is_put_back_keeps_its_owner_and_its_mode(tmp_path: Path) -> None:
    file = written(tmp_path / "auth.json")
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 1000, 1001)
    before = file.stat()
    written(tmp_path / "call" / "auth.json", "r1", last=NEW)
    assert bring_back(tmp_path / "call", file)
    after = file.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)


@pytest.mark.parametrize("kind", ["a link", "a pipe"])
def test_what_is_no_file_in_a_copy_s_place_is_not_read(tmp_path: Path, kind: str) -> None:
    file = written(tmp_path / "auth.json")
    before, copy = file.read_bytes(), tmp_path / "call" / "auth.json"
    copy.parent.mkdir()
    if kind == "a link":
        copy.symlink_to(written(tmp_path / "elsewhere", "r1", last=NEW))
    else:
        os.mkfifo(copy)
    assert not bring_back(copy.parent, file)
    assert file.read_bytes() == before


def test_what_tools_must_not_read_is_named_behind_every_link(tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "codex.json")
    (tmp_path / "auth.json").symlink_to(real)
    (tmp_path / "state").mkdir()
    (tmp_path / "linked state").symlink_to(tmp_path / "state")
    found = concealed(tmp_path / "linked state", tmp_path / "auth.json")
    assert found == (tmp_path / "state" / "auth.json", real)


def test_a_place_where_it_cannot_be_renewed_is_named(tmp_path: Path) -> None:
    assert unwritable(tmp_path / "auth.json") == ""
    assert "is not writable for this account" in unwritable(tmp_path / "missing" / "auth.json")
