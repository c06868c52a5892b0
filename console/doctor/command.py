"""`workflow-engine doctor`: from the command line to an exit code."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table
from rich.text import Text

from config.loading import load_several
from console.doctor.finding import Finding, Machine, Status, failed, healthy, only_passing
from console.doctor.machine import change_it
from console.doctor.probes import findings_of
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import FAILED, MISCONFIGURED, NOT_ALLOWED, OK
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock
from shared.workflow import AGENTS, Role


def examined(
    repositories: Sequence[str],
    config: Path | None,
    environment: Mapping[str, str],
    roles: frozenset[Role] = AGENTS,
    *,
    json: bool = False,
    quick: bool = False,
) -> int:
    """Examine for these agents, and print.

    Return 0 (nothing failed), 1 (GitHub did not answer), 2 (no usable configuration) or 4.
    """
    try:
        settings = load_several(config, repositories, environment=environment)
    except Misconfigured as error:
        if json:
            sys.stdout.write(f"{as_json([failed('configuration', str(error), change_it())])}\n")
        else:
            sys.stderr.write(f"{error}\n")
        return MISCONFIGURED
    machine = Machine(settings, with_gh_token(settings, environment), RealClock(), quick, config)
    findings = anyio.run(findings_of, machine, roles)
    if json:
        sys.stdout.write(f"{as_json(findings)}\n")
    else:
        show(findings, Console())
    if healthy(findings):
        return OK
    return FAILED if only_passing(findings) else NOT_ALLOWED


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
