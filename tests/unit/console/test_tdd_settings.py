"""Settings that a task at a terminal takes over from the configuration, and those that it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.settings import Settings
from console.tdd.run_settings import on_own_github
from console.tdd.task import TaskRequest

CONFIGURED = {
    "repositories": [
        {
            "name": "ada/directory",
            "llm_backend": "scripted",
            "start": {"labels": ["good first issue"]},
            "ceilings": {"in_work": 1},
            "hooks": {"after_run": "npm run format"},
        }
    ],
    "quiet_hours": [{"start": "00:00", "end": "00:00"}],
}


def own(directory: Path, **asked: str) -> Settings:
    """Return the settings of a task below `directory`."""
    settings = Settings.model_validate({**CONFIGURED, "state_dir": directory}, strict=False)
    order = TaskRequest("local/x", "", "T", "", "main", "1" * 40, "b", 1, cleanup=True, pull_request=False, **asked)
    return on_own_github(settings, order, "http://127.0.0.1:1", directory, {})


def test_it_works_at_any_hour_and_beside_nothing_else(tmp_path: Path) -> None:
    settings = own(tmp_path)
    (repository,) = settings.repositories
    assert settings.quiet_hours == ()
    assert (repository.ceilings.in_work, repository.start.labels) == (None, ())
    assert repository.hooks.after_run == "npm run format", "what concerns the code stays"


@pytest.mark.parametrize(
    ("asked", "read"), [({}, True), ({"test_command": "make test"}, False), ({"setup_command": "make setup"}, False)]
)
def test_a_command_that_was_asked_for_goes_before_the_repositorys_own_rules(
    tmp_path: Path, asked: dict[str, str], read: bool
) -> None:
    (repository,) = own(tmp_path, **asked).repositories
    assert repository.own_rules is read
