"""`python -m lab`: the embedded GitHub by itself, with an example repository and three identities."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab import target_project
from lab.github.server import Lab

ENGINE, REVIEWER = "engine-bot", "reviewer-bot"

_READS = {"metadata": "read", "checks": "read", "statuses": "read"}
_WRITES = {"contents": "write", "issues": "write", "pull_requests": "write", "actions": "write"}

PERMISSIONS: Mapping[str, Mapping[str, str]] = {
    "maintainer": {**_READS, **_WRITES, "administration": "write"},
    ENGINE: {**_READS, **_WRITES},
    REVIEWER: {**_READS, **_WRITES, "actions": "read"},
}
"""Permissions of each identity's token; the maintainer is the repository's owner."""


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m lab", description="A GitHub on loopback, with real git.")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--socket", type=Path, help="listen on this unix socket too")
    parser.add_argument("--state", type=Path, default=Path(".demo/lab"), help="directory for git and world.json")
    parser.add_argument("--repo", default="maintainer/directory", help="owner/name of the example repository")
    return parser.parse_args(argv)


async def serve(options: argparse.Namespace) -> None:
    """Start, print the address and the tokens, and serve until SIGINT, SIGTERM or SIGHUP."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Lab(options.state, port=options.port, unix_socket=options.socket) as lab:
        tokens = await furnish(lab, options.repo)
        lab.save()
        facts = {
            "url": lab.url,
            "git": lab.git_url(options.repo),
            "repository": options.repo,
            **{f"{name}-token": token for name, token in tokens.items()},
            "admin-token": lab.admin_token,
        }
        lines = [*(f"{name}: {value}" for name, value in facts.items()), json.dumps(facts)]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        await stop.wait()


async def furnish(lab: Lab, full_name: str) -> dict[str, str]:
    """Create the example repository, and a token for each identity; what exists already is kept."""
    owner = full_name.partition("/")[0]
    if lab.world.repository(full_name) is None:
        await lab.repository(
            full_name,
            target_project.files(),
            collaborators={ENGINE: "write", REVIEWER: "write"},
            check_command=target_project.CHECK_COMMAND,
        )
    logins = {"maintainer": owner, ENGINE: ENGINE, REVIEWER: REVIEWER}
    known = {token.login: token.value for token in lab.world.tokens.values()}
    return {name: known.get(login) or lab.token(login, PERMISSIONS[name]) for name, login in logins.items()}


def main() -> None:
    """The command."""
    asyncio.run(serve(arguments()))


if __name__ == "__main__":
    main()
