"""The start of mini-swe-agent: its Python, its environment, and the order of a call; no program is run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Misconfigured
from shared.llm import mini
from shared.llm.cli.coder import Impossible
from shared.llm.cli.directory import CallDirectory
from shared.llm.cli.launch import Command, Launcher
from shared.llm.endpoint import Endpoint
from shared.llm.port import CoderCall, Request, RunLimits
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement

TOKEN = "call-token-c4n4ry"
SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"]}


def program(place: Path, *beside: str) -> Path:
    """Make an installation; the files in `beside` tell its kind."""
    for name in ("bin/mini", *beside):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
    return place / "bin" / "mini"


def command(tmp_path: Path, call: CoderCall = CoderCall.IMPLEMENT, **changes: Any) -> Command:
    """Return the command that a call would run."""
    launcher = Launcher(Confinement(), RealClock(), {"PATH": "/bin"}, tmp_path, tmp_path)
    cli = mini.dialect(program(tmp_path / "cli", "minisweagent/__init__.py"), launcher)
    asked: dict[str, Any] = {"tree": tmp_path / "tree", "model": "m", "limits": RunLimits(max_turns=7), **changes}
    request = Request(call, "#1", "A thing", "developer", asked.pop("prompt", "Do it."), **asked)
    return cli.session(request, Endpoint("http://127.0.0.1:1", TOKEN), CallDirectory(tmp_path / "call")).command()


def order(tmp_path: Path, call: CoderCall = CoderCall.IMPLEMENT, **changes: Any) -> dict[str, Any]:
    """Return the order that the program gets on standard input."""
    found: dict[str, Any] = json.loads(command(tmp_path, call, **changes).stdin)
    found["tools"] = [tool["function"]["name"] for tool in found["tools"]]
    return found


def test_its_python_sees_nothing_but_the_packages_and_its_tools_inherit_no_token(tmp_path: Path) -> None:
    found = command(tmp_path)
    python, installed = (sys.executable, "-I", "-S", "-B"), str(tmp_path / "cli" / "bin" / "mini")
    assert tuple(found.argv) == (*python, str(mini.ENTRY), installed)
    assert found.cwd == tmp_path / "tree"
    assert dict(found.env) == {**mini.ENVIRONMENT, "MSWEA_GLOBAL_CONFIG_DIR": str(tmp_path / "call/home/mini")}
    assert TOKEN not in str((found.argv, found.env))


def test_an_edit_has_a_shell_and_is_told_what_is_refused(tmp_path: Path) -> None:
    found = order(tmp_path)
    known = {key: found[key] for key in ("task", "model", "url", "token", "turns", "tools", "answer")}
    address = {"url": "http://127.0.0.1:1/v1", "token": TOKEN}
    assert known == {"task": "Do it.", "model": "m", "turns": 7, "tools": ["bash"], "answer": False, **address}
    assert f"Working directory: {tmp_path / 'tree'}\n" in found["instructions"]
    assert ".github/**" in found["instructions"]
    assert ".github" not in order(tmp_path, protected=())["instructions"]


def test_a_question_can_read_and_answers_by_a_tool_which_takes_a_turn(tmp_path: Path) -> None:
    found = order(tmp_path, CoderCall.REVIEW, schema=SCHEMA)
    assert (found["tools"], found["answer"], found["turns"]) == (["read_file", "structured_output"], True, 8)
    alone = order(tmp_path, CoderCall.REVIEW, schema=SCHEMA, tree=None)
    assert alone["tools"] == ["structured_output"]
    assert "Working directory" not in alone["instructions"]
    assert order(tmp_path, CoderCall.ANSWER, tree=None)["tools"] == []


def test_a_prompt_is_taken_as_it_stands(tmp_path: Path) -> None:
    text = "{{ task }} {% for %} {where} \ud800 é"
    assert order(tmp_path, prompt=text)["task"] == text.replace("\ud800", "?")


@pytest.mark.parametrize(("silence", "seconds"), [(1500.0, 600), (60.0, 30), (0.5, 1)])
def test_no_command_is_silent_for_longer_than_a_call_may_be(tmp_path: Path, silence: float, seconds: int) -> None:
    found = order(tmp_path, limits=RunLimits(silence_seconds=silence))
    assert found["command_seconds"] == seconds
    assert f"after {seconds} seconds" in found["instructions"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"prompt": " \n"}, "empty"), ({"prompt": "x" * 8_000_001}, "8,000,001"), ({"model": None}, r"llm\.models\.mini")],
)
def test_what_it_cannot_be_asked_is_not_begun(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Impossible, match=said):
        command(tmp_path, **changes)


def test_a_virtual_environment_of_a_person_is_run_by_its_own_python(tmp_path: Path) -> None:
    theirs = program(tmp_path / "venv", "pyvenv.cfg")
    (tmp_path / "base" / "bin").mkdir(parents=True)
    (tmp_path / "base" / "bin" / "python3").touch()
    (tmp_path / "venv" / "bin" / "python").symlink_to(tmp_path / "base" / "bin" / "python3")
    python, shown = mini.python_of(theirs)
    assert python == (str(tmp_path / "venv" / "bin" / "python"), "-I", "-B")
    assert shown == (tmp_path / "venv", tmp_path / "base")
    assert mini.version_command(theirs)[: len(python)] == python


@pytest.mark.parametrize("beside", [(), ("pyvenv.cfg",), ("bin/python",)])
def test_any_other_program_of_that_name_is_refused(tmp_path: Path, beside: tuple[str, ...]) -> None:
    with pytest.raises(Misconfigured, match=r"mini_cli.*install-cli mini"):
        mini.python_of(program(tmp_path, *beside))
