"""GitHub's JSON and refusals: what is tolerated, and what makes an answer unusable."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from gidgethub import HTTPException

from shared.errors import Blocked, Transient, UnknownOutcome
from shared.github import checks, wire
from shared.github.errors import Refused, failure
from shared.github.transport import Response
from shared.models import GHOST_ID, CheckOutcome

JSON = {"content-type": "application/json"}


def test_a_deleted_account_is_the_ghost_but_only_where_one_can_be_deleted() -> None:
    assert wire.read(wire.author, None).id == GHOST_ID
    with pytest.raises(Transient):
        wire.read(wire.account, None)


def test_label_names_come_as_objects_or_strings() -> None:
    assert wire.label_names([{"name": "a"}, "b"]) == {"a", "b"}


@pytest.mark.fault(10)
@pytest.mark.parametrize("value", [None, {}, [], "x", {"id": "x", "login": "y"}])
def test_whatever_is_missing_makes_the_answer_unusable(value: Any) -> None:
    with pytest.raises(Transient):
        wire.read(wire.account, value)
    with pytest.raises(UnknownOutcome):
        wire.reply(wire.account, value)
    with pytest.raises(Transient):
        wire.each(wire.account, [{"id": 1, "login": "ada"}, value])


@pytest.mark.parametrize(
    ("status", "conclusion", "outcome"),
    [
        ("queued", None, CheckOutcome.RUNNING),
        ("waiting", None, CheckOutcome.RUNNING),
        ("completed", "success", CheckOutcome.PASSED),
        ("completed", "neutral", CheckOutcome.NEUTRAL),
        ("completed", "skipped", CheckOutcome.NEUTRAL),
        ("completed", "failure", CheckOutcome.FAILED),
        ("completed", "timed_out", CheckOutcome.FAILED),
        ("completed", "cancelled", CheckOutcome.FAILED),
        ("completed", "startup_failure", CheckOutcome.FAILED),
        ("completed", "action_required", CheckOutcome.UNKNOWN),
        ("completed", "something new", CheckOutcome.FAILED),
    ],
)
def test_conclusions(status: str, conclusion: str | None, outcome: CheckOutcome) -> None:
    check = checks.check_run({"id": 1, "name": "x", "status": status, "conclusion": conclusion, "output": None})
    assert check.outcome is outcome
    assert check.summary == (conclusion or "")


@pytest.mark.parametrize(
    ("slug", "url", "job"),
    [
        ("github-actions", "https://github.com/o/r/actions/runs/3/job/8", 8),
        ("scanner", "https://scanner.example/8", None),
    ],
)
def test_a_check_run_keeps_its_own_id_whichever_app_reports_it(slug: str, url: str, job: int | None) -> None:
    value = {"id": 8, "name": "x", "status": "completed", "conclusion": "failure", "details_url": url}
    check = checks.check_run({**value, "app": {"slug": slug}})
    assert (check.check_run_id, check.job_id) == (8, job)
    assert checks.commit_status({"context": "ci", "state": "failure"}).check_run_id is None


def ends(head: Any, base: Any) -> Any:
    return {
        **{"number": 1, "title": "T", "body": None, "user": None, "labels": [], "state": "open"},
        "head": {"ref": "auto/issue-42", "sha": "a" * 40, "repo": head},
        "base": {"ref": "main", "sha": "b" * 40, "repo": base},
    }


@pytest.mark.parametrize(
    ("head", "base", "own"),
    [
        ({"full_name": "o/r"}, {"full_name": "o/r"}, True),
        ({"full_name": "O/R"}, {"full_name": "o/r"}, True),
        ({"full_name": "mallory/r"}, {"full_name": "o/r"}, False),
        (None, {"full_name": "o/r"}, False),
        (None, None, False),
    ],
)
def test_a_head_is_our_own_branch_only_when_it_is_in_the_same_repository(head: Any, base: Any, own: bool) -> None:
    found = wire.read(wire.pull_request, ends(head, base))
    assert found.from_own_branch is own
    assert found.head_repository == (head["full_name"] if head else "")


@pytest.mark.parametrize("state", ["behind", "dirty", "blocked", "clean", "unknown", None])
def test_only_github_knows_that_a_base_requires_to_be_merged_first(state: str | None) -> None:
    found = wire.read(wire.pull_request, {**ends(None, None), "mergeable_state": state})
    assert found.behind is (state == "behind")


@pytest.mark.parametrize(
    ("errors", "sentences"),
    [
        (None, ()),
        ("one", ("one",)),
        (["one", {"message": "two"}], ("one", "two")),
        ([{"resource": "Label", "code": "already_exists", "field": "name"}], ("Label name already_exists",)),
        ([None, 5], ("None", "5")),
    ],
)
def test_the_errors_of_a_refusal(errors: Any, sentences: tuple[str, ...]) -> None:
    error = HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "Validation Failed")
    error.errors = errors  # type: ignore[attr-defined]  # gidgethub's 422 errors have it
    found = failure("POST /x", error)
    assert isinstance(found, Refused)
    assert found.errors == sentences


@pytest.mark.parametrize(("status", "family"), [(304, Transient), (408, Transient), (500, Transient), (400, Blocked)])
def test_families_of_statuses(status: int, family: type[Exception]) -> None:
    assert isinstance(failure("GET /x", HTTPException(HTTPStatus(status))), family)


@pytest.mark.fault(10)
@pytest.mark.parametrize(
    "answer",
    [
        Response(520, JSON, b""),  # a status that Python does not know
        Response(422, JSON, b'{"message": "x", "errors": [["y"]]}'),  # gidgethub expects objects or strings
        Response(200, {"content-type": "application/json; charset=klingon"}, b"[]"),
    ],
)
def test_answers_that_break_the_protocol_are_transient(answer: Response) -> None:
    with pytest.raises(Transient):
        answer.decode()
