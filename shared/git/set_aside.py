"""The move of a work branch out of the way of a new start: to a free name, and only as it was seen."""

from __future__ import annotations

from shared.git.names import work_branch
from shared.git.ports import Mirror
from shared.lock.port import RefUpdate


async def updates_to_move_aside(
    branches: Mirror, branch: str, number: int, tip: str
) -> tuple[str, tuple[RefUpdate, RefUpdate]]:
    """Return a new name for the `branch` of issue `number`, and the updates that move it there if it is at `tip`."""
    taken, old = await branches.refresh_all("refs/heads/auto/"), work_branch(number)
    free = next(name for k in range(1, len(taken) + 2) if f"refs/heads/{(name := f'{old}-old-{k}')}" not in taken)
    updates = RefUpdate(f"refs/heads/{free}", None, tip), RefUpdate(f"refs/heads/{branch}", tip, "")
    return free, updates
