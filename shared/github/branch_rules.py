"""What GitHub asks of changes to a branch: rulesets and classic protection, as far as server and token show them.

A server without rulesets answers 404 to them, and to classic protection whoever is no administrator gets 403 or
404: everywhere in the engine that means that nothing is known to be asked.
"""

from __future__ import annotations

from typing import Any

from shared.errors import NotAllowed
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound


async def rules(github: GitHub, repository: str, branch: str) -> list[Any]:
    """The rules of all rulesets that hold for a branch, as GitHub shows them; raises `Transient`."""
    try:
        return await github.pages(f"/repos/{repository}/rules/branches/{segment(branch)}")
    except (NotFound, NotAllowed):
        return []


async def classic(github: GitHub, repository: str, branch: str) -> Any | None:
    """The classic protection of a branch, as GitHub shows it; None when there is none to be seen."""
    try:
        return await github.get(f"/repos/{repository}/branches/{segment(branch)}/protection")
    except (NotFound, NotAllowed):
        return None
