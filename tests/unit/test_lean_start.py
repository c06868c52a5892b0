"""What a start leaves alone: libraries that an agent would only load."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shared.process import run

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("main()", "rich"),
        ("parse(Role.WORKER, ['a/b'])", "importlib.metadata"),
        ("parse(Role.WORKER, ['a/b'])", "structlog"),
    ],
)
async def test_a_start_does_not_load(tmp_path: Path, code: str, absent: str) -> None:
    """`main()` ends at the configuration, when all modules of an agent are there."""
    imports = "import sys\nfrom console.arguments import parse\nfrom shared.workflow import Role\n"
    words = "from worker_agent.__main__ import main\nsys.argv = ['worker-agent', 'nonsense']\n"
    program = f"{imports}{words}{code}\nprint({absent!r} in sys.modules, 'worker_agent.build' in sys.modules)"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = await run((sys.executable, "-c", program), cwd=tmp_path, env=env)
    assert done.text.split() == ["False", str(code == "main()")], done.stderr
