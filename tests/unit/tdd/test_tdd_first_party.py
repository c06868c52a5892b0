"""The names that are the repository's own."""

from __future__ import annotations

import pytest

from worker_agent.tdd.runners.project import first_party


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], set()),
        (["README.md", "docs/index.html"], set()),
        (["directory/__init__.py", "directory/search.py"], {"directory"}),
        (["app.py"], {"app"}),
        (["src/shop/__init__.py", "pyproject.toml"], {"shop", "src"}),
        (["namespace/deep/module.py"], {"namespace"}),
        (["packages/one/pyproject.toml", "packages/one/src/one/core.py"], {"packages", "src", "one"}),
        (["tests/test_a.py", "tests/factories.py"], {"tests", "test_a", "factories"}),
        (["tests/__init__.py", "tests/test_a.py", "tests/factories.py"], {"tests"}),
        (["tests/unit/conftest.py", "tests/unit/fakes.py"], {"tests", "fakes"}),
        (["scripts/yaml.py"], {"scripts"}),
        (["__init__.py", "conftest.py"], set()),
    ],
)
def test_names_come_from_the_root_sources_projects_and_test_directories(paths: list[str], names: set[str]) -> None:
    assert first_party(paths) == names
