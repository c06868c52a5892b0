"""Two identities of one engine: which App signs in, who knows whom, and which of it stays secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from config.credentials import app_key
from config.settings import Settings
from console.doctor import account
from console.doctor.finding import Machine, Status
from console.doctor.probes import identities
from runtime.building.confinement import secret_files
from runtime.daemon.configuration import LAST_GOOD, Configuration
from shared.errors import MissingCredentials
from shared.loop.real_clock import RealClock
from shared.models import Account
from shared.workflow import AGENTS, Role

ENGINE, REVIEWER, PERSON = Account(3, "engine[bot]"), Account(4, "reviewer[bot]"), Account(5, "ada")


def settings(tmp_path: Path, **more: Any) -> Settings:
    """Return a configuration with two Apps, each with its key file."""
    for name in ("engine", "reviewer"):
        file = tmp_path / f"{name}.pem"
        file.touch(mode=0o600)
        file.write_text(f"-----BEGIN PRIVATE KEY-----\n{name}\n-----END PRIVATE KEY-----\n")
    github = {
        "app": {"id": 1, "private_key_file": tmp_path / "engine.pem"},
        "reviewer_app": {"id": 2, "private_key_file": tmp_path / "reviewer.pem"},
        **more.pop("github", {}),
    }
    asked = {"repositories": [{"name": "a/b"}], "state_dir": tmp_path, "github": github, **more}
    return Settings.model_validate(asked, strict=False)


def test_each_role_has_the_key_of_its_own_app(tmp_path: Path) -> None:
    github = settings(tmp_path).github
    assert "engine" in app_key(github).get_secret_value()
    assert "reviewer" in app_key(github, reviewer=True).get_secret_value()
    shared = settings(tmp_path, github={"reviewer_app": None}).github
    assert "engine" in app_key(shared, reviewer=True).get_secret_value()
    (tmp_path / "reviewer.pem").chmod(0o644)
    with pytest.raises(MissingCredentials, match=r"github\.reviewer_app\.private_key_file"):
        app_key(github, reviewer=True)


def test_a_reviewer_signs_in_one_way(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="goes not together with reviewer_token_file"):
        settings(tmp_path, github={"reviewer_token_file": tmp_path / "token"})


def test_no_child_is_shown_a_file_with_a_secret(tmp_path: Path) -> None:
    hook, told = tmp_path / "hook", tmp_path / "told"
    one = settings(tmp_path, webhook={"secret_file": hook}, notify={"webhook_secret_file": told})
    assert {tmp_path / "engine.pem", tmp_path / "reviewer.pem", hook, told} <= set(secret_files(one))


@pytest.mark.parametrize(
    ("accounts", "found", "status"),
    [
        ([3, 4], (ENGINE, REVIEWER), Status.PASS),
        ([3], (ENGINE, REVIEWER), Status.FAIL),
        ([], (PERSON, REVIEWER), Status.FAIL),
        ([], (PERSON, Account(6, "grace")), Status.PASS),
        ([3, 4], (ENGINE, ENGINE), Status.WARN),
    ],
)
def test_apps_that_do_not_know_each_other_are_told_their_numbers(
    tmp_path: Path, accounts: list[int], found: tuple[Account, Account], status: Status
) -> None:
    judged = account.two_accounts(settings(tmp_path, github={"accounts": accounts}), found)
    assert judged.status is status
    if status is Status.FAIL:
        assert f"accounts: [{found[0].id}, {found[1].id}]" in judged.next_step


def test_a_reviewer_with_an_app_is_an_identity_of_its_own(tmp_path: Path) -> None:
    patient = Machine(settings(tmp_path), {}, RealClock())
    assert identities(patient, AGENTS) == [AGENTS - {Role.REVIEWER}, frozenset({Role.REVIEWER})]


def test_the_last_good_configuration_is_kept_without_its_secrets(tmp_path: Path) -> None:
    notify = {
        "smtp": "smtp://engine:c4n4ryOfTheMailServer@mail.example.org",
        "sender": "e@example.org",
        "to": ["a@b.c"],
    }
    used = settings(tmp_path, notify=notify)
    file = tmp_path / "config.yml"
    file.write_text(json.dumps({"notify": notify, "max_concurrent": 2}))
    Configuration(used, lambda: used, file).used(used)
    kept = (tmp_path / LAST_GOOD).read_text()
    assert "c4n4ry" not in kept
    assert '"max_concurrent": 2' in kept
