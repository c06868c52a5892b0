"""The judge's positive controls: each planted fault is complained of, and a faultless exchange is not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from judge import Judge

from lab.github.http.exchanges import Exchange

JSON = {"Content-Type": "application/json; charset=utf-8"}
LABEL = {
    "id": 1,
    "node_id": "LA_1",
    "url": "http://127.0.0.1/labels/a",
    "name": "a",
    "color": "ededed",
    "default": False,
    "description": None,
}
ISSUE_LABELS = Exchange(
    method="POST",
    template="/repos/{owner}/{repo}/issues/{issue_number}/labels",
    path="/repos/octo/thing/issues/1/labels",
    query="",
    request_headers={},
    request_body=b'{"labels": ["a"]}',
    status=200,
    response_headers=JSON,
    response_body=json.dumps([LABEL]).encode(),
)
ISSUES = replace(
    ISSUE_LABELS,
    method="GET",
    template="/repos/{owner}/{repo}/issues",
    path="/repos/octo/thing/issues",
    query="state=open&per_page=100&labels=a,b",
    request_body=b"",
    response_body=b"[]",
)


def refusal(status: int, body: Any) -> dict[str, Any]:
    return {"status": status, "response_body": json.dumps(body).encode()}


@pytest.mark.parametrize(
    ("exchange", "changes"),
    [
        (ISSUE_LABELS, {}),
        (ISSUES, {}),
        (ISSUES, {"status": 304, "request_headers": {"If-None-Match": "x"}, "response_body": b""}),
        (ISSUES, {"status": 200, "response_body": b"<html>", "fault": "html"}),
        (ISSUES, refusal(401, {"message": "Bad credentials"})),
        (ISSUES, refusal(502, {"message": "Server Error"})),
        (ISSUES, {"status": 301, "response_headers": {"Location": "/repositories/1/issues"}}),
    ],
)
def test_what_github_would_answer_passes(judge: Judge, exchange: Exchange, changes: dict[str, Any]) -> None:
    judge(replace(exchange, **changes))
    assert (judge.judged, judge.complaints) == (1, [])


@pytest.mark.parametrize(
    ("exchange", "changes", "complaint"),
    [
        (ISSUES, {"template": "/repos/{owner}/{repo}/wiki"}, "no such operation"),
        (ISSUES, {"template": None}, "no such operation"),
        (ISSUES, {"query": "label=a"}, "query parameter 'label' is not described"),
        (ISSUES, {"query": "state=opened"}, "query parameter 'state'"),
        (ISSUES, {"query": "per_page=ten"}, "query parameter 'per_page'"),
        (ISSUES, {"query": "since=yesterday"}, "query parameter 'since'"),
        (ISSUES, {"request_body": b"{}"}, "no body is described"),
        (ISSUES, {"response_body": b'[{"number": 1}]'}, "required property"),
        (ISSUES, {"response_body": b"[truncat"}, "cannot be read"),
        (ISSUES, {"response_headers": {"Content-Type": "text/html"}}, "is not JSON"),
        (ISSUES, {"status": 201}, "no such status"),
        (ISSUES, {"status": 304}, "conditional"),
        (ISSUES, {"status": 302}, "without Location"),
        (ISSUES, refusal(403, {"error": "no"}), "required property"),
        (ISSUE_LABELS, {"path": "/repos/octo/thing/issues/one/labels"}, "not an integer"),
        (ISSUE_LABELS, {"request_body": b'{"labels": "a"}'}, "body at"),
        (ISSUE_LABELS, {"request_body": b"{"}, "body is not JSON"),
        (ISSUE_LABELS, {"response_body": json.dumps([{**LABEL, "url": "no address"}]).encode()}, "uri"),
        (ISSUE_LABELS, {"response_body": json.dumps([{**LABEL, "color": None}]).encode()}, "answer at [0, 'color']"),
    ],
)
def test_what_github_would_not_say_is_complained_of(
    judge: Judge, exchange: Exchange, changes: dict[str, Any], complaint: str
) -> None:
    judge(replace(exchange, **changes))
    assert any(complaint in found for found in judge.complaints)


def test_unknown_fields_of_a_body_are_named(judge: Judge) -> None:
    judge(
        replace(
            ISSUES,
            method="POST",
            query="",
            request_body=b'{"title": "x", "label": []}',
            **refusal(422, {"message": "x"}),
        )
    )
    assert "body: 'label' is not described" in judge.complaints[0]
