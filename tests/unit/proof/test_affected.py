"""The test files that a changed data file concerns: those that name it, else those next above it."""

from __future__ import annotations

import pytest

from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.proof.affected import affected_files
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.layout import Layout

PAGES, OTHER, DEEP = "tests/test_pages.py", "tests/test_other.py", "tests/deep/test_deep.py"
SUPPORT = {PAGES: b"found = glob('*')\n", OTHER: b"assert 1\n", DEEP: b"assert 2\n"}


@pytest.mark.parametrize(
    ("data", "named", "files"),
    [
        ("tests/data/bold.txt", b"read('bold.txt')\n", {OTHER}),
        ("tests/data/bold.txt", b"assert 1\n", {PAGES, OTHER}),
        ("tests/deep/rows/bold.txt", b"assert 1\n", {DEEP}),
        ("tests/deep/rows/more/bold.txt", b"assert 1\n", {DEEP}),
    ],
)
def test_data_concerns_the_tests_that_may_read_it(data: str, named: bytes, files: set[str]) -> None:
    support = {**SUPPORT, OTHER: named}
    change = Change("base", "head", Layout((), ("tests/**",)), {}, {data: b"a\n"}, support=support)
    assert affected_files(change, Comparison()) >= files
    assert not affected_files(change, Comparison()) - files - {data}
