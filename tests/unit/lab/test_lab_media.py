"""Bodies in the media types of GitHub that carry them rendered."""

from __future__ import annotations

from typing import Any

import pytest

from lab.github.http.service import render

ISSUE = {"title": "A", "body": "Say *hello* & <b>bye</b>", "user": {"login": "ada"}}
HTML = "<p>Say <em>hello</em> &amp; &lt;b&gt;bye&lt;/b&gt;</p>\n"
TEXT = "Say hello & <b>bye</b>"


@pytest.mark.parametrize(
    ("media", "bodies"),
    [
        ("application/vnd.github.full+json", {"body": ISSUE["body"], "body_html": HTML, "body_text": TEXT}),
        ("application/vnd.github.v3.html+json", {"body_html": HTML}),
        ("application/json, application/vnd.github.text+json", {"body_text": TEXT}),
        ("application/vnd.github.raw+json", {"body": ISSUE["body"]}),
        ("application/vnd.github+json", {"body": ISSUE["body"]}),
    ],
)
def test_an_answer_carries_the_bodies_that_are_asked_for(media: str, bodies: dict[str, str]) -> None:
    assert render(ISSUE, media) == {"title": "A", "user": {"login": "ada"}, **bodies}
    assert render([{"issue": ISSUE}], media) == [{"issue": render(ISSUE, media)}]


@pytest.mark.parametrize("value", [{"body": "of nobody"}, {"user": "ada"}, [1, None, "body"]])
def test_nothing_else_is_touched(value: Any) -> None:
    assert render(value, "application/vnd.github.full+json") == value


def test_a_body_that_is_not_there_stays_so() -> None:
    got = render({"user": None, "body": None}, "application/vnd.github.full+json")
    assert got == {"user": None, "body": None, "body_html": None, "body_text": None}
