"""Late answers of GitHub: which refusals are lateness, for how long, and the meaning of the others."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.clock import PassingClock

from shared.errors import EngineError
from shared.github.errors import NotFound, NotShown, Refused
from shared.github.replica_lag import (
    BRANCH,
    COMMENT,
    ITEM,
    KNOWN_SECONDS,
    LABEL,
    PATIENCE_SECONDS,
    YOUNG_SECONDS,
    ReplicaLag,
    Thing,
)

ROOT = "/repos/o/r"
SHA = "a" * 40
NODE = "Could not resolve to a node with the global id of 'PR_x'."


def refused(lag: ReplicaLag, method: str, path: str, status: int, said: str, body: Any = None) -> NotShown | None:
    call = f"{method} {path}"
    error: EngineError = NotFound(f"{call}: {said}") if status == 404 else Refused(call, status, said)
    return lag.refused(method, ROOT + path, body, status, error)


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
    lag = ReplicaLag(PassingClock())
    assert refused(lag, method, path, status, said, body) is None, "a stranger that is not there is not there"
    lag.expect(Thing(ROOT, kind, name))
    assert refused(lag, method, path, status, said, body) is not None
    assert refused(lag, method, path.replace(name.partition("/")[0], "58"), 403, said, body) is None


GIVEN = [
    ("GET", f"/commits/{SHA}/check-runs?filter=latest", 404, "Not Found", None),
    ("GET", f"/commits/{SHA}/check-runs", 422, f"No commit found for SHA: {SHA}", None),
    ("GET", f"/commits/{SHA}/status", 422, f"No commit found for SHA: {SHA}", None),
    ("GET", f"/commits/{SHA}/check-suites", 404, "Not Found", None),
    ("POST", "/pulls/57/reviews", 422, NODE, {"commit_id": SHA}),
]


@pytest.mark.parametrize(("method", "path", "status", "said", "body"), GIVEN)
def test_nobody_asks_for_a_commit_that_is_not_known(method: str, path: str, status: int, said: str, body: Any) -> None:
    assert refused(ReplicaLag(PassingClock()), method, path, status, said, body) is not None


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
    lag = ReplicaLag(PassingClock())
    lag.expect(Thing(ROOT, ITEM, "57"))
    lag.expect(Thing(ROOT, BRANCH, "work"))
    assert refused(lag, method, path, status, said, body) is None


def test_the_pauses_grow_and_patience_ends_after_two_minutes() -> None:
    clock = PassingClock()
    lag, asked, began = ReplicaLag(clock), 0, clock.boot()
    lag.expect(Thing(ROOT, ITEM, "57"))
    while (late := refused(lag, "GET", "/pulls/57", 404, "Not Found")) is not None:
        asked += 1
        with pytest.raises(NotShown):
            lag.admit("GET", f"{ROOT}/pulls/57", None)
        lag.admit("GET", f"{ROOT}/issues/57", None)
        clock.seconds += late.seconds
        lag.admit("GET", f"{ROOT}/pulls/57", None)
    assert PATIENCE_SECONDS <= clock.boot() - began < PATIENCE_SECONDS + 30
    assert 5 <= asked <= 12
    assert refused(lag, "GET", "/pulls/57", 404, "Not Found") is None, "it counts from now on"


def test_an_answer_ends_the_wait() -> None:
    clock = PassingClock()
    lag = ReplicaLag(clock)
    lag.expect(Thing(ROOT, ITEM, "57"))
    assert refused(lag, "GET", "/pulls/57", 404, "Not Found") is not None
    lag.answered("GET", f"{ROOT}/pulls/57", None, None)
    lag.admit("GET", f"{ROOT}/pulls/57", None)


def test_what_is_old_is_gone_at_once() -> None:
    clock = PassingClock()
    lag = ReplicaLag(clock)
    lag.answered("POST", f"{ROOT}/issues/57/comments", {"body": "x"}, {"id": 9})
    lag.expect(Thing(ROOT, ITEM, "57"))
    clock.seconds += YOUNG_SECONDS
    assert refused(lag, "GET", "/issues/comments/9", 404, "Not Found") is None, "people delete comments"
    clock.seconds += KNOWN_SECONDS - YOUNG_SECONDS
    assert refused(lag, "GET", "/issues/57", 404, "Not Found") is None


@pytest.mark.parametrize(
    ("path", "reply", "later"),
    [
        ("/issues", {"number": 57}, "/issues/57"),
        ("/pulls", {"number": 57}, "/pulls/57"),
        ("/issues/4/comments", {"id": 57}, "/issues/comments/57"),
    ],
)
def test_what_was_made_here_is_known(path: str, reply: Any, later: str) -> None:
    lag = ReplicaLag(PassingClock())
    lag.answered("POST", ROOT + path, {}, reply)
    assert refused(lag, "GET", later, 404, "Not Found") is not None
    assert ReplicaLag(PassingClock()).refused("GET", ROOT + later, None, 404, NotFound("x")) is None


def test_a_list_that_lacks_what_was_put_there_is_an_older_one() -> None:
    clock = PassingClock()
    lag = ReplicaLag(clock)
    lag.answered("POST", f"{ROOT}/issues/4/comments", {}, {"id": 9})
    assert lag.lacking(f"{ROOT}/issues/4/comments", [{"id": 8}]) is not None
    assert lag.lacking(f"{ROOT}/issues/4/comments", [{"id": 8}, {"id": 9}]) is None
    assert lag.lacking(f"{ROOT}/issues/5/comments", []) is None
    clock.seconds += YOUNG_SECONDS
    assert lag.lacking(f"{ROOT}/issues/4/comments", []) is None, "a person may have deleted it"


def test_a_reply_that_cannot_be_read_is_the_callers_matter() -> None:
    lag = ReplicaLag(PassingClock())
    replies: list[Any] = [None, [], {}, {"number": None}, "text"]
    for reply in replies:
        lag.answered("POST", f"{ROOT}/issues", {}, reply)
    for body in (None, {}, {"labels": None}):
        lag.answered("POST", f"{ROOT}/issues/4/labels", body, [])
    assert lag.lacking(f"{ROOT}/issues/4/comments", []) is None, "nothing is known to be there"


def test_what_we_took_away_ourselves_is_gone_at_once() -> None:
    lag = ReplicaLag(PassingClock())
    lag.answered("POST", f"{ROOT}/issues/4/comments", {}, {"id": 9})
    lag.answered("DELETE", f"{ROOT}/issues/comments/9", None, None)
    assert refused(lag, "GET", "/issues/comments/9", 404, "Not Found") is None
    assert lag.lacking(f"{ROOT}/issues/4/comments", []) is None
    label = "/issues/4/labels/status%3Aready"
    lag.answered("POST", f"{ROOT}/issues/4/labels", {"labels": ["status:ready"]}, [{"name": "bug"}])
    assert refused(lag, "DELETE", label, 404, "Label does not exist") is not None
    lag.answered("DELETE", ROOT + label, None, None)
    assert refused(lag, "DELETE", label, 404, "Label does not exist") is None
    assert refused(lag, "DELETE", "/issues/4/labels/bug", 404, "Label does not exist") is None, "not added by us"


def test_what_is_over_is_forgotten_when_something_new_is_made() -> None:
    clock = PassingClock(0.0)
    lag = ReplicaLag(clock)
    for number in range(300):
        lag.answered("POST", f"{ROOT}/issues/{number}/comments", {"body": ""}, {"id": 1000 + number})
        clock.seconds += 10
    assert 2 * (YOUNG_SECONDS / 10) <= len(lag) <= 2 * (YOUNG_SECONDS / 10 + 1)
    assert isinstance(refused(lag, "PATCH", "/issues/comments/1299", 404, "Not Found"), NotShown)
    assert refused(lag, "PATCH", "/issues/comments/1000", 404, "Not Found") is None


def test_a_thing_that_is_over_at_once_leaves_nothing() -> None:
    lag = ReplicaLag(PassingClock())
    lag.expect(Thing(ROOT, ITEM, "57"), -1.0)
    assert len(lag) == 0
