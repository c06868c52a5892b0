"""Label definitions at a start: made again, or one instruction; never a reason not to start."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from fakes.unasked import UnaskedLabels
from structlog.testing import capture_logs

from shared.errors import EngineError, NotAllowed, Transient
from shared.lock.write_permit import OperatorPermit
from shared.reconcile.lost import restore_definitions


@dataclass
class FakeDefinitions(UnaskedLabels):
    """A repository's labels, some of which are missing."""

    missing: tuple[str, ...] = ()
    error: EngineError | None = None

    async def create_all(self, permit: OperatorPermit) -> tuple[str, ...]:
        if self.error is not None:
            raise self.error
        return self.missing


@pytest.mark.fault(15)
@pytest.mark.parametrize(
    ("definitions", "events"),
    [
        (FakeDefinitions(), []),
        (FakeDefinitions(("status:testing",)), [("labels_restored", "completed")]),
        (FakeDefinitions(error=NotAllowed("403")), [("labels_missing", "failed")]),
        (FakeDefinitions(error=Transient("502")), [("labels_not_looked_at", "skipped")]),
    ],
)
async def test_labels_are_made_again_at_a_start_or_a_person_is_told(
    definitions: FakeDefinitions, events: list[tuple[str, str]]
) -> None:
    with capture_logs() as logged:
        await restore_definitions(definitions, "o/r")
    assert [(one["event"], one["outcome"]) for one in logged] == events
    assert all("workflow-engine init" in one["next_step"] for one in logged if one["event"] == "labels_missing")
