"""Equality of code in other words: layout, comments for people, documentation, and nothing else."""

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
        ("a.js", "function f(a) { return a; }\n", "function f(a) {\n  // It says a.\n  return a;\n}\n"),
        ("a.go", "package a\n\nfunc F() int { return 1 }\n", "package a\n\n// F is one.\nfunc F() int { return 1 }\n"),
        ("a.py", PYTHON, PYTHON.replace("    return", "    # The first one, or none.\n    return")),
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
        ("a.py", 'Q = "SELECT *\\nFROM a"\n', 'Q = "DELETE\\nFROM a"\n'),
        ("a.py", 'x = "\\n  \\n"\n', 'x = "\\n \\n"\n'),
        ("a.py", 'x = f"{p:.2f}"\n', 'x = f"{p:.3f}"\n'),
        ("a.py", "def f(d):\n    f'{d[0]}'\n    return 1\n", "def f(d):\n    return 1\n"),
        ("a.py", "@command\ndef f():\n    'A.'\n    g()\n", "@command\ndef f():\n    'B.'\n    g()\n"),
        (
            "a.py",
            "def f():\n    'A.'\n    g()\ninspect.getdoc(f)\n",
            "def f():\n    'B.'\n    g()\ninspect.getdoc(f)\n",
        ),
        ("a.py", "def f():\n    '.. testcode'\n    g()\n", "def f():\n    'B.'\n    g()\n"),
        ("a.py", "# coding: latin-1\nx = 1\n", "# A licence.\n# coding: latin-1\nx = 1\n"),
        ("a.js", "const a = `b  c`;\n", "const a = `b c`;\n"),
        ("a.jsx", "const a = <b>c d</b>;\n", "const a = <b>c  d</b>;\n"),
        ("a.js", "function f() { return 1; }\n", "function f() { return\n1; }\n"),
        ("a.js", "a /*x y*/ ++\nb\n", "a /*x\ny*/ ++\nb\n"),
        ("a.js", 'x = "\\xe9 a\\n"\n', 'x = "\\xe9 b\\n"\n'),
        ("a.go", "package a\n\n//export F\nfunc F() {}\n", "package a\n\nfunc F() {}\n"),
        ("a.go", 'package a\n\n// int n;\nimport "C"\n', 'package a\n\n// int m;\nimport "C"\n'),
        ("a_test.go", "package a\n\nfunc ExampleF() {\n\t// Output 1\n}\n", "package a\n\nfunc ExampleF() {\n}\n"),
        ("a.rs", "/// f();\nfn f() {}\n", "/// g();\nfn f() {}\n"),
        ("a.php", "<?php f() ?>\n<?php g();\n", "<?php f() ?>\n\n<?php g();\n"),
        ("a.rb", "x = 1\n", "x  = 1\n"),
        ("a.js", "f();\n", "'use strict';\nf();\n"),
        ("a.js", "f();\n", "/** @jest-environment jsdom */\nf();\n"),
        ("a.go", "package a\n", "//go:build linux\n\npackage a\n"),
        ("a.rb", "x = 'a'\n", "# frozen_string_literal: true\nx = 'a'\n"),
        ("README.md", "one", "two"),
        ("a.yml", "a: 1", "a: 1 "),
    ],
)
def test_what_may_make_a_difference_or_is_not_understood_is_one(path: str, before: str, after: str) -> None:
    assert not is_same_code(path, before.encode(), after.encode())


def test_bytes_that_are_no_text_are_compared_as_bytes() -> None:
    assert not is_same_code("a.js", b'x = "\xe9"\n', b'x = "\xe8"\n')
