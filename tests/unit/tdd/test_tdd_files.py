"""The paths that are tests."""

from __future__ import annotations

import pytest

from worker_agent.tdd.test_file_names import is_test_file


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "src/a_test.py",
        "conftest.py",
        "src/deep/conftest.py",
        "tests/data/users.json",
        "pkg/test/x.go",
        "src/__tests__/a.ts",
        "spec/a.rb",
        "specs/a.txt",
        "testing/a.py",
        "src/tests.py",
        "tests/a.bats",
        "src/AppTest.java",
        "src/__snapshots__/a.test.js.snap",
        "src/a.test.ts",
        "src/a.spec.mjs",
        "src/a.test.jsx",
        "src/foo_test.ts",
        "foo_test.tsx",
        "mod_test.mjs",
    ],
)
def test_these_are(path: str) -> None:
    assert is_test_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "tests",
        "a.py",
        "src/latest.py",
        "contest.py",
        "test_a.txt",
        "src/testing/a.py",
        "src/test.py",
        "a.test.css",
        "src/foo_test.css",
        "src/latest.ts",
        "src/foo_tester.ts",
        "my_tests/a.py",
        "",
    ],
)
def test_these_are_not(path: str) -> None:
    assert not is_test_file(path)
