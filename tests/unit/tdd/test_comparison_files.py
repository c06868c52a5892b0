"""Reach of tests into other files, data files, and code that acts by itself."""

from __future__ import annotations

import pytest

from worker_agent.tdd.comparison.compare import compare
from worker_agent.tdd.comparison.model import What

TEST = b"from .helpers import check\n\ndef test_a(data):\n    check(data)\n\ndef test_b():\n    assert 1\n"
CONFTEST = b"import pytest\n\n@pytest.fixture\ndef data():\n    return make()\n\ndef make():\n    return 1\n"
HELPERS = b"LIMIT = 1\n\ndef check(x):\n    assert x > LIMIT\n\ndef other():\n    return 1\n"
BASE = {"tests/__init__.py": b"", "tests/test_a.py": TEST, "tests/conftest.py": CONFTEST, "tests/helpers.py": HELPERS}


def changed(path: str, old: bytes, new: bytes, base: dict[str, bytes] = BASE) -> dict[str, What]:
    head = {**base, path: base[path].replace(old, new)}
    return {entry.name: entry.what for entry in compare(base, head).entries}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("tests/conftest.py", b"return 1", b"return 2"),
        ("tests/conftest.py", b"make()\n\n", b"make() + 1\n\n"),
        ("tests/helpers.py", b"x > LIMIT", b"x"),
        ("tests/helpers.py", b"LIMIT = 1", b"LIMIT = 0"),
    ],
)
def test_a_changed_fixture_or_helper_concerns_the_tests_that_reach_it(path: str, old: bytes, new: bytes) -> None:
    assert changed(path, old, new) == {"tests/test_a.py::test_a": What.SUPPORT, path: What.SUPPORT_FILE}


def test_a_changed_helper_that_no_test_reaches_concerns_none() -> None:
    assert changed("tests/helpers.py", b"return 1", b"return 2") == {"tests/helpers.py": What.SUPPORT_FILE}


def test_a_helper_is_found_through_another_file() -> None:
    base = {**BASE, "tests/helpers.py": b"from .deep import check\n", "tests/deep.py": HELPERS}
    found = changed("tests/deep.py", b"LIMIT = 1", b"LIMIT = 2", base)
    assert found["tests/test_a.py::test_a"] is What.SUPPORT


def test_helpers_of_javascript_and_go() -> None:
    script = {
        "test/a.test.ts": b'import { check } from "./helpers.js";\nit("a", () => { check(1) });\nit("b", () => {});\n',
        "test/helpers.ts": b"export function check(x) { expect(x).toBe(1) }\n",
    }
    assert changed("test/helpers.ts", b"toBe(1)", b"toBe(2)", script)["test/a.test.ts::a"] is What.SUPPORT
    go = {
        "a_test.go": b"package a\nfunc TestA(t *T) { check(t) }\n",
        "helper_test.go": b"package a\nfunc check(t *T) { t.Fatal(1) }\n",
    }
    assert changed("helper_test.go", b"Fatal(1)", b"Log(1)", go)["a_test.go::TestA"] is What.SUPPORT


@pytest.mark.parametrize(
    "added",
    [
        b"\ndef pytest_collection_modifyitems(items):\n    items.clear()\n",
        b"\n@pytest.fixture(autouse=True)\ndef calm():\n    yield\n",
        b"\nimport app\napp.run = None\n",
        b"\nos.environ.update(A='1')\n",
    ],
)
def test_code_that_acts_by_itself_is_listed(added: bytes) -> None:
    base = {"tests/conftest.py": CONFTEST}
    found = compare(base, {"tests/conftest.py": CONFTEST + added})
    assert [entry.path for entry in found.hooks] == ["tests/conftest.py"]
    assert not found.changed


def test_ordinary_definitions_are_no_hooks() -> None:
    found = compare({"tests/test_a.py": TEST}, {"tests/test_a.py": TEST + b"\nimport os\nA, B = 1, 2\nclass C: pass\n"})
    assert found.entries == ()


def test_data_and_snapshots() -> None:
    snapshot = b"// Jest\n\nexports[`a 1`] = `1`;\n"
    base = {"tests/data.json": b"1", "tests/old.txt": b"1", "tests/__snapshots__/a.snap": snapshot}
    head = {
        "tests/data.json": b"2",
        "tests/new.txt": b"1",
        "tests/__snapshots__/a.snap": snapshot + b"\nexports[`b 1`] = `2`;\n",
    }
    found = compare(base, head)
    assert {entry.path: entry.what for entry in found.entries} == {
        "tests/data.json": What.DATA,
        "tests/old.txt": What.DATA,
        "tests/new.txt": What.ADDED,
        "tests/__snapshots__/a.snap": What.ADDED,
    }
    changed_snapshot = compare(base, {**base, "tests/__snapshots__/a.snap": snapshot.replace(b"`1`", b"`2`")})
    assert [entry.what for entry in changed_snapshot.entries] == [What.DATA]


def test_a_test_file_that_cannot_be_read_any_more_is_removed() -> None:
    found = compare({"tests/test_a.py": TEST}, {"tests/test_a.py": b"def test_a(:\n"})
    assert {entry.unit for entry in found.removed} >= {""}


def test_files_that_did_not_change_say_nothing() -> None:
    assert compare(BASE, BASE).entries == ()
