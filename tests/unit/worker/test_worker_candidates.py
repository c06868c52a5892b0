"""Open items that the worker looks at: those that begin work, and those that may have been merged without it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.worker_policy import worker_policy

from shared.models import Account, Issue
from shared.workflow import Stage
from shared.workflow.labels import Flag, Labels
from worker_agent.intake.candidates import Candidates, belongs

AT = datetime(2026, 1, 5, tzinfo=UTC)
NAMES = Labels()
HOUR = timedelta(hours=1)


def item(number: int, *labels: Stage | Flag | str, body: str = "", pull: bool = False) -> Issue:
    names = frozenset(label if type(label) is str else NAMES.of(label) for label in labels)  # type: ignore[arg-type]
    return Issue(number, "Title", body, names, Account(1, "ada"), AT, AT, is_pull_request=pull)


def pull(number: int, of: int, *labels: Stage) -> Issue:
    return item(number, *labels, body=f"Closes #{of}\n", pull=True)


def candidates(**policy: frozenset[str]) -> Candidates:
    return Candidates(worker_policy("ada/thing", **policy))


def numbers(found: Candidates, *items: Issue) -> list[int]:
    return [one.number for one in found.of({item.number: item for item in items})]


@pytest.mark.parametrize(
    ("stage", "wanted"), [(Stage.READY, True), (Stage.IMPLEMENTING, True), (Stage.TESTING, True), (Stage.FAILED, False)]
)
def test_the_workers_stages_are_looked_at(stage: Stage, wanted: bool) -> None:
    assert numbers(candidates(), item(4, stage)) == ([4] if wanted else [])


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED])
def test_an_issue_in_review_is_left_alone_while_its_pull_request_is_open(stage: Stage) -> None:
    assert numbers(candidates(), item(4, Stage.REVIEWING), pull(9, 4, stage)) == []


def test_an_issue_in_review_whose_pull_request_shows_no_stage_is_looked_at_at_each_version_of_it() -> None:
    found, issue, opened = candidates(), item(4, Stage.REVIEWING), pull(9, 4)
    (first,) = found.of({4: issue, 9: opened})
    (gone,) = found.of({4: issue})
    (again,) = found.of({4: issue, 9: replace(opened, updated_at=AT + HOUR)})
    assert len({first.version, gone.version, again.version}) == 3
    assert numbers(candidates(), item(4, Stage.TESTING), opened) == [4], "as for every issue in work"
    assert numbers(candidates(), item(4, Stage.REVIEWING), item(9, Flag.PAUSED, body="Closes #4", pull=True)) == []


def test_an_unlabelled_pull_request_is_followed_for_a_known_issue_only() -> None:
    assert belongs(pull(9, 4), {4: item(4, Stage.REVIEWING)})
    assert not belongs(pull(9, 5), {4: item(4, Stage.REVIEWING)})
    assert not belongs(item(9, body="Closes #4"), {4: item(4, Stage.REVIEWING)}), "an issue is none"


def test_a_pull_request_that_asks_for_changes_names_its_issue() -> None:
    assert numbers(candidates(), item(4, Stage.REVIEWING), pull(9, 4, Stage.CHANGES_REQUESTED)) == [4]


def test_an_issue_in_review_without_an_open_pull_request_comes_last() -> None:
    ready = [item(number, Stage.READY) for number in range(20, 40)]
    assert numbers(candidates(), item(4, Stage.REVIEWING), *ready)[-1] == 4


def test_it_is_looked_at_anew_when_its_pull_request_is_gone() -> None:
    found, issue = candidates(), item(4, Stage.REVIEWING)
    (early,) = found.of({4: issue})  # the pull request is not listed yet
    assert found.of({4: issue, 9: pull(9, 4, Stage.REVIEWING)}) == ()
    (gone,) = found.of({4: issue})
    assert gone.version != early.version
    assert found.of({4: issue}) == (gone,)
    assert found.of({4: replace(issue, updated_at=AT + HOUR)}) != (gone,)


@pytest.mark.parametrize("label", [Flag.PAUSED, "blocked"])
def test_what_people_keep_from_the_engine_is_not_looked_at(label: Flag | str) -> None:
    assert numbers(candidates(), item(4, Stage.REVIEWING, label), item(5, Stage.READY, label)) == []


def test_only_issues_that_the_configuration_admits_are_looked_at() -> None:
    found = candidates(include=frozenset({"Area:Search"}))
    assert numbers(found, item(4, Stage.REVIEWING), item(5, Stage.READY), item(6, Stage.READY, "area:search")) == [6]
