"""Over real code: each damage is valid, differs from the head, and stays inside of what changed."""

from __future__ import annotations

import sysconfig
import warnings
from bisect import bisect_left
from pathlib import Path

import pytest

from worker_agent.tdd.damage.code import damages
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.syntax.functions import functions
from worker_agent.tdd.syntax.source import parse, replaced

ROOT = Path(__file__).parents[3]
STDLIB = Path(sysconfig.get_paths()["stdlib"])
FILES = [
    *(STDLIB / name for name in ("bisect.py", "colorsys.py", "fnmatch.py", "shlex.py", "textwrap.py", "reprlib.py")),
    *(STDLIB / name for name in ("contextlib.py", "json/decoder.py", "html/parser.py")),
    ROOT / "shared/text/__init__.py",
    ROOT / "worker_agent/tdd/syntax/source.py",
    ROOT / "worker_agent/tdd/syntax/functions.py",
]


def shared(one: bytes, two: bytes) -> int:
    """Return the number of equal bytes at the beginning of both."""
    return bisect_left(range(min(len(one), len(two))), True, key=lambda last: one[: last + 1] != two[: last + 1])


def touched(old: bytes, new: bytes) -> tuple[int, int]:
    """Return the first and the last line of the old bytes that differ, from 1."""
    start = shared(old, new)
    end = shared(old[start:][::-1], new[start:][::-1])
    return old.count(b"\n", 0, start) + 1, old.count(b"\n", 0, max(start, len(old) - end)) + 1


def check(damage: Damage, head: bytes) -> None:
    assert damage.content != head
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(damage.content, damage.path, "exec", dont_inherit=True)
    assert "\n" not in damage.what
    assert 0 < len(damage.what) <= 80


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_new_files(file: Path) -> None:
    head = file.read_bytes()
    found = damages({}, {"new.py": head})
    for damage in found[::4]:
        check(damage, head)
        if damage.kind is not DamageKind.GONE:
            first, last = touched(head, damage.content)
            assert first >= damage.line - 1
            assert last - first < 60


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_one_changed_function(file: Path) -> None:
    """The base lacks the body of one function: nothing else of the file is damaged."""
    head = file.read_bytes()
    source = parse("a.py", head)
    assert source is not None
    bodies = [each for each in functions(source) if each.body is not None and not each.nested]
    for function in bodies[:: max(1, len(bodies) // 3)]:
        assert function.body is not None
        base = replaced(head, function.body.start_byte, function.body.end_byte, b"raise SystemExit")
        first, last = function.node.start_point[0] + 1, function.node.end_point[0] + 1
        for damage in damages({"a.py": base}, {"a.py": head}):
            check(damage, head)
            start, end = touched(head, damage.content)
            assert first <= start <= end <= last + 1
            assert damage.function in (function.name, "")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_comments_change_nothing(file: Path) -> None:
    head = file.read_bytes()
    if head.startswith(b"#!"):
        return
    (change,) = changes({"a.py": head}, {"a.py": b"# a comment\n" + head})
    assert change.functions == ()
    assert change.statements == ()
    assert change.lines == frozenset()
    assert damages({"a.py": head}, {"a.py": b"# a comment\n" + head}) == ()
