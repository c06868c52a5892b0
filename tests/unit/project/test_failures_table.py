"""The table of failed runs names tests; each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]

_NAMED = re.compile(r"`(test_\w+\.py)(?:::(test_\w+))?`")


def test_every_test_that_the_table_of_failures_names_exists() -> None:
    named = _NAMED.findall((ROOT / "docs" / "how-it-works.md").read_text("utf-8"))
    assert len(named) > 20
    written = {file: (ROOT / "tests" / "cli" / file).read_text("utf-8") for file, _ in named}
    assert [f"{file}::{name}" for file, name in named if f"def {name}(" not in written[file] and name] == []
