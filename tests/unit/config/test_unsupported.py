"""Settings that a start refuses as unsupported: each key by its name, with the replacement to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import SecretStr

from config.engine import LLMSettings, NotifySettings
from config.observability import EventSettings
from config.repository import Backend, RepositorySettings
from config.rules import unsupported
from config.settings import Settings
from shared.llm import BACKENDS

REPOSITORY = RepositorySettings(name="owner/repo")
SCRIPTED = RepositorySettings(name="owner/repo", llm_backend="scripted")
STORY = LLMSettings(scenario=Path("story.yml"))


def settings(**changes: Any) -> Settings:
    return Settings(**({"repositories": (REPOSITORY,), "sandbox": "none"} | changes))


def test_everything_that_can_be_configured_is_done() -> None:
    asked = settings(
        repositories=(SCRIPTED, RepositorySettings(name="a/b", llm_backend="scripted", approval_timeout_hours=48.0)),
        events=EventSettings(url=SecretStr("postgresql://u:p@h/d"), retention_days=7),
        notify=NotifySettings(webhook=SecretStr("https://h/x"), webhook_secret_file=Path("/run/secret")),
        llm=LLMSettings(scenario=Path("story.yml")),
    )
    assert unsupported(asked) == ()


def test_keys_that_are_written_with_their_defaults_are_accepted_and_budgets_have_effect() -> None:
    asked = {"approval_timeout_hours": 24.0, "stall_timeout_minutes": 25.0, "ci": {"interval": 60.0, "timeout": 60.0}}
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
