"""A start loads no library for which an agent has no use, and looks for no garbage meanwhile."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from pathlib import Path

import pytest

from shared.light_imports import standing_in, without_collections
from shared.process import run

ROOT = Path(__file__).parents[3]


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
    imports = "import sys\nfrom runtime.arguments import parse\nfrom shared.workflow import Role\n"
    words = "from worker_agent.__main__ import main\nsys.argv = ['worker-agent', 'nonsense']\n"
    program = f"{imports}{words}{code}\nprint({absent!r} in sys.modules, 'worker_agent.build' in sys.modules)"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = await run((sys.executable, "-c", program), cwd=tmp_path, env=env)
    assert done.text.split() == ["False", str(code == "main()")], done.stderr


IDLE = (
    "aiohttp.web",
    "aiosmtplib",
    "configparser",
    "cryptography",
    "greenlet",
    "jwt",
    "prometheus_client",
    "prompt_toolkit",
    "requests",
    "rich",
    "shared.llm.claude",
    "shared.llm.codex",
    "shared.llm.proxy.relay",
    "sqlalchemy",
    "tarfile",
    "tomllib",
    "typer",
    "unidiff",
    "urllib3",
    "worker_agent.actions",
    "worker_agent.tdd.phases.red_phase",
)
"""Modules that a waiting agent does not need: each costs every process memory, and every start time."""


@pytest.mark.parametrize("agent", ["planner", "worker", "reviewer"])
async def test_an_idle_agent_has_not_loaded(agent: str, tmp_path: Path) -> None:
    """All modules of an agent are there, and a text has been looked through for credentials, as at every start."""
    program = (
        "import sys\nfrom shared.light_imports import load_structlog\nload_structlog()\n"
        f"import runtime.launch, {agent}_agent.build\n"
        "from shared.outgoing.credentials import credentials\n"
        "print([found.kind for found in credentials('AKIAZ7Q4XWERTYUIOPLK')])\n"
        f"print([name for name in {IDLE!r} if name in sys.modules])\n"
    )
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = await run((sys.executable, "-c", program), cwd=tmp_path, env=env)
    found, loaded = done.text.splitlines()
    assert "AWS" in found, done.stderr
    assert loaded == "[]"


def test_who_stands_in_goes_again() -> None:
    """A module loaded before stays; any other can be found afterwards as if nothing had happened."""
    real = sys.modules["pytest"]
    with standing_in({"pytest": None, "a_module_that_is_not_there": None}):
        assert sys.modules["pytest"] is real
        assert "a_module_that_is_not_there" in sys.modules
        with pytest.raises(ImportError, match="None in sys"):
            import_module("a_module_that_is_not_there")
    assert sys.modules["pytest"] is real
    assert "a_module_that_is_not_there" not in sys.modules


def test_nothing_is_collected_while_a_program_is_loaded_and_afterwards_as_ever() -> None:
    with without_collections():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
