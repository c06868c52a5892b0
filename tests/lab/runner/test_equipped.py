"""A repository with a set-up: what it links into the coder's tree is no part of any change."""

from __future__ import annotations

import shlex
import sys

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, once, pulls

pytestmark = pytest.mark.long

INSTALL = "import pathlib; place = pathlib.Path('venv/lib'); place.mkdir(parents=True); (place / 'x').touch()"


async def test_a_link_to_what_was_set_up_is_no_change(engine: Engine) -> None:
    engine.repository_settings["setup_command"] = shlex.join((sys.executable, "-c", INSTALL))
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people", "## Acceptance criteria\n- [ ] AC1: greet(name) greets.")
    await once(engine, number)
    assert len(pulls(engine)) == 1
    (found,) = engine.directory.glob("machine-1/env/*/project/venv/lib/x")
    assert found.is_file()
    bare = engine.lab.at(REPOSITORY).bare
    names = (await bare.git.run("ls-tree", "--name-only", await branch(engine, number) or "")).text.split()
    assert "directory" in names
    assert "venv" not in names


async def test_a_new_dependency_of_the_plan_is_set_up_without_the_coder_s_programs(engine: Engine) -> None:
    seen = engine.directory / "seen"
    look = f"import os; open({str(seen)!r}, 'a').write(' '.join(sorted(os.listdir())) + chr(10))"
    engine.repository_settings["setup_command"] = shlex.join((sys.executable, "-c", look))
    more = "    - {path: requirements.txt, content: ''}\n    - {path: tool.py, content: 'X = 1'}\n"
    engine.script(TESTS + CODE.rstrip() + "\n" + more)
    number = engine.ready("Greet people", "Greet.\n\n## Files\n\n- `requirements.txt`\n")
    await once(engine, number)
    assert len(pulls(engine)) == 1
    before, after = [line.split() for line in seen.read_text().splitlines()]
    assert set(after) - set(before) == {"requirements.txt"}, "of the change, what says what is installed"
