"""Output of findings: a table on a terminal, plain lines elsewhere, one JSON object for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from console.doctor.finding import Finding, Status, healthy

_COLOURS = {Status.PASS: "green", Status.WARN: "yellow", Status.FAIL: "bold red", Status.SKIP: "dim"}


def as_json(findings: Sequence[Finding]) -> str:
    """`{"ok": bool, "findings": [{"status", "subject", "sentence", "next_step", "where", "passing"}]}`."""
    return json.dumps({"ok": healthy(findings), "findings": [asdict(finding) for finding in findings]}, indent=2)


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print every finding with what to do about it, and the sum."""
    if console.is_terminal:
        console.print(_table(findings))
    else:
        for finding in findings:
            console.print(line(finding), markup=False, highlight=False, soft_wrap=True)
    console.print(total(findings), markup=False, highlight=False)


def line(finding: Finding) -> str:
    """One finding as plain text."""
    where = f" ({finding.where})" if finding.where else ""
    step = f"\n      -> {finding.next_step}" if finding.next_step else ""
    return f"{finding.status:<4}  {finding.subject}{where}: {finding.sentence}{step}"


def total(findings: Sequence[Finding]) -> str:
    """Return the number of findings for each status, and whether the engine is ready."""
    counted = Counter(finding.status for finding in findings)
    sums = ", ".join(f"{counted[status]} {status}" for status in Status if counted[status])
    return f"{sums}. {'Ready.' if healthy(findings) else 'Not ready: see what failed.'}"


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(expand=True)
    for name in ("", "subject", "where", "finding"):
        table.add_column(name, no_wrap=name == "", overflow="fold")
    for finding in findings:
        told = Text(finding.sentence)
        if finding.next_step:
            told.append(f"\n-> {finding.next_step}", style="cyan")
        status = Text(finding.status, style=_COLOURS[finding.status])
        table.add_row(status, Text(finding.subject), Text(finding.where), told)
    return table
