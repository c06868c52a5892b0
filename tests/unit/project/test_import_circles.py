"""No two files of the product import each other, be it by way of others, lazily or for their types alone."""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGES = (
    "benchmarks",
    "config",
    "console",
    "lab",
    "planner_agent",
    "reviewer_agent",
    "runtime",
    "shared",
    "worker_agent",
)


def test_no_file_is_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 800
    TopologicalSorter(imports).prepare()


def test_one_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ring").mkdir()
    (tmp_path / "ring" / "__init__.py").touch()
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ring import two\n"
    (tmp_path / "ring" / "one.py").write_text(typed, encoding="utf-8")
    lazy = "def late() -> None:\n    from ring import one\n"
    (tmp_path / "ring" / "two.py").write_text(lazy, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    graph = grimp.build_graph("ring", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    with pytest.raises(CycleError):
        TopologicalSorter(imports).prepare()
