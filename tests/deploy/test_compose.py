"""The Compose files: nothing published, nothing writable that need not be, and what they name exists."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from deploy.compose_files import COMPOSE, CONTAINER, HERE
from deploy.conftest import AGENTS, ROOT
from runtime.signals import STOP_SECONDS

KNOWN = {
    *("build", "image", "init", "restart", "stop_grace_period", "read_only", "tmpfs", "cap_drop", "cap_add", "user"),
    *("security_opt", "mem_limit", "pids_limit", "environment", "healthcheck", "logging", "command", "secrets"),
    *("configs", "volumes"),
}
"""The keys of a service that these files use; a misspelt one would be passed over in silence by older versions."""

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [COMPOSE, CONTAINER])
def test_there_is_one_service_for_each_agent_and_every_key_is_known(file: dict[str, Any]) -> None:
    assert set(file["services"]) == set(AGENTS)
    assert {key for service in file["services"].values() for key in service} <= KNOWN


@pytest.mark.parametrize("agent", AGENTS)
def test_a_service_is_closed(agent: str) -> None:
    service = COMPOSE["services"][agent]
    assert "ports" not in service
    assert "privileged" not in service
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not any("docker.sock" in volume for volume in service["volumes"])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_service_runs_its_agent_and_gives_it_time_to_stop(agent: str) -> None:
    service = COMPOSE["services"][agent]
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert service["command"][0] == f"{agent}-agent"
    assert service["command"][0] in scripts
    assert service["command"][1:] == ["--config", service["configs"][0]["target"]]
    assert int(service["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_service_names_is_declared(agent: str) -> None:
    service = COMPOSE["services"][agent]
    named = {volume.split(":")[0] for volume in service["volumes"]}
    assert named == {f"{agent}-state", f"{agent}-work"}
    assert named <= set(COMPOSE["volumes"])
    assert set(service["secrets"]) <= set(COMPOSE["secrets"])
    assert (HERE / COMPOSE["configs"][service["configs"][0]["source"]]["file"]).exists()


def test_each_agent_gets_its_own_token_and_no_other() -> None:
    tokens = {agent: set(COMPOSE["services"][agent]["secrets"]) - {"lock-key"} for agent in AGENTS}
    assert tokens == {"planner": {"github-token"}, "worker": {"github-token"}, "reviewer": {"reviewer-token"}}


def test_secrets_are_files_that_can_not_be_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "deploy/compose/secrets/" in ignored
    assert all(secret["file"].startswith("./secrets/") for secret in COMPOSE["secrets"].values())
    assert not re.search(r"(TOKEN|KEY|SECRET): +[^\s$]", (HERE / "compose.yaml").read_text(encoding="utf-8"))


def test_the_health_check_is_the_image_s_own() -> None:
    (command,) = re.findall(r"^ +CMD (\[.*python.*\])$", DOCKERFILE, re.MULTILINE)
    assert COMPOSE["services"]["worker"]["healthcheck"]["test"] == ["CMD", *json.loads(command)]


@pytest.mark.parametrize(("file", "allows"), [(COMPOSE, True), (CONTAINER, False)])
def test_only_bubblewrap_is_let_through_dockers_own_profiles(file: dict[str, Any], allows: bool) -> None:
    documented = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    for agent in AGENTS:
        opened = [option for option in file["services"][agent]["security_opt"] if option.endswith("unconfined")]
        assert bool(opened) is allows
        assert all(option in documented for option in opened)


@pytest.mark.parametrize("agent", AGENTS)
def test_mode_container_adds_what_the_documentation_says(agent: str) -> None:
    documented = re.findall(r"--cap-add (\w+)", (ROOT / "docs/security.md").read_text(encoding="utf-8"))
    assert sorted(CONTAINER["services"][agent]["cap_add"]) == sorted(documented)
    assert CONTAINER["services"][agent]["user"] == "0:0"
