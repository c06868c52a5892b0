"""A job's log cut to the step that failed."""

from __future__ import annotations

import pytest

from shared.ci.logs import failing_step

STAMP = "2026-01-05T10:32:00.1234567Z "
LOG = [
    "\ufeff" + STAMP + "Current runner version: '2.320.0'",
    *(
        STAMP + line
        for line in (
            "##[group]Operating System",
            "Ubuntu",
            "##[endgroup]",
            "##[group]Run actions/checkout@v4",
            "with:",
            "##[endgroup]",
            "##[command]/usr/bin/git init",
            "##[group]Run pytest -q",
            "\x1b[36;1mpytest -q\x1b[0m",
            "shell: /bin/sh -c {0}",
            "env:",
            "  TOKEN: ***",
            "##[endgroup]",
            "##[debug]thinking",
            "::add-mask::hunter2",
            "::group::Collected",
            "\x1b[31mFAILED\x1b[0m tests/test_a.py::test_a - assert 1 == 2",
            "::endgroup::",
            "::error file=a.py,line=3::No docstring",
            "##[warning]Node 16 is old",
            "##[error]Process completed with exit code 1.",
            "Post job cleanup.",
            "Cleaning up orphan processes",
        )
    ),
]
SAID = """\
$ pytest -q
Collected
FAILED tests/test_a.py::test_a - assert 1 == 2
error: a.py:3: No docstring
warning: Node 16 is old
##[error]Process completed with exit code 1."""


def test_of_a_whole_log_the_failing_step_is_left_as_people_read_it() -> None:
    assert failing_step("\n".join(LOG), 10_000) == SAID
    assert failing_step("\r\n".join(LOG), 10_000) == SAID


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("a log", "a log"),
        ("", ""),
        (f"{STAMP}the end of a step\n{STAMP}##[error]No.\n{STAMP}Post job cleanup.", "the end of a step\n##[error]No."),
        ("##[group]Run a\n##[endgroup]\nfine\n##[group]Run b\n##[endgroup]\n##[error]b", "$ b\n##[error]b"),
        ("##[group]Run a\n##[endgroup]\n##[error]a\n##[group]Run b\n##[endgroup]\nfine", "$ a\n##[error]a"),
        ("##[group]Run a\n##[endgroup]\nno error is marked", "$ a\nno error is marked"),
        ("C::D::E() is no command", "C::D::E() is no command"),
    ],
    ids=["plain", "empty", "beginning lost", "later step", "earlier step", "no error", "no command"],
)
def test_what_is_no_whole_log(log: str, said: str) -> None:
    assert failing_step(log, 10_000) == said


def test_of_a_long_step_the_end_is_kept() -> None:
    log = "\n".join([*LOG[:14], *[f"{STAMP}filler {number}" for number in range(5_000)], *LOG[14:]])
    said = failing_step(log, 1_000)
    assert len(said.encode()) <= 1_000
    assert said.endswith(SAID.partition("\n")[2])
    assert "bytes in all" in said
