"""The installations of mini-swe-agent that are found, and the versions that are run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from cli.compatible import ProxiedDesk
from shared.errors import Misconfigured
from shared.llm.mini import dialect
from shared.llm.port import Ending
from shared.sandbox.confinement import Isolation, Wrap


def environment_of(desk: ProxiedDesk, place: Path) -> Path:
    """Make a virtual environment with the same packages, as a person does, and return its `mini`."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages, programs = place / "lib" / version / "site-packages", place / "bin"
    shutil.copytree(desk.executable.resolve().parents[1], packages)
    programs.mkdir()
    base = Path(sys.base_prefix) / "bin"
    (programs / "python").symlink_to(base / version)
    (place / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")
    shutil.move(packages / "bin" / "mini", programs / "mini")
    return programs / "mini"


async def test_one_in_a_virtual_environment_is_run_by_its_own_python(mini: ProxiedDesk) -> None:
    mini.wrap = Wrap(Isolation.SANDBOX)
    mini.executable = environment_of(mini, mini.root / "venv")
    mini.script(mini.tools.write("a.py", "x = 1\n"), {"say": "Done."})
    outcome = await mini.edit()
    assert (outcome.ending, outcome.text) == (Ending.COMPLETED, "Done."), outcome
    assert (mini.tree / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("environments/local.py", "_check_finished", "_ends", "2.4.6 without _check_finished"),
        ("models/openrouter_model.py", "def _query", "def _ask", "2.4.6 without _query"),
        ("__init__.py", '"2.4.6"', '"3.0.0"', "not mini-swe-agent 2"),
        ("agents/default.py", "import json", "import nothing_of_this_name", "nothing_of_this_name"),
    ],
)
async def test_a_version_that_goes_by_other_rules_is_refused(
    mini: ProxiedDesk, file: str, old: str, new: str, said: str
) -> None:
    place = mini.root / "copy"
    shutil.copytree(mini.executable.resolve().parents[1], place, ignore=shutil.ignore_patterns("__pycache__"))
    code = place / "minisweagent" / file
    code.write_text(code.read_text().replace(old, new))
    with pytest.raises(Misconfigured, match=said) as caught:
        await dialect(place / "bin" / "mini", mini.launcher()).ready()
    assert "install-cli mini" in str(caught.value)
    mini.executable = place / "bin" / "mini"
    assert (await mini.edit()).ending is Ending.CONFIG
    assert mini.server.journal == []
