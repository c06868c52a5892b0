"""The effect of `ENGINE_REQUIRE`, which turns every kind of skip into a failure, seen on a separate test run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import required

from lab.github.repositories.git_command import environment
from shared import process
from shared.process import Finished

MODULES = {
    "test_one.py": "import pytest\n\ndef test_it():\n    pytest.skip('no gh here')\n\ndef test_passes():\n    pass\n",
    "test_mark.py": "import pytest\n\n@pytest.mark.skipif(True, reason='no root here')\ndef test_skips():\n    pass\n",
    "test_module.py": "import pytest\n\npytest.importorskip('no_such_library')\n",
    "test_xfail.py": "import pytest\n\n@pytest.mark.xfail(reason='known')\ndef test_fails():\n    assert False\n",
}


async def run(directory: Path, **variables: str) -> Finished:
    for name, text in MODULES.items():
        (directory / name).write_text(text)
    plugins = (
        "-p",
        "required",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(directory),
        "--continue-on-collection-errors",
    )
    variables |= {"PYTHONPATH": str(Path(required.__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return await process.run(
        (sys.executable, "-m", "pytest", *plugins, "-rs"), cwd=directory, env={**environment(), **variables}
    )


async def test_skips_are_skips_where_nothing_is_required(tmp_path: Path) -> None:
    finished = await run(tmp_path)
    assert finished.code == 0
    assert "1 passed, 3 skipped, 1 xfailed" in finished.text


async def test_skips_are_failures_where_everything_is_required(tmp_path: Path) -> None:
    finished = await run(tmp_path, ENGINE_REQUIRE="all")
    assert finished.code == 1
    assert "1 failed, 1 passed, 1 xfailed, 2 errors" in finished.text


@pytest.mark.parametrize("reason", ["no gh here", "no root here", "could not import 'no_such_library'"])
async def test_the_reason_is_told(tmp_path: Path, reason: str) -> None:
    finished = await run(tmp_path, ENGINE_REQUIRE="all")
    assert f"ENGINE_REQUIRE is set, but this was skipped: Skipped: {reason}" in finished.text
