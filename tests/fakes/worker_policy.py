"""A worker's policy of which a test names only the keys that it is about, whichever group they stand in."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from worker_agent.policy import CodePolicy, IntakePolicy, Policy, PullRequestPolicy, RunPolicy, SuitePolicy

GROUPS = {"intake": IntakePolicy, "code": CodePolicy, "pulls": PullRequestPolicy, "runs": RunPolicy}
SUITE = ("working_directory", "test_command", "test_report")


def worker_policy(repository: str, **keys: Any) -> Policy:
    """A policy with these keys; those of `SUITE` make its one suite."""
    if "suites" not in keys and any(name in keys for name in SUITE):
        directory, command, report = (keys.get(name) for name in SUITE)
        keys["suites"] = (SuitePolicy(directory or "", command, report),)
    keys.pop("test_command", None)
    keys.pop("test_report", None)
    groups = {}
    for name, group in GROUPS.items():
        own = {field.name for field in fields(group)} & keys.keys()
        groups[name] = group(**{key: keys.pop(key) for key in own})
    return Policy(repository, **groups, **keys)
