"""Processes that a daemon without a sandbox has started: they end when the daemon itself is killed (Linux)."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from shared.sandbox.bubblewrap_sandbox import FileSystemView
from shared.sandbox.confinement import Isolation, Wrap

DAEMON = """
import subprocess, sys
subprocess.Popen(sys.argv[1:], start_new_session=True).wait()
"""
WAITS = "import sys; print('begun', flush=True); open(sys.argv[1], 'w')"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends children with their parent")
def test_a_run_whose_report_nobody_reads_any_more_ends_with_its_killed_daemon(tmp_path: Path) -> None:
    report = tmp_path / "report"
    os.mkfifo(report)
    run = Wrap(Isolation.TREE_BY_GROUP).argv((sys.executable, "-c", WAITS, str(report)), FileSystemView(()))
    with subprocess.Popen((sys.executable, "-c", DAEMON, *run), stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"begun\n"
        assert select.select([daemon.stdout], [], [], 0.5)[0] == []  # the control: it waits for a reader
        daemon.kill()
        assert select.select([daemon.stdout], [], [], 30)[0] == [daemon.stdout]
        assert daemon.stdout.read() == b""  # the last that could write there has ended
