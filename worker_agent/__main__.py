"""`worker-agent`: arguments in, a worker built and run. Heavy modules are loaded only when there is work to do."""

from __future__ import annotations

import signal
import sys

from runtime import own_packages


def main() -> int:
    """Run `worker-agent`; returns its exit code."""
    own_packages.check()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the agent attends to signals nothing was begun
    from runtime.arguments import parse
    from shared.light_imports import load_structlog
    from shared.workflow import Role

    arguments = parse(Role.WORKER)
    load_structlog()
    from runtime.launch import launch
    from worker_agent.build import build

    return launch(Role.WORKER, build, arguments)


if __name__ == "__main__":
    sys.exit(main())
