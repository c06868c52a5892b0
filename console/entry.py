"""The program `workflow-engine`: Ctrl-C while it is loaded ends it without a traceback; then `console.__main__`."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run `workflow-engine`."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing was begun yet: the process just ends
    from runtime import own_packages

    own_packages.check()
    from console.__main__ import app

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:  # outside of what the command line's framework catches
        sys.exit(128 + signal.SIGINT)
