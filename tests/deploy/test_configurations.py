"""The configurations that deployments come with: they are valid, and each platform provides what they name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from config.loading import read
from deploy.conftest import DEPLOY

FILES = ["systemd/repos.yml", "compose/repos.yml", "kubernetes/overlays/bubblewrap/repos.yml"]
CONTAINER = "kubernetes/overlays/container/repos.yml"
PROVIDED = {"github-token", "reviewer-token", "lock-key"}


@pytest.mark.parametrize("file", [*FILES, CONTAINER])
def test_a_configuration_is_valid_and_takes_its_secrets_from_the_platform(file: str) -> None:
    found = read(DEPLOY / file, environment={"CREDENTIALS_DIRECTORY": "/run/secrets", "HOME": "/nonexistent"})
    github = found.github
    named = (github.token_file, github.reviewer_token_file, *found.lock.key_files)
    assert {str(path) for path in named} == {f"/run/secrets/{name}" for name in PROVIDED}
    assert found.sandbox == ("container" if file == CONTAINER else "bubblewrap")
    assert found.state_dir in found.work_dir.parents or found.sandbox == "container"


@pytest.mark.parametrize("file", [*FILES, CONTAINER])
def test_the_part_of_the_limits_follows_from_how_many_there_are(file: str) -> None:
    found = read(DEPLOY / file, environment={"CREDENTIALS_DIRECTORY": os.sep, "HOME": "/nonexistent"})
    assert found.github.share is None, "replicas come and go, a number would have to follow them"


def test_both_overlays_say_the_same_but_for_the_mode() -> None:
    def of_every_mode(file: str) -> list[str]:
        lines = Path(DEPLOY / file).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if not line.startswith(("sandbox:", "work_dir:"))]

    assert of_every_mode(FILES[2]) == of_every_mode(CONTAINER)
