"""`workflow-engine uninstall`: what the engine keeps in a repository goes, what is people's stays, and it is said."""

from __future__ import annotations

import re

import anyio.to_thread
import pytest
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine

from config.loading import VARIABLE
from console.uninstall import Ask, UninstallOptions, removed
from lab import locks, stub_project
from shared.github.label_board import LOOKS
from shared.workflow import Role
from shared.workflow.labels import Labels


async def uninstall(engine: Engine, options: UninstallOptions, ask: Ask | None = None) -> int:
    file = engine.directory / "config.yml"
    file.write_text(engine.settings("machine-1").model_dump_json(include={"repositories", "state_dir", "work_dir"}))
    text = file.read_text()[:-1] + f', "github": {{"api_url": "{engine.lab.url}", "write_interval_seconds": 0}}'
    file.write_text(f'{text}, "sandbox": "none", "llm": {{"scenario": "{engine.scenario}"}}}}')
    home = str(engine.directory)
    token = engine.lab.token(ENGINE, WRITES)
    environment = {"PATH": "/usr/bin:/bin", "HOME": home, "GITHUB_TOKEN": token, VARIABLE: str(file)}
    return await anyio.to_thread.run_sync(removed, options, ask, environment)


async def refs(engine: Engine) -> list[str]:
    told = await engine.lab.at(REPOSITORY).bare.git.check("for-each-ref", "--format=%(refname)")
    return told.text.split()


async def test_what_is_the_engines_goes_and_what_is_peoples_stays(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = engine.lab.at(REPOSITORY)
    for what, (colour, description) in LOOKS.items():
        repository.labels.create(Labels().of(what), colour, description)
    repository.labels.create("mine", "ffffff", "")
    engine.script(stub_project.scenario("kim"))
    engine.repository_settings |= {"test_command": "sh check.sh", "test_report": "report.xml"}
    number = engine.lab.issue(REPOSITORY, "Greet kim", author=OWNER, labels=("mine", "status:ready")).number
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
    assert any(ref.startswith("refs/ack/worker/") for ref in await refs(engine))
    before = await refs(engine)
    assert await uninstall(engine, UninstallOptions(REPOSITORY, dry_run=True)) == 0
    assert await uninstall(engine, UninstallOptions(REPOSITORY)) == 2
    assert await uninstall(engine, UninstallOptions(REPOSITORY), lambda question: False) == 1
    assert (await refs(engine), "Nothing was changed." in capsys.readouterr().out) == (before, True)

    assert await uninstall(engine, UninstallOptions(REPOSITORY, yes=True)) == 0
    said = capsys.readouterr().out
    assert [ref for ref in await refs(engine) if ref.startswith(("refs/ack/", "refs/notes/"))] == []
    assert {ref for ref in before if ref.startswith("refs/heads/")} <= set(await refs(engine))
    assert engine.issue(number).labels == ("mine",)
    assert [one.name for one in repository.labels.values()] == ["mine"]
    state = engine.directory / "machine-1"
    assert not list((state / "mirrors").rglob("*.git"))
    assert "Left: comments, branches" in said
    assert f"Left: {engine.directory / 'config.yml'}" in said
    assert re.search(r"Left: /\S+, what this machine keeps for all repositories", said)

    assert await uninstall(engine, UninstallOptions(REPOSITORY, yes=True)) == 0
    assert "has no labels and no refs of the engine" in capsys.readouterr().out


async def test_an_agent_at_work_is_not_robbed(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.script("- call: write_tests\n  takes: 600\n  edits: []\n")
    engine.ready("Greet kim")
    async with engine.agent(Role.WORKER) as worker:
        await engine.look(worker)
        held = locks.held(engine.lab.at(REPOSITORY))
        before = await refs(engine)
        assert held
        assert await uninstall(engine, UninstallOptions(REPOSITORY, yes=True)) == 1
        assert "Agents hold #1 (worker" in capsys.readouterr().err
        assert await refs(engine) == before
