"""`reviewer-agent`: arguments in, a reviewer built and run. Heavy modules are loaded only when there is work to do."""

from __future__ import annotations

import signal
import sys

INSTEAD = "start it elsewhere, without that directory in PYTHONPATH, or install it by itself (pipx install)."
MISCONFIGURED = 2


def main() -> int:
    """Run `reviewer-agent`; returns its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the agent attends to signals nothing was begun
    try:
        from runtime import own_packages
    except ImportError as error:  # what it says of the others, it cannot say of itself
        where = error.path or "in PYTHONPATH"
        sys.stderr.write(f"Another package called 'runtime' ({where}) stands before the engine's own: {INSTEAD}\n")
        return MISCONFIGURED
    own_packages.check()
    from shared.light_imports import load_structlog, without_collections

    with without_collections():
        from runtime.arguments import parse
        from shared.workflow import Role

        arguments = parse(Role.REVIEWER)
        load_structlog()
        from reviewer_agent.build import build
        from runtime.launch import launch

    return launch(Role.REVIEWER, build, arguments)


if __name__ == "__main__":
    sys.exit(main())
