"""Tokens and signing keys: where they come from, what is refused, and that they are never shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from config.credentials import OF_GH, PASTED, TOKEN_ORIGIN, credentials, open_to_others, replacement, signing_keys
from config.engine import GitHubSettings, LockSettings
from shared.errors import Misconfigured, MissingCredentials, Unauthorized

TOKEN = "ghp_" + "a1B2" * 9


def secret(file: Path, content: str | bytes, mode: int = 0o600) -> Path:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    file.chmod(mode)
    return file


def test_the_token_comes_from_the_named_variable() -> None:
    found = credentials(GitHubSettings(token_env="MY_TOKEN"), {"MY_TOKEN": f" {TOKEN}\n"}, reviewer=False)
    assert found.get_secret_value() == TOKEN
    assert TOKEN not in f"{found!r} {found}"


def test_a_token_file_goes_before_the_variable(tmp_path: Path) -> None:
    github = GitHubSettings(token_file=secret(tmp_path / "token", TOKEN + "\n"))
    assert credentials(github, {"GITHUB_TOKEN": "other"}, reviewer=False).get_secret_value() == TOKEN


def test_the_reviewer_has_its_own_token_or_the_others(tmp_path: Path) -> None:
    own = GitHubSettings(reviewer_token_file=secret(tmp_path / "token", "reviewers"))
    environment = {"GITHUB_TOKEN": "others"}
    assert credentials(own, environment, reviewer=True).get_secret_value() == "reviewers"
    assert credentials(own, environment, reviewer=False).get_secret_value() == "others"
    assert credentials(GitHubSettings(), environment, reviewer=True).get_secret_value() == "others"


@pytest.mark.fault(4)
@pytest.mark.parametrize("environment", [{}, {"MY_TOKEN": ""}, {"MY_TOKEN": " \n"}, {"GITHUB_TOKEN": TOKEN}])
def test_a_missing_token_names_the_variable(environment: dict[str, str]) -> None:
    with pytest.raises(MissingCredentials, match="set the environment variable MY_TOKEN") as caught:
        credentials(GitHubSettings(token_env="MY_TOKEN"), environment, reviewer=False)
    assert isinstance(caught.value, Unauthorized)


@pytest.mark.fault(4)
@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        (TOKEN, 0o640, r"can be read by others \(mode 0640\): run chmod 600"),
        (TOKEN, 0o604, r"can be read by others \(mode 0604\)"),
        ("", 0o600, "is not a token"),
        ("two words", 0o600, "is not a token"),
        (f"{TOKEN}\n{TOKEN}", 0o600, "is not a token"),
        (f'"{TOKEN}"', 0o600, "is not a token: write the token there, and nothing else"),
        (b"\xff\xfe", 0o600, "does not hold a token"),
    ],
)
def test_an_unusable_token_file_is_not_passed_over(
    tmp_path: Path, content: str | bytes, mode: int, message: str
) -> None:
    github = GitHubSettings(token_file=secret(tmp_path / "token", content, mode))
    with pytest.raises(MissingCredentials, match=message) as caught:
        credentials(github, {"GITHUB_TOKEN": "other"}, reviewer=False)
    assert "github.token_file" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_the_mark_with_which_some_editors_begin_a_file_is_no_part_of_a_token(tmp_path: Path) -> None:
    github = GitHubSettings(token_file=secret(tmp_path / "token", b"\xef\xbb\xbf" + f"{TOKEN}\r\n".encode()))
    assert credentials(github, {}, reviewer=False).get_secret_value() == TOKEN


@pytest.mark.fault(4)
def test_a_token_file_that_is_not_there(tmp_path: Path) -> None:
    github = GitHubSettings(reviewer_token_file=tmp_path / "none")
    with pytest.raises(MissingCredentials, match=r"github.reviewer_token_file\) cannot be read: No such file"):
        credentials(github, {"GITHUB_TOKEN": "other"}, reviewer=True)


def test_signing_keys_keep_their_order_and_a_newline_is_not_part_of_a_textual_key(tmp_path: Path) -> None:
    text, raw = b"k" * 32, bytes(range(128, 159)) + b"\n"
    files = (secret(tmp_path / "new", text + b"\n"), secret(tmp_path / "old", raw))
    assert signing_keys(LockSettings(key_files=files)) == (text, raw)


def test_a_key_file_open_to_others_is_used_with_a_warning(tmp_path: Path) -> None:
    file = secret(tmp_path / "key", "k" * 32, 0o644)
    with capture_logs() as events:
        assert signing_keys(LockSettings(key_files=(file,))) == (b"k" * 32,)
    assert [event["event"] for event in events] == ["key_file_open_to_others"]


@pytest.mark.parametrize("content", [b"", b"k" * 31, b" " * 40 + b"k" * 31 + b"\n"])
def test_a_short_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = secret(tmp_path / "key", content)
    with pytest.raises(Misconfigured, match="at least 32 are needed"):
        signing_keys(LockSettings(key_files=(file,)))


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"none \(lock.key_files\) cannot be read: No such file"):
        signing_keys(LockSettings(key_files=(tmp_path / "none",)))


ROOT, ENGINE = 0, 10001


@pytest.mark.parametrize(
    ("mode", "owner", "reader", "exposed"),
    [
        (0o600, ENGINE, ENGINE, False),
        (0o640, ENGINE, ENGINE, True),
        (0o440, ROOT, ENGINE, False),  # a Secret of Kubernetes with fsGroup, a credential of systemd with an ACL
        (0o444, ROOT, ENGINE, True),
        (0o460, ROOT, ENGINE, True),
        (0o440, ROOT, ROOT, True),
        (0o440, ENGINE + 1, ENGINE, True),
    ],
)
def test_root_may_hand_a_file_over_by_its_group(mode: int, owner: int, reader: int, exposed: bool) -> None:
    status = os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    assert open_to_others(status, reader) is exposed


@pytest.mark.parametrize(
    ("github", "origin", "reviewer", "said"),
    [
        (GitHubSettings(), "", False, "the environment variable GITHUB_TOKEN. Make another one at https://h/settings/"),
        (GitHubSettings(), OF_GH, False, "from `gh auth token`. Log in again with `gh auth login`."),
        (GitHubSettings(), PASTED, False, "the one that you pasted. Make another one at https://h/settings/tokens."),
        (GitHubSettings(token_file=Path("/t")), "", False, "came from /t (github.token_file). Make another one"),
        (
            GitHubSettings(reviewer_token_file=Path("/r")),
            "",
            True,
            "from /r (github.reviewer_token_file). Make another",
        ),
        (GitHubSettings(reviewer_token_file=Path("/r")), "", False, "from the environment variable GITHUB_TOKEN."),
    ],
)
def test_where_a_refused_token_came_from_and_how_to_get_another(
    github: GitHubSettings, origin: str, reviewer: bool, said: str
) -> None:
    assert said in replacement(github, {TOKEN_ORIGIN: origin}, reviewer=reviewer, server="https://h")
