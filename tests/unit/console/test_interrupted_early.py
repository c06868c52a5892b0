"""Ctrl-C before a program has begun anything: it ends, and nobody sees a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os, signal, sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Pressed())
sys.argv = ["program", "--version"]
from {module} import main
"""


@pytest.mark.parametrize(
    ("module", "loading"),
    [
        ("console.entry", "typer"),
        ("console.entry", "console.read_commands"),
        ("worker_agent.__main__", "runtime.arguments"),
    ],
)
def test_while_it_is_loaded(tmp_path: Path, module: str, loading: str) -> None:
    text = PROGRAM.format(module=module).replace("sys.argv[1]", repr(loading)) + "main()\n"
    env = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", text], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
