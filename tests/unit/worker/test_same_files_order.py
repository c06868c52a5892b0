"""The order of issues that name the same file: the one that waits for the other, and the time when it is free."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from shared.github.listing import brief
from shared.models import Account, Issue
from shared.workflow import Stage
from shared.workflow.labels import Labels
from worker_agent.intake.intake_comments import waiting_status
from worker_agent.intake.same_files import SameFiles, Sharing, find_sharing

NAMES = Labels()
THEN = datetime(2026, 1, 1, tzinfo=UTC)


def issue(number: int, stage: str, *files: str, priority: str = "", heading: str = "Files") -> Issue:
    body = "\n".join([f"Part of #99\n\n## {heading}", *(f"- `{path}`" for path in files)])
    labels = frozenset(filter(None, (f"status:{stage}", priority)))
    return Issue(number, "Title", body, labels, Account(1, "ada"), THEN + timedelta(minutes=number), THEN)


def listed(*issues: Issue) -> dict[int, Issue]:
    return {one.number: brief(one) for one in issues}


@pytest.mark.parametrize(
    ("other", "waits"),
    [
        pytest.param(issue(1, "implementing", "list.txt"), True, id="being built"),
        pytest.param(issue(1, "testing", "list.txt"), True, id="in CI"),
        pytest.param(issue(1, "reviewing", "./list.txt"), True, id="in review, by another spelling"),
        pytest.param(issue(1, "awaiting-approval", "list.txt"), True, id="its refactoring waits"),
        pytest.param(issue(1, "reviewing", "list.txt::one", heading="Tests that may change"), True, id="by one test"),
        pytest.param(issue(1, "ready", "list.txt"), False, id="not begun"),
        pytest.param(issue(1, "failed", "list.txt"), False, id="left to a person"),
        pytest.param(issue(1, "ci-failed", "list.txt"), False, id="its CI is left to a person"),
        pytest.param(issue(1, "implementing", "other.txt"), False, id="another file"),
        pytest.param(issue(1, "implementing", "list.txt", heading="Notes"), False, id="not named as its own"),
        pytest.param(issue(7, "implementing", "list.txt"), False, id="itself"),
    ],
)
def test_who_waits_for_whom(other: Issue, waits: bool) -> None:
    found = find_sharing(7, {"list.txt"}, listed(other).values(), NAMES)
    assert found == (Sharing(1, ("list.txt",)) if waits else None)


def test_a_story_that_waits_for_its_plan_holds_up_nothing() -> None:
    story = issue(1, "awaiting-approval", "list.txt", priority="story")
    assert find_sharing(7, {"list.txt"}, listed(story).values(), NAMES) is None


class Looked:
    """One worker's view of a list."""

    def __init__(self, known: Mapping[int, Issue]) -> None:
        self.files = SameFiles(NAMES, ("priority:high",))
        self.files.look(known)

    def waits(self, one: Issue) -> int:
        found = self.files.first(one)
        return found[0].on if found else 0


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        pytest.param(issue(1, "ready", "a"), issue(2, "ready", "a"), True, id="the older first"),
        pytest.param(issue(1, "ready", "a"), issue(2, "ready", "a", priority="priority:high"), False, id="rank first"),
        pytest.param(issue(1, "ready", "a"), issue(2, "ready", "b"), False, id="another file"),
    ],
)
def test_what_another_agent_is_about_to_begin_counts_although_no_list_shows_it(
    first: Issue, second: Issue, waits: bool
) -> None:
    looked = Looked(listed(first, second))
    assert looked.waits(second) == 0, "nobody begins the first: it may be blocked itself"
    looked.files.note_start(1, begins=True)
    assert looked.waits(second) == (1 if waits else 0)
    looked.files.note_start(1, begins=False)
    assert looked.waits(second) == 0


@pytest.mark.parametrize(
    "then",
    [
        pytest.param([], id="closed"),
        pytest.param([issue(1, "failed", "a")], id="given up"),
        pytest.param([issue(1, "reviewing", "b")], id="its text names another file now"),
    ],
)
def test_who_waits_is_free_as_soon_as_the_list_says_so(then: list[Issue]) -> None:
    waiting = issue(2, "ready", "a")
    looked = Looked(listed(issue(1, "reviewing", "a"), waiting))
    assert looked.files.first(waiting) == (Sharing(1, ("a",)), True)
    assert looked.files.first(waiting) == (Sharing(1, ("a",)), False), "it is news once"
    looked.files.look(listed(issue(1, "testing", "a"), waiting))
    assert looked.files.times_freed(2) == 0
    looked.files.look(listed(*then, waiting))
    assert looked.files.times_freed(2) == 1
    assert looked.waits(waiting) == 0
    looked.files.look(listed(*then))
    assert looked.files.times_freed(2) == 0, "an issue that is gone is forgotten"


def test_a_text_without_files_waits_for_nobody() -> None:
    looked = Looked(listed(issue(1, Stage.REVIEWING, "a")))
    assert looked.waits(Issue(2, "T", "Change `a`.", frozenset(), Account(1, "ada"), THEN, THEN)) == 0


def test_the_sentence_names_few_files_and_is_harmless() -> None:
    said = waiting_status(Sharing(4, ("a", "@ada", "c", "d", "e"))).sentence
    assert said.startswith("Waiting for #4: both name `a`, ")
    assert "and 2 more" in said
    assert "@ada" not in said
