"""GitHub's rules for changes to a branch: rulesets and classic protection, as far as server and token show them.

A server without rulesets answers 404 to them, and a token without administration rights gets 403 or 404 for classic
protection: everywhere in the engine that means that no requirement is known.
"""

from __future__ import annotations

from typing import Any

from shared.errors import NotAllowed
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import NotFound


async def rules(github: GitHub, repository: str, branch: str) -> list[Any]:
    """Return the rules of all rulesets that hold for a branch, as GitHub shows them; raises `Transient`."""
    try:
        return await github.pages(f"/repos/{repository}/rules/branches/{segment(branch)}")
    except (NotFound, NotAllowed):
        return []


async def classic(github: GitHub, repository: str, branch: str) -> Any | None:
    """Return the classic protection of a branch, as GitHub shows it; None if there is none to be seen."""
    try:
        return await github.get(f"/repos/{repository}/branches/{segment(branch)}/protection")
    except (NotFound, NotAllowed):
        return None
