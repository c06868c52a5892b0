"""A repository of two or three commits, and `verify --local` on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from anyio import to_thread
from project_pytest import PYTEST_ALONE

from console.verify.command import VerifyOptions, verified
from shared.git.command import Git, Identity, Signature

COMMAND = PYTEST_ALONE
BASE = {
    "greet.py": "def greet(name):\n    return name\n",
    "tests/test_old.py": "from greet import greet\n\n\ndef test_old():\n    assert greet('a').endswith('a')\n",
}
CODE = {"greet.py": "def greet(name):\n    return f'Hello, {name}'\n"}
TEST = {"tests/test_new.py": "from greet import greet\n\n\ndef test_new():\n    assert greet('Ada') == 'Hello, Ada'\n"}


async def repository(place: Path, *commits: Mapping[str, str]) -> list[str]:
    """Make a bare repository with these commits, each of which replaces the files of the previous one."""
    git = Git(place, {"PATH": "/usr/bin:/bin"})
    await git.init()
    made: list[str] = []
    files: dict[str, str] = {}
    for commit in commits:
        files |= commit
        index = place / "scratch.index"
        rows = []
        for path, text in files.items():
            blob = (await git.run("hash-object", "-w", "--stdin", stdin=text.encode())).text
            rows.append(f"100644 {blob}\t{path}")
        await git.run("update-index", "--add", "--index-info", stdin="\n".join(rows).encode() + b"\n", index=index)
        tree = (await git.run("write-tree", index=index)).text
        made.append(await git.commit(tree, made[-1:], "A change", Signature(Identity("Ada", "ada@example.org"))))
    await git.run("update-ref", "refs/heads/main", made[-1])
    return made


def verify(place: Path, base: str, head: str, **more: object) -> int:
    config = place.parent / "repos.yml"
    config.write_text(
        f"repositories: [{{name: ada/greetings}}]\nsandbox: none\nstate_dir: {place.parent / 'state'}\n"
        f"work_dir: {place.parent / 'work'}\n"
    )
    asked = {"test_command": COMMAND, **more}
    options = VerifyOptions(local=(base, head), repo=place, config=config, json=True, **asked)  # type: ignore[arg-type]
    return verified(options, {"PATH": "/usr/local/bin:/usr/bin:/bin"})


async def examined(
    directory: Path, *commits: Mapping[str, str], capsys: pytest.CaptureFixture[str], **more: object
) -> tuple[int, dict[str, list[str]]]:
    """Return the exit code, and the false sentences by kind."""
    place = directory / "greetings.git"
    made = await repository(place, *commits)
    code = await to_thread.run_sync(lambda: verify(place, made[0], made[-1], **more))
    said = json.loads(capsys.readouterr().out)
    found: dict[str, list[str]] = {}
    for one in said["false"]:
        found.setdefault(one["what"], []).append(one["sentence"])
    assert said["true"] is (code == 0)
    assert list((place.parent / "work").iterdir()) == [], "the clone is gone"
    return code, found
