"""Formats of the doctor's report: plain lines, a table, JSON."""

from __future__ import annotations

import json
from io import StringIO

from rich.console import Console

from console.doctor.command import as_json, line, show
from console.doctor.finding import Finding, failed, passed, warned

FINDINGS: list[Finding] = [
    passed("git", "git version 2.39."),
    warned("labels", "1 are missing: [red]x[/red].", "Run init.", "a/b"),
]


def test_a_report_tells_every_finding_and_is_ready_without_a_failure() -> None:
    out = StringIO()
    show(FINDINGS, Console(file=out, width=200))
    assert out.getvalue().splitlines() == [
        "pass  git: git version 2.39.",
        "warn  labels (a/b): 1 are missing: [red]x[/red].",
        "      -> Run init.",
        "1 pass, 1 warn. Ready.",
    ]


def test_a_report_on_a_terminal_takes_nothing_for_markup() -> None:
    out = StringIO()
    bad = failed("token", "[bold]No token[/bold].", "Set one.")
    show([*FINDINGS, bad], Console(file=out, width=200, force_terminal=True, color_system=None))
    assert "[red]x[/red]" in out.getvalue()
    assert "[bold]No token[/bold]." in out.getvalue()
    assert "Not ready: see what failed." in out.getvalue()


def test_json_says_whether_all_is_well() -> None:
    assert json.loads(as_json(FINDINGS))["ok"] is True
    answer = json.loads(as_json([*FINDINGS, failed("token", "No token.", "Set one.")]))
    assert answer["ok"] is False
    assert answer["findings"][1] == {
        "status": "warn",
        "subject": "labels",
        "sentence": "1 are missing: [red]x[/red].",
        "next_step": "Run init.",
        "where": "a/b",
        "passing": False,
    }
    assert line(FINDINGS[0]) == "pass  git: git version 2.39."
