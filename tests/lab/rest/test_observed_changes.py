"""Labels that one request of GraphQL changes are told as events, as those of REST are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from github_bench import NAME, bench
from label_scene import PERSON

from lab.github.fault_injection.faults import Fault, FaultKind
from runtime.telemetry.observed_hub import ObservedLabels
from shared.github.issues import Issues
from shared.github.item_changes import ItemChange
from shared.github.label_board import LabelBoard
from shared.telemetry.events import EventKind
from shared.workflow.labels import Labels


class Recorder:
    """Remembers what was told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str, list[str]]] = []

    def tell(self, kind: EventKind, *, number: int, change: str, labels: list[str]) -> None:
        assert kind is EventKind.LABEL
        self.told.append((number, change, labels))


@pytest.mark.parametrize("graphql", [True, False])
async def test_each_change_is_told_once(tmp_path: Path, graphql: bool) -> None:
    recorder: Any = Recorder()
    async with bench(tmp_path) as b:
        github = b.client("engine")
        await LabelBoard(github, NAME, Labels()).create_all(PERSON)
        first = b.lab.issue(NAME, "T", "B", author="ada", labels=("status:testing", "flag:paused")).number
        second = b.lab.issue(NAME, "U", "B", author="ada", labels=("status:testing",)).number
        for number in (first, second):
            await Issues(github, NAME).issue(number)
        if not graphql:
            b.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", "/graphql$", status=403))
        changes = [
            ItemChange(first, on=("status:reviewing",), off=("flag:paused", "status:testing")),
            ItemChange(second, "text", off=("status:testing",)),
        ]
        await ObservedLabels(github, NAME, Labels(), recorder).carry_out(changes, PERSON)
    flat = {(number, change, label) for number, change, labels in recorder.told for label in labels}
    assert flat == {
        (first, "added", "status:reviewing"),
        (first, "removed", "flag:paused"),
        (first, "removed", "status:testing"),
        (second, "removed", "status:testing"),
    }
    assert sum(len(labels) for _, _, labels in recorder.told) == 4
