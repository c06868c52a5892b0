"""Merges that the reviewer tries."""

from __future__ import annotations

from fakes.reviewer_world import HEAD, ISSUE, World


def merges(world: World) -> int:
    return sum(deed.startswith("merge ") for deed in world.done)


MERGE = f"merge {HEAD} squash [auto] Search users (#57)"

TIDIED = [MERGE, f"close {ISSUE}", f"delete auto/issue-{ISSUE} {HEAD}"]
