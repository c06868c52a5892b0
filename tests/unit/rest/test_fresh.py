"""Late answers of GitHub: which refusals are lateness, for how long, and the meaning of the others."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.clock import PassingClock

from shared.errors import EngineError
from shared.github.errors import NotFound, NotShown, Refused
from shared.github.fresh import (
    BRANCH,
    COMMENT,
    ITEM,
    KNOWN_SECONDS,
    LABEL,
    PATIENCE_SECONDS,
    YOUNG_SECONDS,
    Fresh,
    Thing,
)

ROOT = "/repos/o/r"
SHA = "a" * 40
NODE = "Could not resolve to a node with the global id of 'PR_x'."


def refused(fresh: Fresh, method: str, path: str, status: int, said: str, body: Any = None) -> NotShown | None:
    call = f"{method} {path}"
    error: EngineError = NotFound(f"{call}: {said}") if status == 404 else Refused(call, status, said)
    return fresh.refused(method, ROOT + path, body, status, error)


KNOWN = [
    (ITEM, "57", "GET", "/pulls/57", 404, "Not Found", None),
    (ITEM, "57", "GET", "/issues/57", 404, "Not Found", None),
    (ITEM, "57", "GET", "/pulls/57/reviews?per_page=100", 404, "Not Found", None),
    (ITEM, "57", "POST", "/issues/57/labels", 404, "Not Found", None),
    (ITEM, "57", "POST", "/issues/57/labels", 422, NODE, None),
    (ITEM, "57", "POST", "/pulls/57/requested_reviewers", 422, NODE, None),
    (ITEM, "57", "PUT", "/pulls/57/merge", 404, "Not Found", None),
    (ITEM, "57", "DELETE", "/issues/57/labels/status%3Aready", 404, "Not Found", None),
    (COMMENT, "9", "PATCH", "/issues/comments/9", 404, "Not Found", None),
    (
        LABEL,
        "57/labels/status%3Aready",
        "DELETE",
        "/issues/57/labels/status%3Aready",
        404,
        "Label does not exist",
        None,
    ),
    (BRANCH, "work", "POST", "/pulls", 422, "Validation Failed; PullRequest head invalid", {"head": "work"}),
]
"""Known things, calls, and GitHub's late answers to them."""


@pytest.mark.parametrize(("kind", "name", "method", "path", "status", "said", "body"), KNOWN)
def test_a_refusal_is_late_only_where_the_thing_is_known(
    kind: str, name: str, method: str, path: str, status: int, said: str, body: Any
) -> None:
    fresh = Fresh(PassingClock())
    assert refused(fresh, method, path, status, said, body) is None, "a stranger that is not there is not there"
    fresh.know(Thing(ROOT, kind, name))
    assert refused(fresh, method, path, status, said, body) is not None
    assert refused(fresh, method, path.replace(name.partition("/")[0], "58"), 403, said, body) is None


GIVEN = [
    ("GET", f"/commits/{SHA}/check-runs?filter=latest", 404, "Not Found", None),
    ("GET", f"/commits/{SHA}/check-runs", 422, f"No commit found for SHA: {SHA}", None),
    ("GET", f"/commits/{SHA}/status", 422, f"No commit found for SHA: {SHA}", None),
    ("GET", f"/commits/{SHA}/check-suites", 404, "Not Found", None),
    ("POST", "/pulls/57/reviews", 422, NODE, {"commit_id": SHA}),
]


@pytest.mark.parametrize(("method", "path", "status", "said", "body"), GIVEN)
def test_nobody_asks_for_a_commit_that_is_not_known(method: str, path: str, status: int, said: str, body: Any) -> None:
    assert refused(Fresh(PassingClock()), method, path, status, said, body) is not None


MEANT = [
    ("DELETE", "/issues/57/labels/other", 404, "Label does not exist", None),
    ("POST", "/pulls", 422, "Validation Failed; No commits between main and work", {"head": "work"}),
    ("POST", "/pulls", 422, "Validation Failed; PullRequest base invalid", {"head": "work"}),
    ("GET", "/issues/57", 410, "This issue was deleted", None),
    ("POST", "/pulls/57/reviews", 422, "Can not approve your own pull request", {"commit_id": SHA}),
    ("POST", "/pulls/57/requested_reviewers", 422, "Reviews may only be requested from collaborators.", None),
    ("POST", "/pulls/57/comments/3/replies", 404, "Not Found", None),
    ("GET", "/labels/status%3Aready", 404, "Not Found", None),
    ("GET", "/branches/main/protection", 404, "Branch not protected", None),
]


@pytest.mark.parametrize(("method", "path", "status", "said", "body"), MEANT)
def test_every_other_refusal_means_what_it_says(method: str, path: str, status: int, said: str, body: Any) -> None:
    fresh = Fresh(PassingClock())
    fresh.know(Thing(ROOT, ITEM, "57"))
    fresh.know(Thing(ROOT, BRANCH, "work"))
    assert refused(fresh, method, path, status, said, body) is None


def test_the_pauses_grow_and_patience_ends_after_two_minutes() -> None:
    clock = PassingClock()
    fresh, asked, began = Fresh(clock), 0, clock.boot()
    fresh.know(Thing(ROOT, ITEM, "57"))
    while (late := refused(fresh, "GET", "/pulls/57", 404, "Not Found")) is not None:
        asked += 1
        with pytest.raises(NotShown):
            fresh.admit("GET", f"{ROOT}/pulls/57", None)
        fresh.admit("GET", f"{ROOT}/issues/57", None)
        clock.seconds += late.seconds
        fresh.admit("GET", f"{ROOT}/pulls/57", None)
    assert PATIENCE_SECONDS <= clock.boot() - began < PATIENCE_SECONDS + 30
    assert 5 <= asked <= 12
    assert refused(fresh, "GET", "/pulls/57", 404, "Not Found") is None, "it counts from now on"


def test_an_answer_ends_the_wait() -> None:
    clock = PassingClock()
    fresh = Fresh(clock)
    fresh.know(Thing(ROOT, ITEM, "57"))
    assert refused(fresh, "GET", "/pulls/57", 404, "Not Found") is not None
    fresh.answered("GET", f"{ROOT}/pulls/57", None, None)
    fresh.admit("GET", f"{ROOT}/pulls/57", None)


def test_what_is_old_is_gone_at_once() -> None:
    clock = PassingClock()
    fresh = Fresh(clock)
    fresh.answered("POST", f"{ROOT}/issues/57/comments", {"body": "x"}, {"id": 9})
    fresh.know(Thing(ROOT, ITEM, "57"))
    clock.seconds += YOUNG_SECONDS
    assert refused(fresh, "GET", "/issues/comments/9", 404, "Not Found") is None, "people delete comments"
    clock.seconds += KNOWN_SECONDS - YOUNG_SECONDS
    assert refused(fresh, "GET", "/issues/57", 404, "Not Found") is None


@pytest.mark.parametrize(
    ("path", "reply", "later"),
    [
        ("/issues", {"number": 57}, "/issues/57"),
        ("/pulls", {"number": 57}, "/pulls/57"),
        ("/issues/4/comments", {"id": 57}, "/issues/comments/57"),
    ],
)
def test_what_was_made_here_is_known(path: str, reply: Any, later: str) -> None:
    fresh = Fresh(PassingClock())
    fresh.answered("POST", ROOT + path, {}, reply)
    assert refused(fresh, "GET", later, 404, "Not Found") is not None
    assert Fresh(PassingClock()).refused("GET", ROOT + later, None, 404, NotFound("x")) is None


def test_a_list_that_lacks_what_was_put_there_is_an_older_one() -> None:
    clock = PassingClock()
    fresh = Fresh(clock)
    fresh.answered("POST", f"{ROOT}/issues/4/comments", {}, {"id": 9})
    assert fresh.lacking(f"{ROOT}/issues/4/comments", [{"id": 8}]) is not None
    assert fresh.lacking(f"{ROOT}/issues/4/comments", [{"id": 8}, {"id": 9}]) is None
    assert fresh.lacking(f"{ROOT}/issues/5/comments", []) is None
    clock.seconds += YOUNG_SECONDS
    assert fresh.lacking(f"{ROOT}/issues/4/comments", []) is None, "a person may have deleted it"


def test_a_reply_that_cannot_be_read_is_the_callers_matter() -> None:
    fresh = Fresh(PassingClock())
    replies: list[Any] = [None, [], {}, {"number": None}, "text"]
    for reply in replies:
        fresh.answered("POST", f"{ROOT}/issues", {}, reply)
    for body in (None, {}, {"labels": None}):
        fresh.answered("POST", f"{ROOT}/issues/4/labels", body, [])
    assert fresh.lacking(f"{ROOT}/issues/4/comments", []) is None, "nothing is known to be there"


def test_what_we_took_away_ourselves_is_gone_at_once() -> None:
    fresh = Fresh(PassingClock())
    fresh.answered("POST", f"{ROOT}/issues/4/comments", {}, {"id": 9})
    fresh.answered("DELETE", f"{ROOT}/issues/comments/9", None, None)
    assert refused(fresh, "GET", "/issues/comments/9", 404, "Not Found") is None
    assert fresh.lacking(f"{ROOT}/issues/4/comments", []) is None
    label = "/issues/4/labels/status%3Aready"
    fresh.answered("POST", f"{ROOT}/issues/4/labels", {"labels": ["status:ready"]}, [{"name": "bug"}])
    assert refused(fresh, "DELETE", label, 404, "Label does not exist") is not None
    fresh.answered("DELETE", ROOT + label, None, None)
    assert refused(fresh, "DELETE", label, 404, "Label does not exist") is None
    assert refused(fresh, "DELETE", "/issues/4/labels/bug", 404, "Label does not exist") is None, "not added by us"


def test_what_is_over_is_forgotten_when_something_new_is_made() -> None:
    clock = PassingClock(0.0)
    fresh = Fresh(clock)
    for number in range(300):
        fresh.answered("POST", f"{ROOT}/issues/{number}/comments", {"body": ""}, {"id": 1000 + number})
        clock.seconds += 10
    assert 2 * (YOUNG_SECONDS / 10) <= len(fresh) <= 2 * (YOUNG_SECONDS / 10 + 1)
    assert isinstance(refused(fresh, "PATCH", "/issues/comments/1299", 404, "Not Found"), NotShown)
    assert refused(fresh, "PATCH", "/issues/comments/1000", 404, "Not Found") is None


def test_a_thing_that_is_over_at_once_leaves_nothing() -> None:
    fresh = Fresh(PassingClock())
    fresh.know(Thing(ROOT, ITEM, "57"), -1.0)
    assert len(fresh) == 0
