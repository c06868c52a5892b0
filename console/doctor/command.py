"""`workflow-engine doctor`: from the command line to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from rich.console import Console

from config.loading import load_several
from console.doctor.context import Machine
from console.doctor.finding import failed, healthy, only_passing
from console.doctor.machine import change_it
from console.doctor.probes import findings_of
from console.doctor.report import as_json, show
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import FAILED, MISCONFIGURED, NOT_ALLOWED, OK
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock
from shared.workflow import AGENTS, Role


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """Options of `doctor` from the command line."""

    repositories: tuple[str, ...] = ()
    config: Path | None = None
    json: bool = False
    agent: Role | None = None
    quick: bool = False


def examined(options: DoctorOptions, environment: Mapping[str, str]) -> int:
    """Examine, print, and return 0 (nothing failed), 1 (GitHub did not answer), 2 (no usable configuration) or 4."""
    try:
        settings = load_several(options.config, options.repositories, environment=environment)
    except Misconfigured as error:
        if options.json:
            sys.stdout.write(f"{as_json([failed('configuration', str(error), change_it())])}\n")
        else:
            sys.stderr.write(f"{error}\n")
        return MISCONFIGURED
    machine = Machine(settings, with_gh_token(settings, environment), RealClock(), options.quick)
    roles = AGENTS if options.agent is None else frozenset({options.agent})
    findings = anyio.run(findings_of, machine, roles)
    if options.json:
        sys.stdout.write(f"{as_json(findings)}\n")
    else:
        show(findings, Console())
    if healthy(findings):
        return OK
    return FAILED if only_passing(findings) else NOT_ALLOWED
