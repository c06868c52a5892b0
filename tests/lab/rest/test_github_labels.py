"""Labels over the REST client: a stage is added before another goes, and what is so already is not written."""

from __future__ import annotations

import pytest
from github_script import Plan, scripted
from label_scene import PERSON, labels

from shared.github.label_board import LOOKS, LabelBoard
from shared.workflow import UNLABELLED, Stage
from shared.workflow.labels import Flag, Labels


async def test_a_stage_is_added_before_the_others_named_in_the_reply_are_removed() -> None:
    whole = labels("status:testing", "Status:Implementing", "status:ready", "status:unknown", "bug", "flag:paused")
    absent = [Plan(404, {"message": "Label does not exist"})] * 3
    async with scripted(Plan(body=whole), Plan(body=[]), *absent) as (github, script):
        board = LabelBoard(github, "o/r", Labels())
        shown = await board.show(42, Stage.TESTING, PERSON)
    assert [(asked.call, asked.body) for asked in script.asked] == [
        ("POST /repos/o/r/issues/42/labels", {"labels": ["status:testing"]}),
        ("DELETE /repos/o/r/issues/42/labels/Status%3AImplementing", None),
        # Another agent may have set it just now: only after a second it counts as taken off.
        *[("DELETE /repos/o/r/issues/42/labels/status%3Aready", None)] * 3,
    ]
    assert shown == {"status:testing", "status:unknown", "bug", "flag:paused"}


async def test_nothing_is_sent_that_is_so_already() -> None:
    async with scripted() as (github, _):
        known = frozenset({"Status:Testing", "flag:paused", "bug"})
        shown = await LabelBoard(github, "o/r", Labels()).show(
            42, Stage.TESTING, PERSON, known=known, flags_on={Flag.PAUSED}, flags_off={Flag.HAD_CONFLICT}
        )
    assert shown == known


@pytest.mark.fault(16)
async def test_two_stages_left_by_a_crash_are_repaired() -> None:
    async with scripted(Plan(body=[])) as (github, script):
        known = frozenset({"status:ready", "status:implementing"})
        shown = await LabelBoard(github, "o/r", Labels()).show(42, Stage.IMPLEMENTING, PERSON, known=known)
    assert script.calls == ["DELETE /repos/o/r/issues/42/labels/status%3Aready"]
    assert shown == {"status:implementing"}


async def test_stage_and_flags_go_in_one_request() -> None:
    whole = labels("status:failed", "status:testing", "flag:manual-intervention", "flag:needs-answer")
    async with scripted(Plan(body=whole), Plan(body=[]), Plan(body=[])) as (github, script):
        shown = await LabelBoard(github, "o/r", Labels()).show(
            42,
            Stage.FAILED,
            PERSON,
            known=frozenset({"status:testing", "flag:needs-answer"}),
            flags_on=[Flag.MANUAL_INTERVENTION],
            flags_off=[Flag.NEEDS_ANSWER],
        )
    assert script.asked[0].body == {"labels": ["flag:manual-intervention", "status:failed"]}
    assert shown == {"status:failed", "flag:manual-intervention"}


@pytest.mark.parametrize("stage", [Stage.DONE, Stage.WITHDRAWN])
async def test_a_stage_without_a_label_leaves_the_stage_labels(stage: Stage) -> None:
    whole = labels("status:reviewing", "flag:paused")
    async with scripted(Plan(body=whole), Plan(body=[])) as (github, script):
        shown = await LabelBoard(github, "o/r", Labels()).show(42, stage, PERSON, flags_off=[Flag.PAUSED])
    assert script.calls == [
        "GET /repos/o/r/issues/42/labels?per_page=100",
        "DELETE /repos/o/r/issues/42/labels/flag%3Apaused",
    ]
    assert shown == {"status:reviewing"}


@pytest.mark.fault(15)
async def test_missing_labels_are_defined_and_existing_ones_left_alone() -> None:
    names = Labels(status_prefix="engine:", story="Story")
    everything = {names.of(what) for what in LOOKS} | {"Story"}
    there = everything - {"engine:ready", "Story"}
    exists = {
        "message": "Validation Failed",
        "errors": [{"resource": "Label", "code": "already_exists", "field": "name"}],
    }
    async with scripted(Plan(body=labels(*(name.upper() for name in there))), Plan(201, {}), Plan(422, exists)) as (
        github,
        script,
    ):
        created = await LabelBoard(github, "o/r", names).create_all(PERSON)
    assert created == ("engine:ready", "Story")
    assert script.asked[1].body["name"] == "engine:ready"
    assert len(script.asked[1].body["color"]) == 6


def test_every_stage_with_a_label_and_every_flag_has_a_look() -> None:
    assert set(LOOKS) == (set(Stage) - UNLABELLED) | set(Flag)
    assert all(len(description) <= 100 for _, description in LOOKS.values())  # GitHub's limit
