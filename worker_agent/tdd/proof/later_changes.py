"""Changes after the proof (repairs, review rounds, merges): no test may become weaker (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from worker_agent.tdd.test_file_names import is_test_file


def weakened(before: Mapping[str, bytes], after: Mapping[str, bytes], free: Collection[str] = ()) -> tuple[str, ...]:
    """Return one sentence for each test that a change removes, skips, or makes check less or something else.

    `before` and `after` hold the changed files as far as they exist; those of `free` may change as they like.
    """
    from worker_agent.tdd.comparison.compare import compare  # grammars are loaded when there is a change

    old = {path: content for path, content in before.items() if is_test_file(path) and path not in free}
    if not old:
        return ()
    new = {path: content for path, content in after.items() if is_test_file(path) and path not in free}
    found = compare(old, new)
    ended = (*found.removed, *found.skipped, *(entry for entry in found.changed if entry.loses))
    return tuple(f"{entry.text}: a later change may add tests, not take from them." for entry in ended)
