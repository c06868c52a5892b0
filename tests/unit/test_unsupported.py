"""What a start refuses because this version does not do it: every key by its name, with what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import SecretStr

from config.repository import Backend, RepositorySettings
from config.rules import unsupported
from config.settings import EventSettings, LLMSettings, NotifySettings, Settings
from shared.llm import BACKENDS

REPOSITORY = RepositorySettings(name="owner/repo")
SCRIPTED = RepositorySettings(name="owner/repo", llm_backend="scripted")
STORY = LLMSettings(scenario=Path("story.yml"))


def settings(**changes: Any) -> Settings:
    return Settings(**({"repositories": (REPOSITORY,), "sandbox": "none"} | changes))


def test_what_this_version_does_not_do_is_refused_and_not_ignored() -> None:
    asked = settings(
        repositories=(SCRIPTED, RepositorySettings(name="a/b", llm_backend="scripted", refactor="approve")),
        events=EventSettings(url=SecretStr("postgresql://u:p@h/d")),
        notify=NotifySettings(webhook=SecretStr("https://h/x"), smtp=SecretStr("smtp://h")),
        llm=LLMSettings(scenario=Path("story.yml")),
    )
    keys = [sentence.partition(":")[0] for sentence in unsupported(asked)]
    assert keys == [
        "events.url",
        "notify.webhook",
        "notify.smtp",
        "repositories[1].refactor",
    ]
    assert "p@h" not in "".join(unsupported(asked))


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("approval", {"approval": "terminal"}),
        ("tdd.cycles", {"tdd": {"cycles": "per-criterion"}}),
        ("quality_commands", {"quality_commands": ("ruff check .",)}),
        ("approval_timeout_hours", {"approval_timeout_hours": 48.0}),
        ("ci.interval", {"ci": {"interval": 60.0}}),
    ],
)
def test_what_a_repository_cannot_have_yet_is_refused_by_its_key(key: str, asked: dict[str, Any]) -> None:
    repository = RepositorySettings.model_validate({"name": "a/b", "llm_backend": "scripted", **asked})
    (sentence,) = unsupported(settings(repositories=(repository,), llm=STORY))
    assert sentence.startswith(f"repositories[0].{key}: ")


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        ("events.retention_days", {"events": {"retention_days": 7}}),
    ],
)
def test_a_key_that_nothing_reads_yet_is_refused_by_its_name(key: str, asked: dict[str, Any]) -> None:
    (sentence,) = unsupported(settings(repositories=(SCRIPTED,), llm=STORY, **asked))
    assert sentence.startswith(f"{key}: ")
    assert "yet" in sentence


def test_keys_that_are_written_with_their_defaults_are_accepted_and_budgets_have_effect() -> None:
    asked = {"approval_timeout_hours": 24.0, "stall_timeout_minutes": 25.0, "ci": {"interval": 30.0, "timeout": 60.0}}
    repository = RepositorySettings.model_validate({"name": "a/b", "llm_backend": "scripted", **asked})
    budgets = {"run": 1.0, "issue": 3.0, "day": 4.0, "week": 5.0, "warn": 0.5, "unknown_run": 2.0}
    assert unsupported(settings(repositories=(repository,), llm=STORY, budgets=budgets)) == ()


@pytest.mark.parametrize("mode", ["bubblewrap", "container", "none"])
def test_every_sandbox_mode_and_a_set_up_are_built(mode: str) -> None:
    repository = RepositorySettings(name="owner/repo", setup_command="uv sync")
    assert unsupported(settings(repositories=(repository,), sandbox=mode)) == ()


def test_every_backend_that_can_be_configured_is_built() -> None:
    assert set(get_args(Backend)) == set(BACKENDS)
    repository = RepositorySettings(name="owner/repo", llm_backend="codex")
    assert unsupported(settings(repositories=(repository,), codex_cli="/opt/codex")) == ()


def test_the_scripted_backend_without_a_scenario_is_refused_with_the_key_to_set() -> None:
    (sentence,) = unsupported(settings(repositories=(SCRIPTED, RepositorySettings(name="a/b", llm_backend="scripted"))))
    assert sentence.startswith("llm.scenario: ")
    assert unsupported(settings(repositories=(SCRIPTED,), llm=STORY)) == ()
