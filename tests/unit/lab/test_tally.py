"""The counts of the benchmarks: requests that are charged, write, create content, or speak to people."""

from __future__ import annotations

import pytest

from benchmarks.request_counts import Exchange, tally
from benchmarks.table import Row, markdown

POLL = "/repos/o/r/issues?state=open&sort=updated&direction=desc&per_page=100"


def exchange(line: str) -> Exchange:
    """Return the exchange of `METHOD target status`."""
    method, target, status = line.split()
    return Exchange(method, target, int(status))


@pytest.mark.parametrize(
    ("line", "charged", "write", "content", "speech"),
    [
        ("GET /repos/o/r/issues/7 200", 1, 0, 0, 0),
        ("GET /repos/o/r/issues/7 304", 0, 0, 0, 0),
        ("GET /repos/o/r/issues/7 404", 1, 0, 0, 0),
        ("GET /rate_limit 200", 0, 0, 0, 0),
        ("POST /repos/o/r/issues 201", 1, 1, 1, 0),
        ("POST /repos/o/r/issues/7/comments 201", 1, 1, 1, 1),
        ("POST /repos/o/r/issues/7/comments 502", 1, 1, 1, 0),
        ("PATCH /repos/o/r/issues/comments/9 200", 1, 1, 0, 0),
        ("POST /repos/o/r/issues/7/labels 200", 1, 1, 0, 0),
        ("POST /repos/o/r/pulls 201", 1, 1, 1, 1),
        ("POST /repos/o/r/pulls/8/reviews 200", 1, 1, 1, 1),
        ("POST /repos/o/r/pulls/8/comments/3/replies 201", 1, 1, 1, 0),
        ("PUT /repos/o/r/pulls/8/merge 200", 1, 1, 1, 0),
        ("POST /o/r.git/git-receive-pack 200", 0, 0, 0, 0),
    ],
)
def test_what_a_request_counts_as(line: str, charged: int, write: int, content: int, speech: int) -> None:
    found = tally([exchange(line)])
    assert (found.charged, found.writes, found.content, found.speech) == (charged, write, content, speech)


def test_polls_are_told_from_other_reads_and_git_from_both() -> None:
    lines = [f"GET {POLL} 200", f"GET {POLL} 304", "GET /repos/o/r/issues?labels=x 200"]
    found = tally([*map(exchange, lines), exchange("GET /o/r.git/info/refs?service=git-upload-pack 200")])
    assert (found.requests, found.charged, found.charged_change_lists, found.charged_besides_polling) == (3, 2, 1, 1)
    assert found.git == 1
    assert found.shapes == {"GET /issues": 1, "GET /issues (poll)": 1}


def test_a_row_says_whether_its_goal_is_met() -> None:
    rows = [Row("a", 62, "requests", 62), Row("b", 0.81, "s", 0.8, "of five"), Row("c", 3, "s")]
    assert [row.verdict for row in rows] == ["held", "missed", ""]
    assert "| b (of five) | 0.81 s | <= 0.8 s | missed |" in markdown(rows)
