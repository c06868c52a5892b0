"""A ChatGPT login instead of a key: no proxy, said once, and no renewal of it is lost with a killed daemon."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from cli_shop import Shop

from config.settings import Settings
from config.state import StateDirectory
from console.demo.coder import playing
from lab.demo.stories import STORIES
from runtime.building.backends import backend
from runtime.building.backends import endpoints as endpoints_of
from runtime.building.process import Process
from shared.llm import cli_backends
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from shared.workflow import Role


async def test_a_chatgpt_login_runs_without_proxy_and_what_a_killed_daemon_renewed_is_kept(tmp_path: Path) -> None:
    """The copy of a call whose daemon was killed is newer than the login: it is brought back before it is swept."""
    home, state = tmp_path / "home", tmp_path / "state"
    copy = state / "calls" / "call-1" / "home" / ".codex"
    for place, count in ((home, 0), (copy, 1)):
        place.mkdir(parents=True)
        tokens = {"access_token": f"l0gin-{count}", "refresh_token": f"r3new-{count}"}
        login = {"tokens": tokens, "last_refresh": f"2026-11-0{count + 1}T00:00:00Z"}
        (place / "auth.json").write_text(json.dumps(login))
    (home / ".auth.json.engine-lent").write_text(str(copy / "auth.json"))
    (state / "calls" / "call-1.lock").touch()
    path = str(Shop(tmp_path).program("result()"))
    known = {"repositories": ({"name": "a/b"},), "state_dir": state, "sandbox": "none", "claude_cli": path}
    settings = Settings.model_validate(known, strict=False)
    environment = {"PATH": os.defpath, "CODEX_HOME": str(home), "ANTHROPIC_API_KEY": "k"}
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        logs = stack.enter_context(structlog.testing.capture_logs())
        await backend(process, settings.repositories[0], Confinement())
        endpoints = endpoints_of(process, "codex", cli_backends()["codex"])
    assert json.loads((home / "auth.json").read_text())["tokens"]["refresh_token"] == "r3new-1"
    assert not copy.exists()
    async with endpoints.open(Shop(tmp_path).request()) as endpoint:
        assert (endpoint.token, endpoint.file) == ("l0gin-1", home / "auth.json")
    (said,) = [entry for entry in logs if entry["event"] == "model_proxy_off"]
    assert "nothing stops a run at its budget but its deadline" in said["not_enforced"]
    assert "l0gin" not in str(logs)
    assert "r3new" not in str(logs)


async def test_the_demonstration_plays_the_program_that_is_configured(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "repos.yml").write_text(json.dumps({"repositories": [{"name": "a/b"}], "codex_cli": str(program)}))
    environment = {"PATH": "/usr/bin:/bin", "WORKFLOW_ENGINE_CONFIG": str(tmp_path / "repos.yml")}
    async with playing("codex", STORIES[:1], environment, own_story=False) as plain:
        assert plain.program == program
        assert str(program) in plain.sentence


@pytest.mark.parametrize("named", [{}, {"CODEX_API_KEY": "k"}], ids=["a login on the machine", "a key by name"])
async def test_a_login_that_only_lies_on_the_machine_is_for_a_story_of_one_s_own(
    tmp_path: Path, named: dict[str, str]
) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    tokens = {"access_token": "l0gin", "refresh_token": "r3new"}
    (tmp_path / "auth.json").write_text(json.dumps({"tokens": tokens}))
    environment = {"PATH": str(tmp_path), "CODEX_HOME": str(tmp_path), **named}
    async with playing("codex", STORIES[:1], environment, own_story=False) as plain:
        assert plain.paid == bool(named)
        assert "CODEX_HOME" not in plain.variables
    async with playing("codex", STORIES[:1], environment, own_story=True) as own:
        assert own.paid
        assert own.variables == (named or {"CODEX_HOME": str(tmp_path)})
    assert ("subscription's login; the CLI sees the login" in own.sentence) == (not named)
    assert "l0gin" not in own.sentence
