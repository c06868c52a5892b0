"""The demonstration on a person's own repository, and the script by which a real CLI plays it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from rich.console import Console

from console.demo.command import DemoOptions, show
from lab.demo import own_project
from lab.demo.model_script import script
from lab.demo.setup import REPOSITORY
from lab.demo.stories import STORIES, scenario
from lab.github.repositories.git_command import Git, signed
from lab.github.server import Lab
from shared.errors import Misconfigured
from shared.llm.port import CoderCall
from shared.llm.scenario import Scenario

pytestmark = pytest.mark.long

ME = ("Me", "me@example.org")
ROOT = Path(__file__).parents[3]


@pytest.fixture
async def project(tmp_path: Path) -> Git:
    """Make a repository with one commit on `trunk` and an uncommitted change."""
    place = tmp_path / "project"
    _write(place, "a.py", "x = 1\n")
    git = Git(place)
    await git.check("init", "--quiet", "--initial-branch=trunk")
    await git.check("add", "--all")
    await git.check("commit", "--quiet", "--message", "One", env=signed(ME, ME))
    _write(place, "a.py", "x = 2\n")
    return git


def _write(place: Path, name: str, text: str) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text)


def everything(place: Path) -> dict[str, tuple[str, int]]:
    """Return the content and the number of links of every file below a directory."""
    return {
        path.relative_to(place).as_posix(): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_nlink)
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


async def test_a_copy_goes_in_a_branch_comes_out_and_nothing_is_written_there(project: Git, tmp_path: Path) -> None:
    before = everything(project.directory)
    source = await own_project.look(project.directory)
    assert (source.branch, source.dirty) == ("trunk", True)
    file = tmp_path / "result.bundle"
    async with Lab(tmp_path / "github") as lab:
        await lab.repository(REPOSITORY, {"README.md": "A copy is on its way.\n"})
        await own_project.bring(lab, source)
        bare = lab.at(REPOSITORY).bare
        assert await bare.read("main", "a.py") == b"x = 1\n"
        assert await bare.read("main", "README.md") is None
        assert not await own_project.bundled(lab, source, file)
        tree = (await bare.git.check("rev-parse", "main^{tree}")).text.strip()
        made = await bare.git.check("commit-tree", tree, "-p", source.commit, "-m", "Two", env=signed(ME, ME))
        await bare.git.check("update-ref", own_project.RESULT, made.text.strip())
        assert await own_project.bundled(lab, source, file)
    assert everything(project.directory) == before
    name = own_project.branch_name("Add user search!\nIn any case.")
    await project.check("fetch", "--quiet", str(file), f"{own_project.RESULT}:refs/heads/{name}")
    subjects = (await project.check("log", "--format=%s", "engine/add-user-search")).text.split()
    assert subjects == ["Two", "One"]


@pytest.mark.parametrize("name", ["50%41 off", "a#b?c", "Größe & co", "it's; $(id)"])
async def test_the_path_of_a_repository_may_hold_anything(project: Git, tmp_path: Path, name: str) -> None:
    source = await own_project.look(project.directory.rename(tmp_path / name))
    async with Lab(tmp_path / "github") as lab:
        await lab.repository(REPOSITORY, {"README.md": "A copy is on its way.\n"})
        await own_project.bring(lab, source)
        assert await lab.at(REPOSITORY).bare.sha("refs/heads/main") == source.commit


async def test_what_cannot_be_used_is_refused_with_a_sentence(project: Git, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no such directory"):
        await own_project.look(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(Misconfigured, match="cannot be used"):
        await own_project.look(empty)
    await project.check("commit", "--quiet", "--allow-empty", "--message", "Two", env=signed(ME, ME))
    shallow = tmp_path / "shallow"
    await project.check("clone", "--quiet", "--depth=1", f"file://{project.directory}", str(shallow))
    with pytest.raises(Misconfigured, match="unshallow"):
        await own_project.look(shallow)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"repo": Path()}, "go together"),
        ({"story": "x", "llm": "claude"}, "go together"),
        ({"repo": Path(), "story": " ", "llm": "claude"}, "is empty"),
        ({"repo": Path(), "story": "x"}, "needs a real coder"),
    ],
)
async def test_wishes_that_contradict_each_other(options: dict[str, object], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=sentence):
        await show(DemoOptions(tmp_path / "demo", **options), Console(quiet=True))  # type: ignore[arg-type]
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("backend", ["claude", "codex"])
def test_every_call_of_the_demonstration_is_known_to_the_model_by_its_prompt(backend: str) -> None:
    answers = Scenario.parse(scenario(STORIES[:1])).answers
    scenes = script(Scenario.parse(scenario(STORIES[:1])), backend).scenes
    assert len({scene.part for scene in scenes}) == len(answers) == len(scenes)
    prompts = " ".join(path.read_text() for path in ROOT.glob("*_agent/prompts/*.md"))
    for answer, scene in zip(answers, scenes, strict=True):
        if answer.call is CoderCall.IMPLEMENT and not answer.round:
            assert "This is attempt {{ attempt }}" in prompts
        elif (answer.call, answer.round) != (CoderCall.REVIEW, 1):
            assert scene.part in prompts
