"""The image: what it copies and runs exists, and nothing secret can get into it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
INSTRUCTIONS = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
IGNORED = [
    line
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
HADOLINT = Path(sys.executable).with_name("hadolint")


def instructions(name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in INSTRUCTIONS if line.startswith(f"{name} ")]


def copied() -> list[str]:
    return [source for line in instructions("COPY") if "--from" not in line for source in line.split()[:-1]]


def ignored(path: str) -> bool:
    """Return whether Docker ignores a path: the last matching pattern decides; a directory's holds for its content."""
    result = False
    for pattern in IGNORED:
        keep, wanted = pattern.startswith("!"), pattern.removeprefix("!")
        parts = path.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        anywhere = wanted.removeprefix("**/") if wanted.startswith("**/") else None
        if any(fnmatch(one, wanted) for one in above) or (anywhere and any(fnmatch(part, anywhere) for part in parts)):
            result = not keep
    return result


def test_every_copied_source_exists_and_reaches_the_build() -> None:
    assert copied()
    for source in copied():
        assert (ROOT / source).exists(), source
        assert not ignored(source), source


def test_everything_that_the_wheel_is_made_of_is_copied() -> None:
    packages = {pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert packages | {"pyproject.toml", "setup.py", "README.md"} <= set(copied())


@pytest.mark.parametrize(
    ("path", "out"),
    [
        (".git/config", True),
        (".env", True),
        ("config/repos.yml", True),
        ("config/.env.local", True),
        ("tests/unit/project/test_dockerfile.py", True),
        ("shared/__pycache__/clock.pyc", True),
        ("config/repos.yml.example", False),
        ("shared/clock.py", False),
        ("planner_agent/prompts/plan.md", False),
    ],
)
def test_what_stays_out_of_the_build(path: str, out: bool) -> None:
    assert ignored(path) is out


def test_the_command_is_one_that_the_wheel_installs() -> None:
    (command,) = instructions("CMD")
    assert json.loads(command)[0] in PROJECT["project"]["scripts"]
    assert instructions("ENTRYPOINT") == []


def test_each_command_of_the_wheel_is_named_in_the_file() -> None:
    assert all(script in TEXT for script in PROJECT["project"]["scripts"])


def test_the_health_check_runs_a_module_that_exists_on_the_state_directory() -> None:
    (check,) = instructions("HEALTHCHECK")
    command = json.loads(check[check.index("[") :])
    assert find_spec(command[command.index("-m") + 1]) is not None
    (volume,) = instructions("VOLUME")
    assert command[-1] == volume
    assert f"STATE_DIRECTORY={volume}" in " ".join(instructions("ENV"))
    assert any(f"--owner=engine --group=engine --mode=0700 {volume}" in line for line in instructions("RUN"))


def test_agents_and_their_children_are_two_accounts_and_neither_is_root() -> None:
    made = dict(re.findall(r"useradd --uid (\d+) .*?/nologin (\w+)", " ".join(instructions("RUN"))))
    assert made == {"10001": "engine", "10002": "coder"}
    assert INSTRUCTIONS.index("USER 10001:10001") > max(
        index for index, line in enumerate(INSTRUCTIONS) if line.startswith("RUN ")
    )


def test_no_secret_is_written_into_the_image() -> None:
    assert not re.search(r"^(ARG|ENV)\b.*(TOKEN|KEY|PASSWORD|SECRET)", "\n".join(INSTRUCTIONS), re.MULTILINE)


@pytest.mark.skipif(not HADOLINT.exists(), reason="hadolint is not installed beside this Python")
def test_hadolint_has_no_remark() -> None:
    finished = subprocess.run([HADOLINT, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout) == (0, "")
