"""The embedded GitHub declares exactly the operations of the official description."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from engine_calls import ENGINE, for_others
from judge import DESCRIPTION, Judge
from lab_scene import Scene

from lab.github.routes import OPERATIONS

PAGE = Path(__file__).parents[3] / "docs" / "how-it-works.md"
METHODS = ("get", "post", "put", "patch", "delete")


def described() -> set[tuple[str, str]]:
    """Return method and path of every operation of the description."""
    paths = json.loads(DESCRIPTION.read_bytes())["paths"]
    return {(method.upper(), path) for path, item in paths.items() for method in METHODS if method in item}


def test_every_described_operation_is_declared_once_and_nothing_else_is() -> None:
    declared = Counter((operation.method, operation.template) for operation in OPERATIONS)
    assert set(declared) == described()
    assert set(declared.values()) == {1}
    assert len(declared) == 98


def test_the_page_says_which_operations_only_foreign_clients_use() -> None:
    page = PAGE.read_text(encoding="utf-8")
    declared = {f"{operation.method} {operation.template}" for operation in OPERATIONS}
    assert declared >= ENGINE
    others = for_others(OPERATIONS)
    assert f"{len(OPERATIONS)} REST operations, {len(ENGINE)} of which the engine calls" in " ".join(page.split())
    listed = [
        line.strip().removeprefix("- `").removesuffix("`") for line in page.splitlines() if line.startswith("- `")
    ]
    assert sorted(listed) == sorted(other.replace("/repos/{owner}/{repo}", "...") for other in others)


async def test_what_is_not_described_is_not_there_and_is_noted(scene: Scene, judge: Judge) -> None:
    refused = await scene.ask("POST", "merges", {"base": "main", "head": "main"})
    assert (refused.status, refused.body["message"]) == (404, "Not Found")
    assert scene.lab.unlisted == ["POST /repos/octo/thing/merges"]
    assert "no such operation" in judge.complaints.pop()
    scene.lab.unlisted.clear()
