"""A person's own repository for `workflow-engine tdd`, and a photograph of everything that must stay as it is."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import stub_project
from lab.github.repositories.git_command import Git, signed
from shared import process
from shared.process import Finished

ME = ("Me", "me@example.org")

RECORDS = "/.workflow/"
"""The one line that a task adds to the exclude file."""

SPECIFICATION = """\
# Greet people

## Acceptance criteria

- [ ] AC1: greeting.txt says `Hello`.
"""

TESTS = """
- call: write_tests
  edits: [{path: tests/test_greeting.sh, content: "grep -q Hello greeting.txt\\n"}]
"""

CODE = """
- call: implement
  edits: [{path: greeting.txt, content: "Hello, everybody!\\n"}]
"""

HANGS = {
    "tests": "- {call: write_tests, takes: 600, edits: [{path: a, content: a}]}",
    "code": f"{TESTS}\n- {{call: implement, takes: 600, edits: [{{path: a, content: a}}]}}",
    "review": f"{TESTS}{CODE}\n- {{call: review, takes: 600, answer: {{}}}}",
}
"""Scenarios by the call that hangs; every call before it answers."""

NOTHING = """
- {call: implement, round: any, attempt: any, retry: any, text: There is nothing to do.}
"""

FIXED = """
- call: implement
  round: any
  attempt: any
  retry: any
  edits: [{path: greeting.txt, content: "Hello, Ada!\\n"}]
"""

_JUDGED = """\
    criteria: [{id: AC1, met: true, note: test_greeting.sh}]
    breaking_change: {breaks: false, why: ""}
"""

APPROVES = f"""
- call: review
  answer:
    verdict: approved
    summary: It greets.
    findings: []
{_JUDGED}"""

CHECKED = """
- call: check_criteria
  answer: {criteria: [{id: AC1, met: true, note: "test_greeting.sh: red before, green after"}]}
"""

APPROVES_THE_FIX = f"""
- call: review
  round: 1
  answer:
    verdict: approved
    summary: It names Ada.
    findings: []
    earlier: [{{id: F1, resolved: true, note: Ada is named.}}]
{_JUDGED}
- call: check_criteria
  round: 1
  answer: {{criteria: [{{id: AC1, met: true, note: "test_greeting.sh: red before, green after"}}]}}
"""

REQUESTS_CHANGES = f"""
- call: review
  answer:
    verdict: changes_requested
    summary: It names nobody.
    findings:
      - {{severity: major, path: greeting.txt, line: 1, why: Nobody is named., suggestion: Name Ada.}}
{_JUDGED}"""


@dataclass
class Project:
    """One work tree at `top`, and beside it the engine's state, a scenario and a configuration."""

    top: Path
    outside: Path
    configuration: dict[str, Any] = field(default_factory=dict)

    @classmethod
    async def made(cls, directory: Path) -> Project:
        """Make a project with one commit on `trunk`, in a directory with spaces in its name."""
        project = cls(directory / "my own project", directory)
        for name, text in stub_project.FILES.items():
            project.write(name, text)
        await project.git("init", "--quiet", "--initial-branch=trunk")
        await project.commit("One")
        project.text("SPEC.md", SPECIFICATION)
        return project

    def write(self, name: str, text: str) -> None:
        """Write a file in the work tree."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def text(self, name: str, text: str) -> Path:
        """Write a file beside the work tree."""
        path = self.outside / name
        path.write_text(text)
        return path

    async def git(self, *arguments: str) -> str:
        """Run git in the work tree, as the person would."""
        done = await Git(self.top).check(*arguments, env=signed(ME, ME))
        return done.text.strip()

    async def commit(self, message: str) -> str:
        """Commit everything; its id."""
        await self.git("add", "--all")
        await self.git("commit", "--quiet", "--message", message)
        return await self.git("rev-parse", "HEAD")

    async def commit_empty(self, message: str) -> str:
        """Make a commit without a change; return its id."""
        await self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return await self.git("rev-parse", "HEAD")

    def configured(self, scenario: str, **more: Any) -> Path:
        """Write the configuration file, with a coder that answers from `scenario`; `more` are further keys."""
        repository = {
            "name": "local/any",
            "llm_backend": "scripted",
            "refactor": "off",
            "test_command": stub_project.SETTINGS["test_command"],
            "test_report": stub_project.SETTINGS["test_report"],
        }
        settings = {
            "repositories": [repository],
            "state_dir": str(self.outside / "state"),
            "sandbox": "none",
            "llm": {"scenario": str(self.text("scenario.yml", scenario)), "record": str(self.outside / "record")},
            **more,
        }
        return self.text("config.yml", json.dumps(settings))

    def command(self, *words: str, scenario: str = "") -> tuple[str, ...]:
        """Return the command line of a separate process."""
        config = self.configured(scenario) if scenario else self.outside / "config.yml"
        return (sys.executable, "-m", "console", "tdd", *words, "--config", str(config))

    async def tdd(self, *words: str, scenario: str = "", token: str = "") -> Finished:
        """Run it to its end."""
        return await process.run(self.command(*words, scenario=scenario), cwd=self.top, env=self.variables(token))

    def variables(self, token: str = "") -> dict[str, str]:
        """Return the environment of such a process, without any login of the person who runs the tests."""
        return {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(self.outside),
            **({"GITHUB_TOKEN": token} if token else {}),
        }

    def calls(self, call: str) -> int:
        """Return how often the coder was asked for this call, over all processes."""
        return len(list((self.outside / "record").glob(f"*-{call}.json")))

    async def photograph(self, *, without: Sequence[str] = ()) -> dict[str, object]:
        """Return everything that a task must not change: every file of the work tree with its mode and time, and every
        file of the git directory but objects, of which none that is needed may go. `without` names branches that it may
        make.
        """
        common = Path(await self.git("rev-parse", "--path-format=absolute", "--git-common-dir"))
        made = {f"{kind}refs/heads/{branch}" for branch in without for kind in ("", "logs/")}
        own = (path for path in files(self.top) if {".git", ".workflow"}.isdisjoint(path.relative_to(self.top).parts))
        git = {path.relative_to(common).as_posix(): path for path in files(common)}
        excluded = git.pop("info/exclude", None)
        kept = {name for name in git if not name.startswith("objects/")} - made
        return {
            "files": {path.relative_to(self.top).as_posix(): _fingerprint(path) for path in own},
            "git": {name: _digest(git[name]) for name in sorted(kept)},
            "missing": (await Git(self.top).run("fsck", "--connectivity-only", "--no-dangling")).text,
            "excluded": [line for line in (excluded.read_text() if excluded else "").splitlines() if line != RECORDS],
            "status": await self.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=all"),
        }


def files(top: Path) -> list[Path]:
    """Return every file and link below a directory."""
    return [path for path in sorted(top.rglob("*")) if path.is_symlink() or path.is_file()]


def _fingerprint(path: Path) -> tuple[str, int, int]:
    facts = path.lstat()
    return _digest(path), facts.st_mode, facts.st_mtime_ns


def _digest(path: Path) -> str:
    return hashlib.sha256(bytes(path.readlink()) if path.is_symlink() else path.read_bytes()).hexdigest()
