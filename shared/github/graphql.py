"""The only way to GraphQL, for requests that REST has not; the documents stand next to the code that sends them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.github import wire
from shared.github.address import GRAPHQL
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.lock.write_permit import WritePermit


async def ask(github: GitHub, name: str, document: str, variables: Mapping[str, Any], permit: WritePermit) -> Any:
    """Return the whole reply to the operation `name`. Raises `Refused` with GitHub's errors, which come with a 200."""
    body = {"operationName": name, "query": document, "variables": dict(variables)}
    reply = await github.write("POST", GRAPHQL, body, permit)
    errors = wire.reply(_errors, reply)
    if errors:
        raise Refused(f"GraphQL {name}", 422, errors[0], errors[1:])
    return reply


def _errors(value: Any) -> tuple[str, ...]:
    return tuple(str(one["message"]) for one in value.get("errors") or ())
