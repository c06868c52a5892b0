"""Environments are each repository's own: who is shown one, what is left in it, and what is taken back."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_shop import TOKEN, Shop
from sandbox.cell import CANARY, SEALED

from config.settings import Settings
from config.state import StateDirectory
from console.verify import command as verify
from runtime.building.assembly import Process
from runtime.building.backends import backend
from runtime.building.confinement import confinement, environments
from shared.llm.port import Ending
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement
from shared.sandbox.self_test import diagnosis, tried
from shared.workflow import Role
from worker_agent.tdd.runners.maven_runner import GradleRunner
from worker_agent.tdd.runners.test_bench import TestBench, Tests
from worker_agent.tdd.setup.installed import NOTHING, Installed
from worker_agent.tdd.setup.setup_step import SetUp, prune

SEARCH = """
def tried(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        return type(error).__name__
places = json.loads(prompt)
pathlib.Path("seen").write_text(json.dumps({name: tried(path) for name, path in places.items()}))
result()
"""


def settings_of(root: Path, sandbox: str = "none", **more: object) -> Settings:
    """Return a configuration with two repositories whose state is below `root`."""
    names = [{"name": "ada/public", **more}, {"name": "ada/private"}]
    known = {"repositories": names, "state_dir": str(root / "state"), "work_dir": str(root / "work")}
    return Settings.model_validate({**known, "sandbox": sandbox, "claude_cli": str(root / "claude")}, strict=False)


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
async def test_a_coding_cli_is_shown_no_environment_but_its_own(tmp_path: Path, sandbox: str) -> None:
    if why := diagnosis(await tried(SEALED, {"PATH": os.defpath})):
        pytest.skip(why[0])
    shop, settings = Shop(tmp_path), settings_of(tmp_path, sandbox)
    shop.program(SEARCH)
    own, other = (Installed(environments(settings) / name) for name in ("own", "other"))
    for one in (own, other):
        assert one.root is not None
        (one.root / "project" / "venv").mkdir(parents=True)
        (one.root / "project" / "venv" / "text").write_text(CANARY)
    tree = settings.work_dir / "tree"
    tree.mkdir(parents=True)
    own.offer(tree)
    (tree / "node_modules").symlink_to(environments(settings) / "other" / "project" / "venv")  # of the repository
    far = environments(settings) / "other/project/venv/text"
    places = {"own": "venv/text", "other": str(far), "by a link": "node_modules/text"}
    environment = {"PATH": os.defpath, "ANTHROPIC_API_KEY": TOKEN}
    with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER) as identity:
        process = Process(settings, Role.WORKER, RealClock(), identity, environment)
        coder = await backend(process, settings.repositories[0], await confinement(settings, environment))
        asked = shop.request(tree=tree, prompt=json.dumps(places), readable=own.readable)
        outcome = await coder.run(asked)
    assert outcome.ending is Ending.COMPLETED, outcome.text
    assert far.read_text() == CANARY, "it is there"
    seen = json.loads((tree / "seen").read_text())
    assert seen == {"own": CANARY, "other": "FileNotFoundError", "by a link": "FileNotFoundError"}


async def test_what_is_verified_is_never_set_up_in_the_workers_environments(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, setup_command=f"{shlex.quote(sys.executable)} install.py", test_command="pytest")
    place, checkout = tmp_path / "work" / "verify-1", tmp_path / "checkout"
    for directory in (place, checkout):
        directory.mkdir(parents=True)
    (checkout / "install.py").write_text("import pathlib\npathlib.Path('node_modules').mkdir()\n")
    (checkout / "package.json").write_text("{}")
    bench = await verify.bench_of(settings, settings.repositories[0], {"PATH": os.defpath}, place)
    installed = await bench.equip(checkout)
    assert installed.root is not None
    assert installed.root.parent == place / "env"
    assert (checkout / "node_modules").is_dir()
    assert not environments(settings).exists()


INSTALL = """
import pathlib
said = [(name, pathlib.Path(name).read_text()) for name in ("install.py", "setup.py", "requirements.txt")]
pathlib.Path("node_modules").mkdir()
pathlib.Path("node_modules/seen").write_text(repr([text[-9:] for _, text in said]))
# the base"""


@pytest.mark.long
async def test_nothing_but_data_of_a_tree_is_set_up(tmp_path: Path) -> None:
    where = tmp_path / "tree"
    where.mkdir()
    for name in ("install.py", "setup.py"):
        (where / name).write_text("raise SystemExit('the coder ran')")
    (where / "requirements.txt").write_text("# planned")

    async def base(project: Path) -> None:
        (project / "install.py").write_text(INSTALL)
        (project / "setup.py").write_text("# the base")
        (project / "requirements.txt").symlink_to(tmp_path / "elsewhere")

    command = f"{shlex.quote(sys.executable)} install.py"
    setup = SetUp("ada/public", command, tmp_path / "env", {"PATH": os.defpath}, Confinement())
    installed = await setup.based(base).installed(where)
    assert installed.root is not None
    seen = (installed.root / "project" / "node_modules" / "seen").read_text()
    assert seen == repr([" the base", " the base", "# planned"])
    assert not (tmp_path / "elsewhere").exists(), "a link of the base leads nowhere"
    assert await setup.installed(where) == installed, "the same lock files, the same environment"


WRAPPER = """#!/bin/sh
program="${GRADLE_USER_HOME:-$HOME/.gradle}/wrapper/dists/program"
if [ "$1" = assemble ]; then mkdir -p "${program%/*}"; echo "echo It runs." >"$program"; chmod a-w "$program"; exit; fi
sh "$program" && touch "$program.lock" && echo "# changed" >>"$program"
"""


async def test_gradle_starts_what_its_wrapper_has_downloaded(tmp_path: Path) -> None:
    where, scratch = tmp_path / "tree", tmp_path / "scratch"
    for directory in (where, scratch):
        directory.mkdir()
    (where / "gradlew").write_text(WRAPPER)
    environment = {"PATH": os.defpath}
    setup = SetUp("ada/public", "sh gradlew assemble", tmp_path / "env", environment, Confinement())
    bench, tests = TestBench(environment, 60, setup=setup), Tests(GradleRunner(), "sh ./gradlew test")
    for _ in range(2):
        run = await bench.run(tests, where, scratch)
        assert "It runs." in run.output_tail
    (stored,) = (tmp_path / "env").rglob("wrapper/dists/*")
    assert stored.read_text() == "echo It runs.\n", "tests write into a copy"


def test_only_our_own_links_are_taken_back(tmp_path: Path) -> None:
    ready, where = Installed(tmp_path / "env"), tmp_path / "tree"
    for name in ("venv", "node_modules"):
        (tmp_path / "env" / "project" / name).mkdir(parents=True)
    (tmp_path / "env" / "venv").mkdir()
    where.mkdir()
    ready.offer(where)
    assert sorted(path.name for path in where.iterdir()) == [".venv", "node_modules", "venv"]
    (where / ".venv").unlink()
    (where / ".venv").symlink_to("/usr")
    (where / "node_modules").unlink()
    (where / "node_modules").mkdir()
    (where / "mine").symlink_to(tmp_path / "env" / "venv")
    NOTHING.withdraw(where)
    assert (where / "venv").is_symlink()
    ready.withdraw(where)
    ready.withdraw(where)
    assert sorted(path.name for path in where.iterdir()) == [".venv", "mine", "node_modules"]
    assert (tmp_path / "env" / "project" / "venv").is_dir(), "what it led to stays"


SITE = "venv/lib/python3.11/site-packages"
EDITABLE = json.dumps({"url": "file:///x", "dir_info": {"editable": True}})
PRUNED = ["node_modules"]
WHOLE = ["node_modules", "packages", "secret.py"]


@pytest.mark.parametrize(
    ("files", "links", "left"),
    [
        ({}, {}, PRUNED),
        ({f"{SITE}/thing.pth": "/elsewhere", f"{SITE}/a.dist-info/direct_url.json": "{}"}, {}, PRUNED),
        ({}, {"project/node_modules/.bin": "thing", "venv/python": "/usr/bin/python3"}, PRUNED),
        ({f"{SITE}/a.dist-info/direct_url.json": EDITABLE}, {}, WHOLE),
        ({f"{SITE}/a.dist-info/direct_url.json": "no json"}, {}, WHOLE),
        ({f"{SITE}/a.pth": "{root}/project/src"}, {}, WHOLE),
        ({f"{SITE}/a.egg-link": "{root}/project\n."}, {}, WHOLE),
        ({}, {"project/node_modules/own": "../packages/own"}, WHOLE),
        ({}, {f"{SITE}/a.pth": "{root}/project/secret.py"}, WHOLE),
    ],
)
def test_of_the_copied_project_only_what_is_needed_stays(
    tmp_path: Path, files: Mapping[str, str], links: Mapping[str, str], left: list[str]
) -> None:
    root = tmp_path / "env"
    known = {"project/node_modules/thing/index.js": "", "project/packages/own/a.js": "", "project/secret.py": CANARY}
    for name, text in (known | dict(files)).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("{root}", str(root)))
    for name, target in links.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target.replace("{root}", str(root)))
    assert prune(root) is (left == PRUNED)
    assert sorted(path.name for path in (root / "project").iterdir()) == left
    assert (root / "project/node_modules/thing/index.js").is_file()


def test_a_record_that_is_no_file_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "venv").mkdir()
    os.mkfifo(tmp_path / "venv" / "a.pth")
    assert prune(tmp_path) is False
