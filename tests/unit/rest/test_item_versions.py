"""Versions of an item that we have seen and written, against a late replica's view and against a person's changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.github.item_versions import OWN_SECONDS, SEEN_SECONDS, ItemVersions, applied, undone_at

ITEM = "/repos/o/r/issues/4"
AT = datetime(2026, 11, 23, 12, 0, 5, tzinfo=UTC)


def shown(*names: str, after: float = 0, **more: Any) -> dict[str, Any]:
    at = (AT + timedelta(seconds=after)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"number": 4, "labels": [{"name": name} for name in names], "updated_at": at, **more}


def moved() -> ItemVersions:
    """Return versions after the engine has moved the label from ready to implementing."""
    writes = ItemVersions()
    writes.note("POST", f"{ITEM}/labels", {"labels": ["status:implementing"]}, at=AT, boot=100)
    writes.note("DELETE", f"{ITEM}/labels/status%3Aready", None, at=AT, boot=100)
    return writes


def event(kind: str, name: str, after: float) -> dict[str, Any]:
    return {"event": kind, "label": {"name": name}, "created_at": (AT + timedelta(seconds=after)).isoformat()}


@pytest.mark.parametrize("path", [ITEM, "/repos/o/r/pulls/4"])
def test_an_older_answer_is_told_and_brought_up_to_date(path: str) -> None:
    older = moved().older(path, shown("Status:ready", "bug", after=-3), 101)
    assert older is not None
    assert applied(older, shown("Status:ready", "bug"))["labels"] == [{"name": "bug"}, {"name": "status:implementing"}]


@pytest.mark.parametrize(
    ("value", "boot"),
    [
        (shown("status:implementing", "bug", after=-3), 101),
        (shown("status:ready", after=1), 101),
        (shown("status:ready", after=-3), 100 + OWN_SECONDS),
        (shown("status:ready", updated_at=None), 101),
        (["a list"], 101),
    ],
)
def test_what_agrees_is_newer_or_long_ago_is_taken_as_it_is(value: Any, boot: float) -> None:
    assert moved().older(ITEM, value, boot) is None
    assert moved().older("/repos/o/r/issues/5", shown("status:ready"), 101) is None


@pytest.mark.parametrize(
    ("events", "real"),
    [
        ([], False),
        ([event("labeled", "status:ready", -60)], False),
        ([event("unlabeled", "status:implementing", -60)], False),
        ([event("labeled", "status:implementing", 0), event("unlabeled", "status:ready", 0)], False),
        ([event("unlabeled", "status:implementing", 0)], False),
        ([event("unlabeled", "status:implementing", 1)], True),
        ([event("labeled", "status:implementing", 0), event("unlabeled", "status:implementing", 0)], True),
        ([event("labeled", "status:ready", 0), event("unlabeled", "status:ready", 0)], False),
        ([event("labeled", "status:ready", 1)], True),
        ([event("closed", "", 1), {"event": "renamed", "created_at": "x"}], False),
    ],
)
def test_the_events_tell_a_person_from_a_late_answer(events: list[dict[str, Any]], real: bool) -> None:
    older = moved().older(ITEM, shown("status:ready"), 101)
    assert older is not None
    assert (undone_at(older, events) is not None) is real


def test_a_label_that_others_moved_since_is_theirs_whatever_we_write_of_other_labels() -> None:
    writes = moved()
    later = AT + timedelta(seconds=9)
    writes.note("POST", f"{ITEM}/labels", {"labels": ["status:testing"]}, at=later, boot=109)
    value = shown("status:testing", "status:ready", after=8)
    assert writes.older(ITEM, value, 110) is None, "the newest label shows, and ready was set after we had taken it off"


def test_setting_a_label_again_counts_as_the_last_word() -> None:
    writes = moved()
    writes.note("POST", f"{ITEM}/labels", {"labels": ["status:ready"]}, at=AT, boot=101)
    writes.note("DELETE", f"{ITEM}/labels/status%3Aimplementing", None, at=AT, boot=101)
    assert writes.older(ITEM, shown("status:ready"), 102) is None
    writes.note("POST", f"{ITEM}/comments", {"body": "x"}, at=AT, boot=103)
    writes.note("PATCH", ITEM, {"state": "closed"}, at=AT, boot=103)
    assert writes.older(ITEM, shown("status:ready"), 102) is None


def test_an_item_does_not_go_back_in_time_unless_it_stays_there() -> None:
    versions = ItemVersions()
    assert not versions.backwards(ITEM, shown(), 100)
    assert not versions.backwards(ITEM, shown(after=3), 101)
    assert versions.backwards(ITEM, shown(after=2), 102)
    assert not versions.backwards("/repos/o/r/issues/5", shown(after=2), 102)
    assert not versions.backwards(ITEM, shown(after=3), 103)
    assert not versions.backwards(ITEM, shown(after=2), 101 + OWN_SECONDS), "two minutes later it is believed"
    assert not versions.backwards(ITEM, {"number": 4}, 104)


def test_what_a_list_has_shown_a_single_reading_is_not_behind() -> None:
    versions, pull = ItemVersions(), "/repos/o/r/pulls/4"
    versions.listed("/repos/o/r/issues", [shown(after=3), {"number": None}, {}], 100)
    versions.listed("/repos/o/r/issues/4/comments", [shown(after=9)], 100)
    for path in (ITEM, pull):
        assert versions.behind(path, shown(after=2), 101)
        assert not versions.behind(path, shown(after=3), 101)
        assert not versions.behind(path, shown(after=2), 100 + OWN_SECONDS)
    assert not versions.backwards(pull, shown(after=2), 101), "the two may differ: asked again, then believed"
    versions.listed("/repos/o/r/issues", [shown(after=1)], 101)
    assert versions.behind(ITEM, shown(after=2), 102), "an older list takes nothing back"


def test_states_and_writes_of_items_that_are_over_are_forgotten() -> None:
    versions = ItemVersions()
    for number in range(1_000):
        item, boot = f"/repos/o/r/issues/{number}", 10.0 * number
        assert not versions.backwards(item, shown(number=number), boot)
        versions.note("POST", f"{item}/labels", {"labels": ["status:ready"]}, at=AT, boot=boot)
    assert len(versions) == SEEN_SECONDS / 10 + OWN_SECONDS / 10
    assert not versions.backwards("/repos/o/r/issues/0", shown(after=-3), boot), "what was forgotten is believed"
    assert versions.backwards("/repos/o/r/issues/999", shown(after=-3), boot), "what was seen just now is not"


def test_a_write_of_no_label_is_not_remembered() -> None:
    versions = ItemVersions()
    versions.note("POST", f"{ITEM}/labels", {"labels": []}, at=AT, boot=100)
    assert len(versions) == 0
