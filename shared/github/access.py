"""The permissions that each agent needs in a repository, and a check for them that changes nothing."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import Gone, NotAllowed
from shared.github import wire
from shared.github.address import segment
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.lock.write_permit import OperatorPermit
from shared.workflow import Role

NEEDS: Mapping[Role, Mapping[str, str]] = {
    Role.PLANNER: {"contents": "write", "issues": "write"},
    Role.WORKER: {
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "checks": "read",
        "statuses": "read",
        "actions": "read",
    },
    Role.REVIEWER: {
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
        "checks": "read",
        "statuses": "read",
    },
}
"""Permission -> level, as GitHub names them. All need `contents: write`: the lock is a git ref."""

_VALIDATION = 422
"""GitHub's status for a request that it would have carried out, had it made sense."""


@dataclass(frozen=True, slots=True)
class Access:
    """Result of the check: permissions that are missing, and those of which GitHub's answer says nothing."""

    missing: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()


def needed(roles: Collection[Role]) -> dict[str, str]:
    """Return all permissions that one identity needs that acts for all these agents; write includes read."""
    found: dict[str, str] = {}
    for role in roles:
        for permission, level in NEEDS[role].items():
            if found.get(permission) != "write":
                found[permission] = level
    return found


async def access(github: GitHub, repository: str, roles: Collection[Role], base: str, permit: OperatorPermit) -> Access:
    """Try every permission that these agents need, by reads and by writes that GitHub can only refuse.

    A nonsensical write is refused with 422 if the token may write, and with 403 if it may not.
    `base` is the branch whose checks are read.
    """
    missing, unclear = [], []
    for permission, level in needed(roles).items():
        allowed = await _may(github, f"/repos/{repository}", permission, level, base, permit)
        if allowed is None:
            unclear.append(f"{permission}: {level}")
        elif not allowed:
            missing.append(f"{permission}: {level}")
    return Access(tuple(missing), tuple(unclear))


async def granted_to_app(app: GitHub, repository: str) -> dict[str, str]:
    """Return the permissions of a GitHub App's installation in a repository; `app` signs in as the App itself."""
    return wire.read(_permissions, await app.get(f"/repos/{repository}/installation"))


async def _may(
    github: GitHub, root: str, permission: str, level: str, base: str, permit: OperatorPermit
) -> bool | None:
    """Return whether this token has the permission; None if the answer leaves it open."""
    try:
        if level == "read":
            await github.get(root + _READS[permission].format(base=segment(base)))
        else:
            method, path, body = _nonsense(permission, base)
            await github.write(method, root + path, body, permit)
    except NotAllowed:
        return False
    except Refused as refused:
        return True if level == "write" and refused.status == _VALIDATION else None
    except Gone:
        return None
    return True


_READS = {
    "checks": "/commits/{base}/check-runs?per_page=1",
    "statuses": "/commits/{base}/status",
    "actions": "/actions/runs?per_page=1",
}
"""Permission -> path that it opens."""


def _nonsense(permission: str, base: str) -> tuple[str, str, Any]:
    """Return a write that can have no effect: it names a thing that does not exist."""
    nowhere = f"ack/doctor/{secrets.token_hex(8)}"
    match permission:
        case "contents":
            return "DELETE", f"/git/refs/{nowhere}", None
        case "issues":
            return "POST", "/issues", {"title": ""}
        case "pull_requests":
            return "POST", "/pulls", {"title": "A probe", "head": nowhere, "base": base}
        case _:
            raise ValueError(f"nobody needs to write {permission}")


def _permissions(value: Any) -> dict[str, str]:
    return {str(name): str(level) for name, level in value["permissions"].items()}
