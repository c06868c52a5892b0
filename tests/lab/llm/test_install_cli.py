"""`install-cli`: a real pip, a package index that is a directory, and a program that ends up where it is looked for."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from console.install_cli import NotInstalled, install, installed
from shared import process
from shared.errors import Misconfigured
from shared.llm import cli_backends
from shared.llm.cli.programs import program

VERSION = cli_backends()["claude"].package.version

METADATA = "Metadata-Version: 2.1\nName: claude-agent-sdk\nRequires-Dist: nothing-of-this-name\n"
"""The vendor's package needs others, which the program alone does not."""


def wheel(place: Path, version: str, *, program: bool = True) -> None:
    """Make a small package like the vendor's."""
    about = f"claude_agent_sdk-{version}.dist-info"
    files = {
        f"{about}/METADATA": f"{METADATA}Version: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
        "claude_agent_sdk/__init__.py": "",
    }
    if program:
        files["claude_agent_sdk/_bundled/claude"] = f"#!/bin/sh\necho {version}\n"
    place.mkdir(exist_ok=True)
    with zipfile.ZipFile(place / f"claude_agent_sdk-{version}-py3-none-any.whl", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def empty_wheel(place: Path, requirement: str, files: Mapping[str, str] | None = None) -> None:
    """Make a package with `files`, which needs another package that does not exist."""
    name, _, version = requirement.replace("-", "_").partition("==")
    about = f"{name}-{version}.dist-info"
    known = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: litellm\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
        f"{name}.py": "",
        **(files or {}),
    }
    with zipfile.ZipFile(place / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for file, content in known.items():
            archive.writestr(file, content)


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Return an environment in which packages come from a directory and from nowhere else."""
    wheel(tmp_path / "index", VERSION)
    own = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "index"), "PIP_CONFIG_FILE": os.devnull}
    return {"PATH": os.defpath, "HOME": str(tmp_path), "GITHUB_TOKEN": "gh-c4n4ry", **own}


async def test_the_program_is_installed_once_and_found(tmp_path: Path, environment: Mapping[str, str]) -> None:
    state = tmp_path / "state"
    place = await install("claude", state, environment)
    assert place == state / "cli" / "claude" / VERSION / "claude"
    assert program("claude", "claude", state, "") == place
    assert (await process.check((str(place),), cwd=tmp_path, env={"PATH": os.defpath})).text == VERSION
    before = place.stat()
    assert await install("claude", state, {"PATH": ""}) == place
    assert place.stat().st_ino == before.st_ino
    assert sorted(path.name for path in place.parent.parent.iterdir()) == [VERSION]


async def test_what_a_program_needs_is_fetched_by_its_version_and_nothing_else_is(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    package, index, state = cli_backends()["mini"].package, tmp_path / "index", tmp_path / "state"
    about = f"mini_swe_agent-{package.version}.dist-info/entry_points.txt"
    script = {about: "[console_scripts]\nmini = mini_swe_agent:app\n"}
    empty_wheel(index, f"{package.requirement}=={package.version}", script)
    for needed in package.needs[1:]:
        empty_wheel(index, needed)
    with pytest.raises(NotInstalled, match=package.needs[0].partition("==")[0]):
        await install("mini", state, environment)
    assert list((state / "cli" / "mini").iterdir()) == []
    empty_wheel(index, package.needs[0])
    place = await install("mini", state, environment)
    assert place == state / "cli" / "mini" / package.version / "bin" / "mini"
    assert program("mini", "mini", state, "") == place
    found = {one.name for one in place.parents[1].glob("*.py")}
    assert found == {f"{name.partition('==')[0].replace('-', '_')}.py" for name in ("mini-swe-agent", *package.needs)}


async def test_what_cannot_be_fetched_leaves_nothing_and_says_why(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    state = tmp_path / "state"
    with pytest.raises(NotInstalled, match="could not be fetched"):
        await install("claude", state, environment, "8.8.8")
    wheel(tmp_path / "index", "7.7.7", program=False)
    with pytest.raises(NotInstalled, match="holds no claude"):
        await install("claude", state, environment, "7.7.7")
    assert list((state / "cli" / "claude").iterdir()) == []


@pytest.mark.parametrize("version", ["1.0 --index-url x", "latest", "", "-e."])
async def test_a_version_is_a_version(tmp_path: Path, version: str) -> None:
    with pytest.raises(Misconfigured, match=r"is no version|There is no package"):
        await install("claude" if version else "gemini", tmp_path / "state", {}, version)
    assert not (tmp_path / "state").exists()


def test_the_command_says_what_is_wrong_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert installed("gemini", None, tmp_path, None) == 2
    assert capsys.readouterr() == ("", "There is no package for 'gemini'; there is claude, codex, mini, qwen.\n")
