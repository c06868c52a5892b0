"""`planner-agent`: arguments in, a planner built and run. Heavy modules are loaded only when there is work to do."""

from __future__ import annotations

import sys

from console.arguments import parse
from shared.telemetry.lean import load_structlog
from shared.workflow import Role


def main() -> int:
    """Run `planner-agent`; returns its exit code."""
    arguments = parse(Role.PLANNER)
    load_structlog()
    from console.launch import launch

    if arguments.interactive:
        from planner_agent.terminal.entry import Terminal

        terminal = Terminal()
        return launch(Role.PLANNER, terminal.build, arguments, prepare=terminal.prepare)
    from planner_agent.build import build, prepare

    return launch(Role.PLANNER, build, arguments, prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
