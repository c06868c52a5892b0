"""The set-up step: once per state of the lock files, with network but no secret, read-only afterwards."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from shared.errors import Misconfigured
from shared.sandbox.confinement import Confinement, Isolation, Wrap
from shared.sandbox.limits import ProcessLimits
from worker_agent.tdd.runners.report_runner import ReportRunner
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.setup.setup_step import SetUp, SetUpFailed, collect, digest, lock_files

PYTHON = shlex.quote(sys.executable)
NODE = {"package-lock.json": "{}"}
INSTALL = """import os, pathlib, sys
made = pathlib.Path("node_modules/thing")
made.mkdir(parents=True)
(made / "index.js").write_text("module.exports = 1")
said = sorted(f"{name}={value}" for name, value in os.environ.items())
pathlib.Path("node_modules/environment").write_text("\\n".join(said))
"""


def made(events: Sequence[Mapping[str, object]]) -> int:
    """Return how often the set-up was run."""
    return sum(event["event"] == "set_up_completed" for event in events)


class Yard:
    """A checkout, and where environments are kept."""

    def __init__(self, root: Path, confinement: Confinement) -> None:
        self.where, self.root = root / "checkout", root / "env"
        self.where.mkdir(parents=True)
        self.confinement = confinement

    def write(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            (self.where / name).write_text(content)

    def set_up(self, command: str | None = f"{PYTHON} install.py") -> SetUp:
        return SetUp("ada/greetings", command, self.root, {"PATH": "/usr/bin:/bin"}, self.confinement)


@pytest.fixture(params=[Isolation.SANDBOX, Isolation.TREE_BY_GROUP])
def yard(request: pytest.FixtureRequest, tmp_path: Path) -> Yard:
    made = Yard(tmp_path, Confinement(Wrap(request.param)))
    made.write({"install.py": INSTALL, **NODE})
    return made


async def test_it_runs_once_per_lock_file_and_is_found_by_every_checkout(yard: Yard) -> None:
    with capture_logs() as events:
        first, again = await yard.set_up().installed(yard.where), await yard.set_up().installed(yard.where)
    assert first == again
    assert made(events) == 1
    assert first.root is not None
    first.offer(yard.where)
    assert (yard.where / "node_modules" / "thing" / "index.js").read_text() == "module.exports = 1"
    yard.write({"package-lock.json": '{"v": 2}'})
    other = await yard.set_up().installed(yard.where)
    assert other.root != first.root


async def test_of_two_at_the_same_time_one_makes_it(yard: Yard) -> None:
    found = []

    async def install() -> None:
        found.append(await yard.set_up().installed(yard.where))

    with capture_logs() as events:
        async with anyio.create_task_group() as group:
            group.start_soon(install)
            group.start_soon(install)
    assert found[0] == found[1]
    assert made(events) == 1


async def test_no_scripts_no_secret_and_a_home_of_its_own(yard: Yard) -> None:
    ready = await yard.set_up().installed(yard.where)
    assert ready.root is not None
    seen = dict(
        line.partition("=")[::2] for line in (ready.root / "project/node_modules/environment").read_text().splitlines()
    )
    assert seen["npm_config_ignore_scripts"] == "true"
    assert seen["PIP_ONLY_BINARY"] == ":all:"
    assert seen["HOME"].startswith(str(yard.root))
    assert not [name for name in seen if "TOKEN" in name or "KEY" in name]
    assert not (ready.root / "home").exists()


async def test_a_python_project_gets_an_environment_that_is_not_the_engines(yard: Yard) -> None:
    yard.write(
        {
            "pyproject.toml": "[project]\n",
            "install.py": "import sys, pathlib\npathlib.Path(sys.prefix, 'who').write_text(sys.prefix)\n",
        }
    )
    ready = await yard.set_up("python install.py").installed(yard.where)
    assert ready.root is not None
    assert list((ready.root / "project").iterdir()) == [], "nothing of it is needed any more"
    assert (ready.root / "venv" / "who").read_text() == str(ready.root / "venv") != sys.prefix
    assert ready.environment({"PATH": "/bin"})["PATH"] == f"{ready.root}/venv/bin:/bin"
    ready.offer(yard.where)
    assert (yard.where / ".venv" / "bin" / "python").exists()


async def test_what_fails_is_told_with_its_output_and_leaves_nothing(yard: Yard) -> None:
    yard.write({"install.py": "print('no such package'); raise SystemExit(4)"})
    with pytest.raises(SetUpFailed, match=r"(?s)exit code 4.*no such package"):
        await yard.set_up().installed(yard.where)
    assert [path.name for path in yard.root.iterdir() if path.is_dir()] == []
    with pytest.raises(Misconfigured, match="setup_command"):
        await yard.set_up("make a && make b").installed(yard.where)


async def test_a_limit_holds_for_set_up_too(yard: Yard) -> None:
    yard.confinement = Confinement(yard.confinement.wrap, ProcessLimits(processes=16))
    yard.write({"install.py": "import os, time\nfor _ in range(6):\n    os.fork()\ntime.sleep(600)\n"})
    with pytest.raises(SetUpFailed, match=r"limit processes \(more than 16\)"):
        await yard.set_up().installed(yard.where)


async def test_tests_find_what_was_installed_and_cannot_change_it(tmp_path: Path) -> None:
    yard = Yard(tmp_path, Confinement(Wrap(Isolation.SANDBOX)))
    check = "import pathlib\nplace = pathlib.Path('node_modules/thing/index.js')\nprint(place.read_text())\n"
    check += "try:\n    place.write_text('changed')\nexcept OSError as error:\n    print(error.strerror)\n"
    yard.write({"install.py": INSTALL, "check.py": check, **NODE})
    bench = TestBench({"PATH": "/usr/bin:/bin"}, 60, confinement=yard.confinement, setup=yard.set_up())
    run = await bench.run(Tests(ReportRunner("report.xml"), f"{PYTHON} check.py"), yard.where, tmp_path)
    assert run.output_tail.splitlines() == ["module.exports = 1", "Read-only file system"]


def test_environments_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.lock").touch()
    os.utime(tmp_path / "old", (0, 0))
    assert collect(tmp_path) == (tmp_path / "old",)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".swept", "new", "new.lock"]


def test_the_name_follows_what_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "requirements-dev.txt").write_text("a")
    (tmp_path / "uv.lock").symlink_to("/etc/passwd")
    files = lock_files(tmp_path)
    assert files == {"requirements-dev.txt": b"a"}
    asked = [("a/b", "x", files), ("a/b", "y", files), ("a/b", "x", {"requirements-dev.txt": b"b"}), ("a/b", "x", {})]
    asked.append(("a/c", "x", files))
    assert len({digest(*one) for one in asked}) == 5
    assert digest("A/B", "x", files) == digest("a/b", "x", files), "GitHub takes them for the same"
