"""`planner-agent`: arguments in, a planner built and run. Heavy modules are loaded only when there is work to do."""

from __future__ import annotations

import signal
import sys

INSTEAD = "start it elsewhere, without that directory in PYTHONPATH, or install it by itself (pipx install)."
MISCONFIGURED = 2


def main() -> int:
    """Run `planner-agent`; returns its exit code."""
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

        arguments = parse(Role.PLANNER)
        load_structlog()
        from runtime.launch import launch

        if arguments.interactive:
            from planner_agent.terminal.entry import Terminal
        else:
            from planner_agent.build import build, prepare

    if arguments.interactive:
        terminal = Terminal()
        return launch(Role.PLANNER, terminal.build, arguments, prepare=terminal.prepare)
    return launch(Role.PLANNER, build, arguments, prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
