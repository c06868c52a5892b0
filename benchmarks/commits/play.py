"""One listed commit through the proof, the way that `workflow-engine verify --local` goes; its runs are counted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from benchmarks.commits.corpus import Listed, Project
from benchmarks.commits.results import Result
from benchmarks.proof import CountingBench
from config.environment import child_environment, for_installers
from config.loading import load
from config.settings import Settings
from console.verify.command import VerifyOptions, examined_locally, git_dir
from runtime.building.confinement import confinement
from shared import process
from shared.errors import EngineError, Misconfigured
from shared.git.command import Git, Identity, Signature
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.verify.report import Report

LIMIT_SECONDS = 400.0
"""Maximum seconds for one commit."""

INSTALL_SECONDS = 600.0

_AUTOLOAD = """<?php
spl_autoload_register(function ($class) {
    foreach (%s as $directory) {
        $file = getcwd() . "/$directory/" . strtr($class, "\\\\_", "//") . ".php";
        if (is_file($file)) { require_once $file; return; }
    }
});
"""
"""An autoloader, as composer would make it for a project of PHP: it finds classes of the checkout by their names."""

NOBODY = Identity("benchmark", "benchmark@localhost")


@dataclass(frozen=True, slots=True)
class Place:
    """The directories: clones `owner+name` in `repositories`, packages and everything that is made in `scratch`."""

    repositories: Path
    scratch: Path

    def clone(self, project: Project) -> Path:
        """Return the clone of a project: a checkout, a bare repository, or a directory that holds one as `repo`."""
        found = self.repositories / project.directory
        return found / "repo" if (found / "repo").is_dir() else found

    def packages(self, project: Project) -> Path:
        """Return the directory of a project's packages, above everything that is checked out of it."""
        return self.scratch / project.directory


async def play(project: Project, listed: Listed, place: Place, environment: Mapping[str, str]) -> Result:
    """Judge one commit; one that cannot be judged is an `error` with the sentence."""
    began = anyio.current_time()
    variables = {**environment, "PATH": _path(place.packages(project), environment)}
    report: Report | None = None
    reason = f"It took longer than {LIMIT_SECONDS:.0f} seconds."
    bench: CountingBench | None = None
    with anyio.move_on_after(LIMIT_SECONDS):
        try:
            settings = _settings(project, place.packages(project), variables)
            confined = await confinement(settings, variables)
            bench = CountingBench(child_environment(variables), LIMIT_SECONDS, confinement=confined)
            report = await _verify(project, listed, place, settings, variables, bench)
        except EngineError as error:
            reason = str(error)
    runs = bench.runs if bench else Counter[str]()
    return Result(
        project.name,
        listed.key,
        project.language,
        listed.expected,
        "error" if report is None else "accept" if report.true else "refuse",
        reason if report is None else " / ".join(f"{one.what}: {one.sentence}" for one in report.false),
        round(anyio.current_time() - began, 1),
        runs["whole"],
        runs["partial"],
        report.damages if report else 0,
        report.noticed if report else 0,
        " / ".join((*report.changed_tests, *report.removed_tests, *report.pinned, *report.doubts)) if report else "",
    )


async def install(project: Project, place: Place) -> None:
    """Install the packages of a project, unless they are there, with the ordinary clients."""
    root = place.packages(project)
    ready = root / "ready.json"
    wanted = json.dumps([project.python_packages, project.node_packages])
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return
    root.mkdir(parents=True, exist_ok=True)
    if project.python_packages:
        python = str(root / "venv" / "bin" / "python")
        await _run(root, sys.executable, "-m", "venv", str(root / "venv"))
        await _run(root, python, "-m", "pip", "install", "--quiet", *project.python_packages)
    if project.node_packages:
        (root / "package.json").write_text("{}", encoding="utf-8")
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
        await _run(root, "npm", "install", *options, *project.node_packages)
    ready.write_text(wanted, encoding="utf-8")


async def _run(directory: Path, *argv: str) -> None:
    with anyio.fail_after(INSTALL_SECONDS):
        ended = await process.run(argv, cwd=directory, env=for_installers())
    if ended.code != 0:
        raise Misconfigured(f"`{' '.join(argv)}` failed with {ended.code}.")


async def _verify(
    project: Project, listed: Listed, place: Place, settings: Settings, variables: Mapping[str, str], bench: TestBench
) -> Report:
    root = place.packages(project)
    parent, head, repository = await _commits(listed, place.clone(project), root)
    command = project.test_command
    if project.php_classes:
        autoload = root / "autoload.php"
        autoload.write_text(_AUTOLOAD % json.dumps(project.php_classes), encoding="utf-8")
        command = f"{command} --bootstrap {autoload}"
    options = VerifyOptions(local=(parent, head), repo=repository, test_command=command)
    return await examined_locally(options, settings, variables, bench)


def _settings(project: Project, root: Path, variables: Mapping[str, str]) -> Settings:
    """Return settings without a sandbox, which would hide what is installed beside the checkouts."""
    config = root / "engine.yml"
    named = {"repositories": [{"name": project.name}], "state_dir": f"{root}/state", "work_dir": f"{root}/work"}
    config.write_text(json.dumps({**named, "sandbox": "none"}), encoding="utf-8")  # JSON is YAML
    return load(config, repository=None, environment=variables)


def _path(root: Path, environment: Mapping[str, str]) -> str:
    """Return the search path with what was installed first."""
    own = [root / "venv" / "bin", root / "node_modules" / ".bin"]
    return ":".join([*(str(path) for path in own if path.is_dir()), environment.get("PATH", "")])


async def _commits(listed: Listed, clone: Path, root: Path) -> tuple[str, str, Path]:
    """Return base, head and the repository that has both: the clone, or one below `root` for a head that is made."""
    git = Git(git_dir(clone), child_environment())
    parent = (await git.run("rev-parse", "--verify", f"{listed.commit}^")).text
    if not listed.restore:
        return parent, listed.commit, clone
    made, index = git.at(root / "made.git"), root / "made.index"
    await made.init()
    await made.fetch(str(git.git_dir), f"+{listed.commit}:refs/heads/judged")
    await made.run("read-tree", listed.commit, index=index)
    for path in listed.restore:
        row = (await made.run("ls-tree", parent, "--", path)).text
        entry = f"{row.split()[0]},{row.split()[2]},{path}" if row else ""
        how = ("--add", "--cacheinfo", entry) if row else ("--force-remove", "--", path)
        await made.run("update-index", *how, index=index)
    tree = (await made.run("write-tree", index=index)).text
    signature = Signature(NOBODY)
    head = await made.commit(tree, [parent], "A part of a commit", signature)
    await made.run("update-ref", "HEAD", head)
    return parent, head, made.git_dir
