"""Ctrl-C before a program has begun anything: it ends, and nobody sees a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROLES = ("planner", "worker", "reviewer")
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
        ("console.__main__", "typer"),
        ("console.__main__", "console.operating"),
        ("console.__main__", "runtime"),
        *((f"{role}_agent.__main__", loading) for role in ROLES for loading in ("runtime", "runtime.arguments")),
    ],
)
def test_while_it_is_loaded(tmp_path: Path, module: str, loading: str) -> None:
    text = PROGRAM.format(module=module).replace("sys.argv[1]", repr(loading)) + "main()\n"
    env = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", text], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
