"""The program `workflow-engine`: Ctrl-C while it is loaded ends it without a traceback; then `console.app`."""

from __future__ import annotations

import signal
import sys

INSTEAD = "start it elsewhere, without that directory in PYTHONPATH, or install it by itself (pipx install)."
MISCONFIGURED = 2


def main() -> None:
    """Run `workflow-engine`."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing was begun yet: the process just ends
    try:
        from runtime import own_packages
    except ImportError as error:  # what it says of the others, it cannot say of itself
        where = error.path or "in PYTHONPATH"
        sys.stderr.write(f"Another package called 'runtime' ({where}) stands before the engine's own: {INSTEAD}\n")
        sys.exit(MISCONFIGURED)
    own_packages.check()
    from shared.light_imports import without_collections

    with without_collections():
        from console.app import app

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        app()
    except KeyboardInterrupt:  # outside of what the command line's framework catches
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        from console.machine_faults import as_engine_error, nobody_reads
        from runtime.exit_codes import FAILED, complain

        if nobody_reads(error):
            sys.exit(FAILED)
        if (told := as_engine_error(error)) is None:
            raise
        sys.exit(complain(told))


if __name__ == "__main__":
    main()
