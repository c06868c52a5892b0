"""The suites of a repository: as configured, each with its runner; else those found in the top directory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from worker_agent.policy import SuitePolicy
from worker_agent.tdd.runners.runner import Read

if TYPE_CHECKING:  # an agent that waits does not load the runners
    from worker_agent.tdd.runners.registry import Suite


def chosen_suites(policies: Sequence[SuitePolicy], paths: Collection[str], read: Read) -> tuple[Suite, ...]:
    """Return the suites to run; raise `Misconfigured` with the sentence for the person if one cannot be run."""
    return tuple(_choose_suite(suite, paths, read) for suite in policies)


def _choose_suite(policy: SuitePolicy, paths: Collection[str], read: Read) -> Suite:
    from worker_agent.tdd.runners.registry import Suite, choose

    lead = f"{policy.directory}/" if policy.directory else ""
    inside = [path.removeprefix(lead) for path in paths if path.startswith(lead)]
    choice = choose(policy.test_command, policy.test_report, inside, lambda path: read(lead + path))
    return Suite(policy.directory, choice)
