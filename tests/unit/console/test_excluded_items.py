"""Reasons why a listed item is no candidate: one line for each, once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from config.repository import LabelSettings
from runtime.building.excluded_items import ExcludedItems
from shared.models import Account, Issue
from shared.workflow import Role
from shared.workflow.labels import Labels

AT = datetime(2026, 11, 22, tzinfo=UTC)
FILTERS = LabelSettings(include=("bot",), exclude=("blocked",))


def issue(*labels: str, number: int = 7, pull: bool = False) -> Issue:
    return Issue(number, "Title", "", frozenset(labels), Account(1, "ada"), AT, AT, is_pull_request=pull)


@pytest.mark.parametrize(
    ("role", "labels", "pull", "why"),
    [
        (Role.WORKER, ("status:ready", "bot"), False, ""),
        (Role.WORKER, ("status:ready", "bot", "Blocked"), False, "it carries the excluded label 'Blocked'"),
        (Role.WORKER, ("status:ready", "bot", "flag:paused"), False, "it is paused: 'flag:paused'"),
        (Role.WORKER, ("status:ready",), False, "it carries none of the labels in `labels.include`: bot"),
        (Role.WORKER, ("blocked",), False, ""),
        (Role.WORKER, ("story", "blocked"), False, ""),
        (Role.PLANNER, ("story", "blocked"), False, "it carries the excluded label 'blocked'"),
        (Role.PLANNER, ("story", "BOT"), False, ""),
        (Role.REVIEWER, ("status:reviewing", "blocked"), True, "it carries the excluded label 'blocked'"),
        (Role.REVIEWER, ("status:reviewing",), True, ""),
        (Role.REVIEWER, ("status:reviewing", "blocked"), False, ""),
    ],
)
def test_the_reason_is_the_one_that_keeps_it_away(role: Role, labels: tuple[str, ...], pull: bool, why: str) -> None:
    assert ExcludedItems("a/b", role, Labels(), FILTERS).reason(issue(*labels, pull=pull)) == why


def test_a_reason_is_told_once_and_again_after_it_was_gone() -> None:
    one = ExcludedItems("a/b", Role.WORKER, Labels(), FILTERS)
    barred, free = issue("status:ready", "bot", "blocked"), issue("status:ready", "bot")
    with capture_logs() as logs:
        for listed in ([barred, issue("status:ready", "bot", number=8)], [barred], [free], [barred]):
            one.note(listed)
    assert [(line["event"], line["issue"], line["log_level"]) for line in logs] == [("item_left_alone", 7, "debug")] * 2
