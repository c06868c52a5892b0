"""Labels: each stage and flag is spelled one way, and read whatever the case."""

from __future__ import annotations

import pytest

from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Flag, Labels


@pytest.mark.parametrize("names", [Labels(), Labels("Bot/", "Bot-Flag/", "Idea")])
def test_what_is_written_is_read_back(names: Labels) -> None:
    for stage in set(Stage) - UNLABELLED:
        assert names.read([names.of(stage)]).stage is stage
    for flag in Flag:
        assert names.read([names.of(flag)]).flags == {flag}
    assert names.read([names.story]).story


@pytest.mark.parametrize("stage", sorted(UNLABELLED))
def test_a_stage_without_label_is_not_spelled(stage: Stage) -> None:
    with pytest.raises(ValueError, match="has no label"):
        Labels().of(stage)
    assert Labels().read([f"status:{stage}"]).stage is Stage.NEW


@pytest.mark.fault(16)
@pytest.mark.parametrize(
    ("labels", "stage"),
    [
        ([], Stage.NEW),
        (["bug", "ready"], Stage.NEW),
        (["status:foo"], Stage.NEW),
        (["status:foo", "status:ready"], Stage.READY),
        (["STATUS:Ready", "Flag:PAUSED"], Stage.READY),
        (["status:ready", "Status:READY"], Stage.READY),
        (["status:ready", "status:testing"], None),
    ],
)
def test_labels_fold_to_one_stage(labels: list[str], stage: Stage | None) -> None:
    assert Labels().read(labels).stage is stage


def test_flags_stand_beside_the_stage() -> None:
    found = Labels().read(["status:failed", "FLAG:manual-intervention", "flag:unknown", "flag:paused", "Story"])
    assert found.stage is Stage.FAILED
    assert found.flags == {Flag.MANUAL_INTERVENTION, Flag.PAUSED}
    assert found.story
