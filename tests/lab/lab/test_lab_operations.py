"""The embedded GitHub declares exactly the operations of the official description."""

from __future__ import annotations

import json
from collections import Counter

from judge import DESCRIPTION, Judge
from lab_scene import Scene

from lab.routes import OPERATIONS

METHODS = ("get", "post", "put", "patch", "delete")


def described() -> set[tuple[str, str]]:
    """Method and path of every operation of the description."""
    paths = json.loads(DESCRIPTION.read_bytes())["paths"]
    return {(method.upper(), path) for path, item in paths.items() for method in METHODS if method in item}


def test_every_described_operation_is_declared_once_and_nothing_else_is() -> None:
    declared = Counter((operation.method, operation.template) for operation in OPERATIONS)
    assert set(declared) == described()
    assert set(declared.values()) == {1}
    assert len(declared) == 90


async def test_what_is_not_described_is_not_there_and_is_noted(scene: Scene, judge: Judge) -> None:
    refused = await scene.ask("POST", "merges", {"base": "main", "head": "main"})
    assert (refused.status, refused.body["message"]) == (404, "Not Found")
    assert scene.lab.unlisted == ["POST /repos/octo/thing/merges"]
    assert "no such operation" in judge.complaints.pop()
    scene.lab.unlisted.clear()
