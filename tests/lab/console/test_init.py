"""`workflow-engine init` in a whole GitHub: made where it is missing, kept where it is, and the same again."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread
import pytest
from engine import ENGINE, REPOSITORY, WRITES
from judge import Judge

from config.loading import load
from console.init.command import Ask, InitOptions, initialise
from lab.github.server import Lab
from shared.github.label_board import LOOKS, STORY_LOOK
from shared.process import run
from shared.workflow import Stage
from shared.workflow.labels import Labels

READY = Labels().of(Stage.READY)


@dataclass
class Desk:
    """A person's machine beside a GitHub whose repository lacks one label."""

    lab: Lab
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        token = self.lab.token(ENGINE, WRITES)
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "GITHUB_TOKEN": token}

    async def init(self, options: InitOptions, ask: Ask | None = None) -> int:
        """Run `workflow-engine init`, by default where nobody can be asked, and return its exit code."""
        options = replace(options, config=self.config)
        return await anyio.to_thread.run_sync(initialise, options, ask, self.environment)

    @property
    def config(self) -> Path:
        return self.home / "repos.yml"

    @property
    def key(self) -> Path:
        return self.home / ".config" / "workflow-engine" / "lock.key"

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(self.home.rglob("*")) if path.is_file()}


@pytest.fixture
async def desk(tmp_path: Path, judge: Judge) -> AsyncIterator[Desk]:
    async with Lab(tmp_path / "github") as lab:
        lab.exchanges.observe(judge)
        repository = await lab.repository(REPOSITORY, {"README.md": "hello\n"}, collaborators={ENGINE: "write"})
        looks = {Labels().of(what): look for what, look in LOOKS.items()} | {"story": STORY_LOOK}
        for name, (colour, description) in looks.items():
            if name != READY:
                repository.labels.create(name, colour, description)
        (tmp_path / "home").mkdir()
        yield Desk(lab, tmp_path / "home")
        assert lab.unlisted == []
    assert judge.complaints == []


async def test_it_makes_what_is_missing_and_repeating_it_changes_nothing(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (REPOSITORY, "--api-url", desk.lab.url, "--yes", "--config", str(desk.config))
    env = {**desk.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = await run((sys.executable, "-m", "console", "init", *words), cwd=desk.home, env=env)
    assert done.code == 0, done.stderr.decode()
    assert f"Created 1 labels in {REPOSITORY}." in done.text
    assert f"Copy {desk.key} to every machine" in done.text
    assert desk.lab.at(REPOSITORY).labels.require(READY).color == LOOKS[Stage.READY][0]
    assert (desk.key.stat().st_mode & 0o777, len(desk.key.read_bytes()) > 32) == (0o600, True)
    settings = load(desk.config, repository=None, environment={"HOME": str(desk.home)})
    assert [one.name for one in settings.repositories] == [REPOSITORY]
    assert (settings.lock.key_files, settings.github.api_url) == ((desk.key,), desk.lab.url)
    assert desk.key.read_text().strip() not in done.text

    before, asked = desk.files(), len(list(desk.lab.exchanges))
    assert await desk.init(InitOptions(yes=True)) == 0
    assert capsys.readouterr().out == "Everything was there already: nothing was changed.\n"
    assert desk.files() == before
    assert {exchange.method for exchange in list(desk.lab.exchanges)[asked:]} == {"GET"}


async def test_a_dry_run_shows_everything_and_does_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert await desk.init(InitOptions(REPOSITORY, api_url=desk.lab.url, dry_run=True)) == 0
    said = capsys.readouterr().out
    assert f"+  - name: {REPOSITORY}" in said.splitlines()
    assert f"would create 1 labels in {REPOSITORY}: {READY}" in said
    assert f"+++ {desk.key} (a new secret, mode 0600)" in said
    assert said.endswith("Nothing was changed.\n")
    assert desk.files() == {}
    assert desk.lab.at(REPOSITORY).labels.find(READY) is None


async def test_a_configuration_that_is_there_is_kept_and_what_to_add_is_said(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    server = f'{{api_url: "{desk.lab.url}", write_interval_seconds: 0}}'
    mine = f"repositories: [{{name: {REPOSITORY}}}]\ngithub: {server}\n"
    desk.config.write_text(mine)
    labels = desk.lab.at(REPOSITORY).labels
    labels.change("story", None, "000000", "mine")
    assert await desk.init(InitOptions(yes=True)) == 0
    assert f"{desk.config} was kept. Add to it:  lock: {{key_files: [{desk.key}]}}" in capsys.readouterr().out
    assert (desk.config.read_text(), desk.key.exists()) == (mine, True)
    assert labels.require("story").color == "000000", "a person's colour stays"

    assert await desk.init(InitOptions(yes=True, update=True)) == 0
    assert f"Repainted 1 labels in {REPOSITORY}." in capsys.readouterr().out
    assert (labels.require("story").color, labels.require("story").description) == STORY_LOOK


async def test_without_a_yes_nothing_is_done(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    questions: list[str] = []

    def no(question: str) -> bool:
        questions.append(question)
        return False

    options = InitOptions(REPOSITORY, api_url=desk.lab.url)
    assert await desk.init(options) == 2
    assert "give --yes, or --dry-run" in capsys.readouterr().err
    assert await desk.init(options, no) == 1
    said = capsys.readouterr().out
    assert f"  create 1 labels in {REPOSITORY}: {READY}" in said.splitlines()
    assert said.endswith("Nothing was changed.\n")
    assert len(questions) == 1
    assert desk.files() == {}
    assert desk.lab.at(REPOSITORY).labels.find(READY) is None


async def test_a_new_configuration_needs_a_repository(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert await desk.init(InitOptions(yes=True)) == 2
    assert "workflow-engine init owner/repo" in capsys.readouterr().err
    assert await desk.init(InitOptions("nonsense", yes=True)) == 2
    assert "'nonsense' is not a repository" in capsys.readouterr().err
    assert desk.files() == {}


@pytest.mark.fault(4)
async def test_a_token_that_may_not_make_labels_ends_with_its_code(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.lab.configure(REPOSITORY, collaborators={ENGINE: "read"})
    server = f'{{api_url: "{desk.lab.url}", write_interval_seconds: 0}}'
    desk.config.write_text(f"repositories: [{{name: {REPOSITORY}}}]\ngithub: {server}\n")
    assert await desk.init(InitOptions(yes=True)) == 4
    assert "does not allow POST" in capsys.readouterr().err


async def test_a_repository_that_is_not_there_is_told_as_by_other_commands(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await desk.init(InitOptions("nobody/nothing", api_url=desk.lab.url, yes=True)) == 4
    told = "GitHub does not show the repository nobody/nothing to this token: check the spelling"
    assert told in capsys.readouterr().err
    assert desk.files() == {}
