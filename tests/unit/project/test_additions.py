"""Completeness of a new stage, backend or agent; CONTRIBUTING.md tells the steps."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from config.repository import Backend
from config.settings import Settings
from console.run import JOBS
from shared.errors import MissingCredentials
from shared.github.access import NEEDS
from shared.github.label_board import LOOKS
from shared.llm import BACKENDS, PROGRAMS, cli_backends
from shared.llm.backend import CliSpec
from shared.workflow import AGENTS, UNLABELLED, Role, Stage, Track, stages
from shared.workflow.labels import Flag

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FILES = ("__main__.py", "build.py", "agent.py", "decide.py", "ports.py", "comments.py", "reconcile_rules.py", "prompts")
"""Files that every agent's room has."""


def test_every_stage_and_flag_has_a_colour_and_a_sentence() -> None:
    assert set(LOOKS) == {*Stage, *Flag} - UNLABELLED


def test_every_stage_is_on_a_track() -> None:
    assert {stage for track in Track for stage in stages(track)} == set(Stage)


def test_a_backend_has_its_name_wherever_one_can_be_chosen() -> None:
    assert set(get_args(Backend)) == set(BACKENDS)
    assert set(PROGRAMS) == set(cli_backends())


@pytest.mark.parametrize(("name", "spec"), cli_backends().items())
def test_a_backend_that_is_a_program_has_a_key_for_its_path_and_says_how_to_reach_its_model(
    name: str, spec: CliSpec
) -> None:
    assert f"{name}_cli" in Settings.model_fields
    assert set(spec.beginnings.values()) <= set(spec.keys)
    with pytest.raises(MissingCredentials, match=spec.keys[0]):
        spec.endpoint({"HOME": "/nowhere"})


@pytest.mark.parametrize("role", sorted(AGENTS))
def test_an_agent_is_complete(role: Role) -> None:
    room = f"{role}_agent"
    assert [name for name in FILES if not (ROOT / room / name).exists()] == []
    assert PROJECT["project"]["scripts"][f"{role}-agent"] == f"{room}.__main__:main"
    assert f"{room}*" in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert f"COPY {room} {room}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert NEEDS[role]["contents"] == "write"
    assert role in {job.role for job in JOBS}


@pytest.mark.parametrize("role", sorted(AGENTS))
def test_an_agent_is_kept_apart_from_the_others(role: Role) -> None:
    linter = PROJECT["tool"]["importlinter"]
    apart = next(one for one in linter["contracts"] if one["type"] == "independence")
    assert f"{role}_agent" in linter["root_packages"]
    assert f"{role}_agent.agent" in apart["modules"]
    layers = next(one for one in linter["contracts"] if one["type"] == "layers")["layers"]
    assert f"{role}_agent" in layers[layers.index("runtime") - 1]
