"""Old tests stay byte-identical: every way to weaken one is seen, honest additions are not."""

from __future__ import annotations

import pytest

from worker_agent.tdd.judging.old_tests import changed_old_tests, changes_by_file

BASE = b'''"""Tests of the directory."""
import pytest

from directory import find

LIMIT = 3


@pytest.fixture
def people():
    return ["Ann", "Bob"]


def check(found):
    assert len(found) < LIMIT


def test_find(people):
    # by name
    result = find(people, "Ann")
    check(result)


class TestEmpty:
    """Nothing there."""

    size = 0

    def test_nothing(self, capsys):
        assert len(find([], "Ann")) == self.size + self.offset()

    def offset(self):
        return 0
'''


def _sentences(head: bytes) -> list[str]:
    return [sentence.removeprefix("t.py: ") for sentence in changed_old_tests({"t.py": BASE}, {"t.py": head})]


def _edit(old: bytes, new: bytes) -> bytes:
    assert BASE.count(old) == 1
    return BASE.replace(old, new)


@pytest.mark.parametrize(
    "head",
    [
        BASE,
        BASE + b"\n\ndef test_more(people):\n    assert find(people, 'Bob')\n",
        BASE + b"\n\n@pytest.mark.skip\ndef test_later():\n    assert 0\n",
        BASE + b"\n    def test_in_class(self):\n        assert find([], '') == []\n",
        BASE + b"\n\nif __name__ == '__main__':\n    pytest.main()\n",
        BASE + b"\n\nclass TestMore:\n    @pytest.fixture(autouse=True)\n    def own(self):\n        yield\n",
        BASE + b"\nresult = 5\n",
        BASE.rstrip(b"\n"),
        _edit(b"import pytest\n", b"import os\nimport pytest\nfrom typing import TYPE_CHECKING\n"),
        _edit(b"import find", b"import find, search"),
        _edit(b"from directory import find", b"from directory import (\n    find,\n    search,\n)"),
        _edit(b'"""Tests of the directory."""', b'"""Tests of the directory and its search."""'),
        _edit(b"LIMIT = 3\n", b"LIMIT = 3\nOTHER: int = 4\nA, B = 1, 2\nif OTHER:\n    C = 1\nelse:\n    C = 2\n"),
        _edit(b"\n\ndef check", b"\n# a comment between tests\n\ndef check"),
    ],
)
def test_additions_are_allowed(head: bytes) -> None:
    assert _sentences(head) == []


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        # deleted
        (BASE[: BASE.index(b"class TestEmpty")], "TestEmpty was deleted."),
        (_edit(b"def test_find(people)", b"def test_found(people)"), "test_find was deleted."),
        (_edit(b"def test_nothing(", b"def nothing("), "TestEmpty.test_nothing was deleted."),
        (_edit(b"LIMIT = 3\n", b""), "LIMIT was deleted."),
        # changed in any byte
        (_edit(b"# by name", b"# By name"), "test_find was changed."),
        (_edit(b'find(people, "Ann")\n', b"find(people, 'Ann')\n"), "test_find was changed."),
        (_edit(b"== self.size", b">= self.size"), "TestEmpty.test_nothing was changed."),
        (BASE.replace(b"\n", b"\r\n"), "LIMIT was changed."),
        # helpers and fixtures
        (_edit(b"LIMIT = 3", b"LIMIT = 300"), "LIMIT was changed."),
        (_edit(b"assert len(found) < LIMIT", b"pass"), "check was changed."),
        (_edit(b'return ["Ann", "Bob"]', b"return []"), "people was changed."),
        (_edit(b"size = 0", b"size = 1"), "TestEmpty.size was changed."),
        (_edit(b"        return 0", b"        return 1"), "TestEmpty.offset was changed."),
        # skipped
        (_edit(b"def test_find", b"@pytest.mark.skip\ndef test_find"), "test_find is skipped by a decorator."),
        (
            _edit(b"def test_find", b"@pytest.mark.skipif(True, reason='x')\ndef test_find"),
            "test_find is skipped by a decorator.",
        ),
        (
            _edit(b"    def test_nothing", b"    @pytest.mark.xfail\n    def test_nothing"),
            "TestEmpty.test_nothing is skipped by a decorator.",
        ),
        (_edit(b"class TestEmpty", b"@pytest.mark.skip\nclass TestEmpty"), "TestEmpty is skipped by a decorator."),
        (_edit(b"class TestEmpty:", b"class TestEmpty(Other):"), "TestEmpty was changed."),
        (BASE + b"\npytestmark = pytest.mark.skip\n", "pytestmark was added and acts on old tests."),
        (
            _edit(b"    size = 0\n", b"    size = 0\n    pytestmark = pytest.mark.skip\n"),
            "TestEmpty.pytestmark was added and acts on old tests.",
        ),
        # shadowed
        (BASE + b"\n\ndef test_find():\n    pass\n", "test_find is shadowed by a new definition."),
        (BASE + b"\n\nclass TestEmpty:\n    pass\n", "TestEmpty is shadowed by a new definition."),
        (
            BASE + b"\n    def test_nothing(self):\n        pass\n",
            "TestEmpty.test_nothing is shadowed by a new definition.",
        ),
        (BASE + b"\n\ndel test_find\n", "test_find is shadowed by a new definition."),
        (BASE + b"\n\ndef find(*_):\n    return []\n", "find is shadowed by a new definition."),
        (BASE + b"\n\ndef len(_):\n    return 0\n", "len is shadowed by a new definition."),
        (BASE + b"\nfrom fakes import find\n", "find is shadowed by a new definition."),
        (BASE + b"\nfrom fakes import *\n", "* is shadowed by a new definition."),
        (
            BASE + b"\n\n@pytest.fixture\ndef capsys():\n    return None\n",
            "capsys is shadowed by a new definition.",
        ),
        (BASE + b"\nif True:\n    def check(found):\n        pass\n", "check is shadowed by a new definition."),
        (_edit(b"from directory import", b"from fakes import"), "the import of find from directory.find was changed."),
        (_edit(b"from directory import find\n", b""), "the import of find from directory.find was removed."),
        # acts on old tests from outside
        (BASE + b"\n\ndef setup_module():\n    find.cache = 1\n", "setup_module was added and acts on old tests."),
        (
            BASE + b"\n\ndef pytest_runtest_call(item):\n    pass\n",
            "pytest_runtest_call was added and acts on old tests.",
        ),
        (
            BASE + b"\n\n@pytest.fixture(autouse=True)\ndef calm():\n    yield\n",
            "calm is a new autouse fixture and acts on old tests.",
        ),
        (BASE + b"\nfind.cache = {}\n", "new code runs when the file is imported: find.cache = {}"),
        (
            BASE + b"\npatch('directory.find').start()\n",
            "new code runs when the file is imported: patch('directory.find').start()",
        ),
        (BASE + b"\nfind.limit: int = 3\n", "new code runs when the file is imported: find.limit: int = 3"),
        # unreadable
        (BASE + b"\ndef test_broken(:\n", "t.py cannot be read as Python any more."),
        (BASE + b"\nx = " + b"-" * 150 + b"1\n", "t.py cannot be read as Python any more."),
        (BASE + b"\0", "t.py cannot be read as Python any more."),
    ],
)
def test_every_weakening_is_named(head: bytes, sentence: str) -> None:
    assert sentence in _sentences(head)


def test_an_import_that_no_old_code_uses_may_go() -> None:
    base = b"import os\n\ndef test_a():\n    pass\n"
    assert changed_old_tests({"t.py": base}, {"t.py": base.replace(b"import os\n", b"")}) == ()


def test_a_decorator_that_was_there_is_no_new_skip() -> None:
    base = b"@mark.skip\ndef test_a():\n    pass\n"
    head = base.replace(b"pass", b"assert 1")
    assert changed_old_tests({"t.py": base}, {"t.py": head}) == ("t.py: test_a was changed.",)


def test_code_without_a_name_is_quoted() -> None:
    base = b"import sys\nsys.path.insert(0, 'src')\n\ndef test_a():\n    pass\n"
    head = base.replace(b"sys.path.insert(0, 'src')\n", b"")
    assert changed_old_tests({"t.py": base}, {"t.py": head}) == ("t.py: sys.path.insert(0, 'src') was deleted.",)


@pytest.mark.parametrize(
    ("path", "base", "head", "allowed"),
    [
        ("a.test.js", b"test('a')\n", b"test('a')\ntest('b')\n", True),
        ("a.test.js", b"test('a')", b"test('a')\ntest('b')\n", True),
        ("a.test.js", b"test('a')", b"test('a').skip()", False),
        ("a.test.js", b"test('a')\n", b"test('b')\n", False),
        ("a.test.js", b"test('a')\n", b"// first\ntest('a')\n", False),
        ("a.test.js", b"", b"anything", True),
        ("a_test.go", b"same", b"same", True),
        ("broken.py", b"def (:\n", b"def (:\nmore\n", True),
        ("broken.py", b"def (:\n", b"def f():\n    pass\n", False),
    ],
)
def test_other_files_only_grow(path: str, base: bytes, head: bytes, allowed: bool) -> None:
    assert (changed_old_tests({path: base}, {path: head}) == ()) is allowed


def test_a_deleted_file_is_named_and_a_new_one_is_not() -> None:
    base, head = (
        {"b.py": BASE, "a.py": BASE, "c.py": BASE},
        {"a.py": BASE + b"\nx.y = 1\n", "b.py": BASE, "new.py": b"x"},
    )
    assert changes_by_file(base, head) == {
        "a.py": ("a.py: new code runs when the file is imported: x.y = 1",),
        "c.py": ("c.py was deleted.",),
    }


def test_invalid_escapes_in_a_test_raise_no_warning_here() -> None:
    base = b"def test_a():\n    assert '\\d'\n"
    assert changed_old_tests({"t.py": base}, {"t.py": base + b"\nX = '\\w'\n"}) == ()
