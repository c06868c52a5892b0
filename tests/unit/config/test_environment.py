"""The variables that are read from the environment, and the few that children get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from config.environment import cache_place, child_environment, config_place, editor, snapshot


def test_children_get_only_what_is_listed() -> None:
    environment = {
        "PATH": "/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TMPDIR": "/t",
        "SSL_CERT_FILE": "/c",
        "SSL_CERT_DIR": "/d",
        "HOME": "/home/ada",
        "GITHUB_TOKEN": "secret",
        "ANTHROPIC_API_KEY": "secret",
        "LD_PRELOAD": "/x.so",
        "PYTHONPATH": "/x",
        "GIT_DIR": "/x",
        "LCX": "x",
    }
    assert set(child_environment(environment)) == {
        "PATH",
        "LANG",
        "LC_ALL",
        "TZ",
        "TMPDIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    }
    assert child_environment({}) == {"PATH": os.defpath}


def test_children_find_version_managers_although_their_home_is_another_one(tmp_path: Path) -> None:
    (tmp_path / ".pyenv").mkdir()
    (tmp_path / ".rustup").mkdir()
    (tmp_path / ".asdf").write_text("")
    found = child_environment({"HOME": str(tmp_path), "RUSTUP_HOME": "/opt/rustup", "PYENV_VERSION": "3.12"})
    assert found == {
        "PATH": os.defpath,
        "PYENV_ROOT": str(tmp_path / ".pyenv"),
        "PYENV_VERSION": "3.12",
        "RUSTUP_HOME": "/opt/rustup",
    }


def test_children_get_it_from_this_process_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Paris")
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    assert child_environment()["TZ"] == "Europe/Paris"
    assert "secret" not in child_environment().values()


def test_a_snapshot_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    before = snapshot()
    monkeypatch.setenv("TZ", "Europe/Paris")
    assert before["TZ"] == "UTC"


@pytest.mark.parametrize(
    ("environment", "config", "cache"),
    [
        ({"HOME": "/h"}, "/h/.config/workflow-engine", "/h/.cache/workflow-engine"),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_CACHE_HOME": "/k"},
            "/c/workflow-engine",
            "/k/workflow-engine",
        ),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "/h/.config/workflow-engine", "/h/.cache/workflow-engine"),
    ],
)
def test_xdg_places(environment: dict[str, str], config: str, cache: str) -> None:
    assert config_place(environment) == Path(config)
    assert cache_place(environment) == Path(cache)


@pytest.mark.parametrize(
    ("environment", "command"),
    [
        ({}, ("vi",)),
        ({"EDITOR": "nano"}, ("nano",)),
        ({"EDITOR": "nano", "VISUAL": "code --wait"}, ("code", "--wait")),
        ({"EDITOR": " ", "VISUAL": ""}, ("vi",)),
    ],
)
def test_the_editor(environment: dict[str, str], command: tuple[str, ...]) -> None:
    assert editor(environment) == command
