"""A check that a merge of the base kept every test that passed on either side (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from shared.git.merging import Conflict, has_markers
from worker_agent.tdd.judging.verdict import listed, output, result_text
from worker_agent.tdd.runners.test_run import TestRun


def newly_failing(ours: TestRun, base: TestRun, merged: TestRun, own_files: Collection[str]) -> tuple[str, ...]:
    """Return a line for each test that passed on either side and fails after the merge.

    Tests that the base itself breaks, moves or removes do not count, unless they are in `own_files`, the paths that our
    branch has changed. A run that did not finish proves nothing, and is reported with its output.
    """
    if not merged.finished:
        return output(merged)
    missing = sorted((ours.passed | base.passed) - merged.passed)
    gone = [test for test in missing if test in base.passed or ours.results[test].file in own_files]
    return listed(
        result_text(merged.results[test]) if test in merged.results else f"{test}: did not run" for test in gone
    )


def unresolved(
    conflicts: Sequence[Conflict], before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return a line for each file that still has conflict markers, in conflict or changed while resolving one.

    `before` and `after` hold the files as git merged them and as they were left, by path, as far as they exist. A file
    outside of the conflict with such lines that nobody touched is a text about git.
    """
    paths = {conflict.path for conflict in conflicts} | {path for path in after if after[path] != before.get(path)}
    return tuple(f"{path}: conflict markers are left." for path in sorted(paths) if has_markers(after.get(path, b"")))


def described(conflicts: Sequence[Conflict]) -> Iterator[str]:
    """Yield each conflict as a line for people and coders."""
    return (f"{conflict.path} ({_KINDS[conflict.kind]})" for conflict in conflicts)


_KINDS = {
    "UU": "changed on both sides",
    "AA": "added on both sides",
    "DD": "moved or deleted on both sides",
    "AU": "added or moved by this branch",
    "UA": "added or moved by the base",
    "DU": "deleted by this branch, changed by the base",
    "UD": "changed by this branch, deleted by the base",
}
