"""Pending tests of pytest: which ones are found, and that nothing but their marker goes."""

from __future__ import annotations

import ast

import pytest

from shared.pending.source import activated, find, scan

PATH = "tests/test_x.py"

FOUND = [
    pytest.param(
        'import pytest\n\n\n@pytest.mark.skip(reason="spec: adds")\ndef test_a():\n    assert 1\n',
        "test_a",
        "import pytest\n\n\ndef test_a():\n    assert 1\n",
        id="skip",
    ),
    pytest.param(
        'import pytest\n@pytest.mark.skip("spec: adds")\ndef test_a(): pass\n',
        "test_a",
        "import pytest\ndef test_a(): pass\n",
        id="reason by position",
    ),
    pytest.param(
        'import pytest\n@pytest.mark.xfail(reason="Spec: a", strict=True, raises=KeyError)\nasync def test_a(): pass\n',
        "test_a",
        "import pytest\nasync def test_a(): pass\n",
        id="xfail, async, capital letter",
    ),
    pytest.param(
        'import pytest as pt\n@pt.mark.skip(reason="spec: x")\ndef test_a(): pass\n',
        "test_a",
        "import pytest as pt\ndef test_a(): pass\n",
        id="import as",
    ),
    pytest.param(
        'from pytest import mark\n@mark.skip(reason="spec: x")\ndef test_a(): pass\n',
        "test_a",
        "from pytest import mark\ndef test_a(): pass\n",
        id="from import",
    ),
    pytest.param(
        'from pytest import mark as m\nlater = m.skip(reason="spec: x")\n@later\ndef test_a(): pass\n',
        "test_a",
        'from pytest import mark as m\nlater = m.skip(reason="spec: x")\ndef test_a(): pass\n',
        id="a marker with a name of its own",
    ),
    pytest.param(
        "import pytest\n@pytest.mark.parametrize('n', [1, 2])\n@pytest.mark.skip(\n    # why\n"
        "    reason='spec: '\n    'many'\n)  # soon\n# kept\n@pytest.mark.slow\ndef test_a(n): pass\n",
        "test_a",
        "import pytest\n@pytest.mark.parametrize('n', [1, 2])\n# kept\n@pytest.mark.slow\ndef test_a(n): pass\n",
        id="many lines, between others",
    ),
    pytest.param(
        "import pytest\nclass TestA:\n\t@pytest.mark.skip(reason='spec: x')\n\tdef test_a(self):\n\t\tpass\n",
        "TestA::test_a",
        "import pytest\nclass TestA:\n\tdef test_a(self):\n\t\tpass\n",
        id="method, tabs",
    ),
    pytest.param(
        "import pytest\n@pytest.mark.skip(reason='spec: x')\nclass TestA:\n    def test_a(self): pass\n",
        "TestA",
        "import pytest\nclass TestA:\n    def test_a(self): pass\n",
        id="class",
    ),
    pytest.param(
        "import pytest\r\n@pytest.mark.skip(reason='spec: x')\r\ndef test_a():\r\n    pass\r\n",
        "test_a",
        "import pytest\r\ndef test_a():\r\n    pass\r\n",
        id="CRLF",
    ),
    pytest.param(
        "\ufeffimport pytest\n@pytest.mark.skip(reason='spec: größer')\ndef test_größer():\n    assert 'ß\u2028'\n",
        "test_größer",
        "\ufeffimport pytest\ndef test_größer():\n    assert 'ß\u2028'\n",
        id="unicode, byte order mark, line separator in a string",
    ),
    pytest.param(
        "import pytest\n@pytest.mark.skip(reason='spec: x')\n@pytest.mark.xfail(reason='spec: x')\ndef test_a(): pass",
        "test_a",
        "import pytest\ndef test_a(): pass",
        id="two markers, no line end at the end",
    ),
    pytest.param(
        "import pytest\n@(pytest.mark.skip(\n  reason='spec: x'))\ndef test_a(): pass\n",
        "test_a",
        "import pytest\ndef test_a(): pass\n",
        id="in brackets",
    ),
]


@pytest.mark.parametrize(("before", "name", "after"), FOUND)
def test_the_marker_goes_and_nothing_else(before: str, name: str, after: str) -> None:
    marked = find(PATH, before.encode(), f"{PATH}::{name}")
    assert marked is not None
    assert activated(before.encode(), marked) == after.encode()
    assert scan(PATH, after.encode()) == ()
    assert not marked.bare


@pytest.mark.parametrize(
    "source",
    [
        "import pytest\n@pytest.mark.skip(reason='slow')\ndef test_a(): pass\n",
        "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n",
        "import pytest\n@pytest.mark.skipif(True, reason='spec: x')\ndef test_a(): pass\n",
        "import pytest, sys\n@pytest.mark.xfail(sys.platform == 'win32', reason='spec: x')\ndef test_a(): pass\n",
        "import pytest\n@pytest.mark.xfail(condition=True, reason='spec: x')\ndef test_a(): pass\n",
        "import pytest\nWHY = 'spec: x'\n@pytest.mark.skip(reason=WHY)\ndef test_a(): pass\n",
        "import pytest\n@pytest.mark.skip(reason='spec: x')\ndef helper(): pass\n",
        "import pytest\n@pytest.mark.skip(reason='spec: x')\nclass Helper:\n    x = 1\n",
        "class pytest:\n    pass\n@pytest.mark.skip(reason='spec: x')\ndef test_a(): pass\n",
        "import pytest\ndef test_a():\n    @pytest.mark.skip(reason='spec: x')\n    def test_inner(): pass\n",
        "import pytest\n@pytest.mark.skip(reason='spec: x')\ndef test_a(: pass\n",
        "import pytest\n@pytest.mark.skip(reason='spec: x')\rdef test_a(): pass\n",
        "TEXT = '''\n@pytest.mark.skip(reason='spec: x')\ndef test_a(): pass\n'''\n",
        "import pytest\n@pytest.mark.skip(reason='spec: 1')\ndef test_a(): pass\n"
        "@pytest.mark.skip(reason='spec: 2')\ndef test_a(): pass\n",
    ],
)
def test_what_does_not_wait_for_a_specification_or_is_unclear_is_not_found(source: str) -> None:
    assert scan(PATH, source.encode()) == ()


def test_a_test_in_a_class_that_waits_waits_for_the_class_first() -> None:
    source = (
        b"import pytest\n@pytest.mark.skip(reason='spec: all')\nclass TestA:\n"
        b"    @pytest.mark.skip(reason='spec: one')\n    def test_a(self): pass\n    def test_b(self): pass\n"
    )
    (whole,) = scan(PATH, source)
    assert (whole.test, whole.reason) == (f"{PATH}::TestA", "spec: all")
    (one,) = scan(PATH, activated(source, whole))
    assert one.test == f"{PATH}::TestA::test_a"


def test_finding_imports_nothing_and_stands_any_content() -> None:
    assert scan(PATH, b"raise SystemExit\nimport pytest\n@pytest.mark.skip(reason='spec: x')\ndef test_a(): pass\n")
    for content in (b"", b"\xff\xfe", b"(" * 5000, b"\0", b"# coding: latin-1\n\xe9 = 1\n", b"def f(:\n" * 9):
        assert scan(PATH, content) == ()
    assert scan("notes.txt", b"@pytest.mark.skip(reason='spec: x')") == ()


def test_the_rest_is_the_same_program() -> None:
    source = FOUND[6].values[0]
    assert isinstance(source, str)
    marked = find(PATH, source.encode(), f"{PATH}::test_a")
    assert marked is not None
    before, after = ast.parse(source), ast.parse(activated(source.encode(), marked))
    function = before.body[-1]
    assert isinstance(function, ast.FunctionDef)
    del function.decorator_list[1]
    assert ast.dump(before) == ast.dump(after)
