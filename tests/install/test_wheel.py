"""The engine from its wheel, in an environment of its own, outside of any checkout: as people install it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import anyio
import pytest

from shared.process import Finished, run

ROOT = Path(__file__).parents[2]
PACKAGES = ("planner_agent", "worker_agent", "reviewer_agent", "shared", "config", "runtime", "lab", "console")
COMMANDS = ("workflow-engine", "planner-agent", "worker-agent", "reviewer-agent")


@dataclass(frozen=True)
class Installed:
    """One installation of the programs, with the home directory under which they run."""

    bin: Path
    home: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8"}

    async def run(self, *argv: str, cwd: Path | None = None) -> Finished:
        return await run((str(self.bin / argv[0]), *argv[1:]), cwd=cwd or self.home, env=self.environment)


async def done(*argv: str, cwd: Path, **variables: str) -> Finished:
    """Run a command of an installer, which must succeed."""
    finished = await run(argv, cwd=cwd, env={**os.environ, **variables})
    assert finished.code == 0, finished.stderr.decode()
    return finished


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, so that nothing of it is left in the checkout."""
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "source"
    left_out = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, copy, ignore=left_out)
    argv = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(copy))
    anyio.run(lambda: done(*argv, cwd=place))
    (found,) = place.glob("*.whl")
    return found


def installers() -> list[str]:
    return ["pip", *(name for name in ("uv", "pipx") if shutil.which(name))]


@pytest.fixture(scope="session", params=installers())
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the engine by each installer of this machine, in a directory with a blank in its name."""
    home = tmp_path_factory.mktemp("a home") / "of ada"
    home.mkdir()
    tools = home / "bin"

    async def install() -> Path:
        match request.param:
            case "uv":
                places = {"UV_TOOL_DIR": str(home / "tools"), "UV_TOOL_BIN_DIR": str(tools)}
                await done("uv", "tool", "install", "--quiet", str(wheel), cwd=home, **places)
                return tools
            case "pipx":
                await done("pipx", "install", str(wheel), cwd=home, PIPX_HOME=str(home / "px"), PIPX_BIN_DIR=str(tools))
                return tools
            case _:
                await done(sys.executable, "-m", "venv", str(home / "venv"), cwd=home)
                python = str(home / "venv" / "bin" / "python")
                constraints = ("-c", str(ROOT / "constraints.txt"))
                await done(python, "-m", "pip", "install", "--quiet", *constraints, str(wheel), cwd=home)
                return home / "venv" / "bin"

    return Installed(anyio.run(install), home)


def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    told = metadata(wheel)
    assert told["Author"] == "The Workflow Engine maintainers"
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= {
        one.split(",")[0] for one in told.get_all("Project-URL", [])
    }
    assert "Typing :: Typed" in told.get_all("Classifier", [])
    text = str(told.get_payload())
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_wheel_holds_what_is_needed_and_nothing_of_the_tests(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert "config/repos.yml.example" in names
    assert {
        f"console/dashboard/{name}" for name in ("page.html", "live.html", "page.js", "page.css", "icon.svg")
    } <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} - set(PACKAGES) == {
        name.split("/")[0] for name in names if ".dist-info/" in name
    }


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_program_starts_and_helps(installed: Installed, command: str) -> None:
    assert (await installed.run(command, "--version")).text == "0.1.0"
    assert "owner/repo" in (await installed.run(command, "-h")).text or command == "workflow-engine"


async def test_a_project_with_packages_of_the_same_names_is_no_obstacle(installed: Installed, tmp_path: Path) -> None:
    for name in ("config", "shared"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    assert (await installed.run("worker-agent", "--version", cwd=tmp_path)).text == "0.1.0"
    told = await installed.run("workflow-engine", "init", cwd=tmp_path)
    assert (told.code, "say for which repository" in told.stderr.decode()) == (2, True)


async def test_completion_is_offered(installed: Installed) -> None:
    env = {**installed.environment, "_WORKFLOW_ENGINE_COMPLETE": "complete_bash", "COMP_WORDS": "workflow-engine st"}
    program = str(installed.bin / "workflow-engine")
    asked = await run((program,), cwd=installed.home, env={**env, "COMP_CWORD": "1"})
    assert asked.text.split() == ["start", "status"]


async def test_the_demonstration_runs_without_a_checkout(installed: Installed) -> None:
    told = await installed.run("workflow-engine", "demo")
    assert told.code == 0, told.text
    assert "Merged, closed, and green." in told.text
