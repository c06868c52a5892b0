"""`planner-agent`: arguments in, a planner built and run. Heavy modules are loaded only when there is work to do."""

from __future__ import annotations

import signal
import sys

from runtime import own_packages


def main() -> int:
    """Run `planner-agent`; returns its exit code."""
    own_packages.check()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the agent attends to signals nothing was begun
    from runtime.arguments import parse
    from shared.light_imports import load_structlog
    from shared.workflow import Role

    arguments = parse(Role.PLANNER)
    load_structlog()
    from runtime.launch import launch

    if arguments.interactive:
        from planner_agent.terminal.entry import Terminal

        terminal = Terminal()
        return launch(Role.PLANNER, terminal.build, arguments, prepare=terminal.prepare)
    from planner_agent.build import build, prepare

    return launch(Role.PLANNER, build, arguments, prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
