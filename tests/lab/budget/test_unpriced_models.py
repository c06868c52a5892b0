"""Models that a role asks of Codex and that nobody has priced are named before any money is spent."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from git_remote import fences_of, machine, remote_at
from paid_scene import AT, REQUEST, Priced

from config.settings import Settings
from config.state import StateDirectory
from console.doctor import programs
from console.doctor.finding import Machine, Status
from runtime.building.assembly import Process
from runtime.building.backends import backend, unpriced
from runtime.building.budget import RepositoryBudget
from shared.budget.budgets import BudgetLimits
from shared.budget.ledger import Ledger
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from shared.workflow import Role

QWEN = """#!/bin/sh
case "$1" in
--version) echo 0.24.4 ;;
*) echo "Qwen Code --bare --approval-mode --allowed-tools --exclude-tools --json-schema --max-session-turns" \
    "--auth-type --output-format" ;;
esac
"""

PRICE = {"input": 1, "output": 2, "cached": 0.1, "written": 1}


def configured(tmp_path: Path, usual: str, **more: Any) -> Settings:
    known = {
        "repositories": [{"name": "a/b", "llm_backend": usual}, {"name": "a/c", "llm_backend": usual}],
        "state_dir": tmp_path / "state",
        "sandbox": "none",
        "codex_cli": str(tmp_path / "codex"),
        "llm": {"scenario": tmp_path / "scenario.yml"},
    }
    return Settings.model_validate(known | more, strict=False)


async def test_a_backend_without_a_model_of_its_own_is_refused_at_the_start_and_by_the_doctor(tmp_path: Path) -> None:
    program = tmp_path / "qwen"
    program.write_text(QWEN)
    program.chmod(0o700)
    settings = configured(tmp_path, "qwen", qwen_cli=str(program))
    environment = {"PATH": os.defpath, "OPENAI_COMPATIBLE_API_KEY": "k", "OPENAI_COMPATIBLE_BASE_URL": "https://a.b"}
    with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER) as identity:
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        with pytest.raises(Misconfigured, match=r"llm\.models\.qwen"):
            await backend(process, settings.repositories[0], Confinement())
    found = {one.subject: one for one in await programs.coding_backends(Machine(settings, environment, RealClock()))}
    assert found["qwen"].status is Status.FAIL
    assert "llm.models.qwen" in found["qwen"].sentence
    named = configured(tmp_path, "qwen", qwen_cli=str(program), llm={"models": {"qwen": "gpt-5"}})
    found = {one.subject: one for one in await programs.coding_backends(Machine(named, environment, RealClock()))}
    assert (found["qwen"].status, found["model key"].status) == (Status.PASS, Status.PASS)


@pytest.mark.parametrize(
    ("usual", "role", "more", "found"),
    [
        ("codex", {"model": "gpt-9"}, {}, ["gpt-9"]),
        ("codex", {"model": "gpt-6.1-sol"}, {}, []),
        ("codex", {}, {}, []),
        ("claude", {"model": "opus"}, {}, []),
        ("claude", {"model": "opus", "backend": "codex"}, {}, ["opus"]),
        ("codex", {"model": "opus", "backend": "claude"}, {}, []),
        ("codex", {"model": "gpt-9"}, {"prices": {"gpt-9": PRICE}}, []),
        ("qwen", {}, {"llm": {"models": {"qwen": "qwen9"}}}, ["qwen9"]),
        ("qwen", {}, {"llm": {"models": {"qwen": "qwen9"}}, "prices": {"qwen9": PRICE}}, []),
        ("claude", {}, {"llm": {"models": {"qwen": "qwen9"}}}, []),
    ],
)
def test_a_model_without_a_price_is_found(
    tmp_path: Path, usual: str, role: dict[str, str], more: dict[str, Any], found: list[str]
) -> None:
    assert unpriced(configured(tmp_path, usual, roles={"developer": role}, **more)) == found


@pytest.mark.parametrize(("model", "warned"), [("gpt-9", True), ("gpt-5.5", False)])
async def test_the_start_and_the_doctor_name_it_once(tmp_path: Path, model: str, warned: bool) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o700)
    settings = configured(tmp_path, "codex", roles={"developer": {"model": model}})
    environment = {"PATH": os.defpath, "OPENAI_API_KEY": "k"}
    with ExitStack() as stack:
        identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        logs = stack.enter_context(structlog.testing.capture_logs())
        for repository in settings.repositories:
            with pytest.raises(Misconfigured, match="codex_cli"):
                await backend(process, repository, Confinement())
    said = [entry["models"] for entry in logs if entry["event"] == "models_without_price"]
    assert said == ([[model]] if warned else [])
    findings = await programs.coding_backends(Machine(settings, environment, RealClock()))
    told = [one for one in findings if one.subject == "model prices"]
    assert [one.status for one in told] == ([Status.WARN] if warned else [])
    assert all(model in one.sentence and "unknown_run" in one.sentence for one in told)


async def test_a_run_without_a_price_is_told_to_the_webhook_once_over_restarts(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    secret = tmp_path / "secret"
    secret.write_text("a secret of sixteen")
    secret.chmod(0o600)
    notify = {"webhook": "http://127.0.0.1:9/hook", "webhook_secret_file": str(secret)}
    settings = configured(tmp_path, "codex", notify=notify)
    environment = {"PATH": os.defpath, "GITHUB_TOKEN": "t"}
    for usd in (1.0, None, None):
        with ExitStack() as stack:
            identity = stack.enter_context(StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER))
            process = Process(settings, Role.WORKER, RealClock(), identity, environment)
            ledger = Ledger(fences_of(mirror), mirror, lambda: AT, BudgetLimits(issue=100), "worker")
            budget = RepositoryBudget(ledger, 5.0)
            await budget.paid(process, settings.repositories[0], Priced(usd, name="codex")).run(REQUEST)
        kept = list((settings.state_dir / "outbox").glob("*.json"))
        assert len(kept) == (usd is None)
    message = json.loads(kept[0].read_text())["message"]
    assert (message["kind"], message["repository"], message["number"]) == ("unpriced", "a/b", 0)
    assert message["url"] == "https://github.com/a/b"
    assert "a run of codex has cost" in message["sentence"]
