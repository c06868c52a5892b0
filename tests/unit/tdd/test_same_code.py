"""What is the same code in other words: layout, comments for people, documentation; and nothing else is."""

from __future__ import annotations

import pytest

from worker_agent.tdd.comparison.same_code import is_same_code

PYTHON = "def f(a):\n    if a:\n        b = 1\n    return b\n"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", PYTHON, PYTHON.replace("f(a):\n", 'f(a):\n    """It says b."""\n')),
        ("a.py", '"""Old."""\n' + PYTHON, '"""New,\n\nand longer: {x}."""\n\n\n' + PYTHON),
        ("a.py", PYTHON, PYTHON.replace("b = 1", "b  =  1  # the first one")),
        ("a.py", PYTHON, PYTHON.replace("(a)", "( a )")),
        ("a.js", "function f(a) { return a; }\n", "// It says a.\nfunction f(a) {\n  return a;\n}\n"),
        ("a.go", "package a\n\nfunc F() int { return 1 }\n", "package a\n\n// F is one.\nfunc F() int { return 1 }\n"),
        ("a.rb", "def f\n  1\nend\n", "# It is one.\ndef f\n  1\nend\n"),
        ("README", "x", "x"),
    ],
)
def test_the_machine_sees_no_difference(path: str, before: str, after: str) -> None:
    assert is_same_code(path, before.encode(), after.encode())


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", PYTHON, PYTHON.replace("    return b", "        return b")),
        ("a.py", PYTHON, PYTHON.replace("b = 1", "b = 2")),
        ("a.py", PYTHON, PYTHON.replace("b = 1", "b = 1; 'b'; c = 1")),
        ("a.py", PYTHON, PYTHON.replace("f(a):\n", 'f(a):\n    """>>> f(1)\n    1\n    """\n')),
        ("a.py", '"""A."""\nprint(__doc__)\n', '"""B."""\nprint(__doc__)\n'),
        ("a.py", PYTHON, PYTHON.replace("b = 1", "b = 1  # pragma no cover")),
        ("a.py", PYTHON, "# -*- coding: latin-1 -*-\n" + PYTHON),
        ("a.py", "x = 'a'\n", "x = 'b'\n"),
        ("a.py", PYTHON, PYTHON + "x = (\n"),
        ("a.js", "f();\n", "'use strict';\nf();\n"),
        ("a.js", "f();\n", "/** @jest-environment jsdom */\nf();\n"),
        ("a.go", "package a\n", "//go:build linux\n\npackage a\n"),
        ("a.rb", "x = 'a'\n", "# frozen_string_literal: true\nx = 'a'\n"),
        ("README.md", "one", "two"),
        ("a.yml", "a: 1", "a: 1 "),
    ],
)
def test_what_may_make_a_difference_is_one(path: str, before: str, after: str) -> None:
    assert not is_same_code(path, before.encode(), after.encode())
