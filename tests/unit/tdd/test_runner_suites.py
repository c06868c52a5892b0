"""The suites that a repository with several projects turns out to have."""

from __future__ import annotations

import pytest

from worker_agent.tdd.runners.detected_suites import detected_suites

VITEST = b'{"devDependencies": {"vitest": "3"}}'
COMPOSER = b'{"require-dev": {"phpunit/phpunit": "^10"}}'
JEST = b'{"scripts": {"test": "jest --coverage"}}'


@pytest.mark.parametrize(
    ("files", "suites"),
    [
        ({}, []),
        ({"README.md": b""}, []),
        ({"tests/test_a.py": b""}, [("", "pytest")]),
        ({"backend/pyproject.toml": b"", "backend/tests/test_a.py": b""}, [("backend", "pytest")]),
        (
            {
                "backend/pyproject.toml": b"[tool.pytest.ini_options]",
                "backend/tests/test_a.py": b"",
                "frontend/package.json": VITEST,
                "frontend/src/a.test.ts": b"",
                "frontend/src/b.test.ts": b"",
            },
            [("frontend", "vitest"), ("backend", "pytest")],
        ),
        (
            {
                "package.json": b'{"workspaces": ["packages/*"]}',
                "packages/a/package.json": VITEST,
                "packages/a/a.test.js": b"",
                "packages/b/package.json": JEST,
                "packages/b/b.test.js": b"",
            },
            [("packages/a", "vitest"), ("packages/b", "jest")],
        ),
        (
            {"package.json": VITEST, "a.test.js": b"", "packages/a/package.json": VITEST, "packages/a/b.test.js": b""},
            [("", "vitest")],
        ),
        (
            {"package.json": VITEST, "packages/a/package.json": VITEST, "packages/a/b.test.js": b""},
            [("packages/a", "vitest")],
        ),
        (
            {"go.mod": b"module a", "a_test.go": b"", "tools/go.mod": b"module b", "tools/b_test.go": b""},
            [("", "go test"), ("tools", "go test")],
        ),
        (
            {
                "pyproject.toml": b"[tool.pytest.ini_options]",
                "tests/test_a.py": b"",
                "tests/projects/jest/package.json": JEST,
                "node_modules/left/package.json": JEST,
                "examples/web/package.json": JEST,
            },
            [("", "pytest")],
        ),
        (
            {
                "composer.json": b'{"require-dev": {"phpunit/phpunit": "^10"}}',
                "tests/ATest.php": b"",
                "web/package.json": JEST,
            },
            [("", "phpunit"), ("web", "jest")],
        ),
    ],
)
def test_the_suites_of_a_repository(files: dict[str, bytes], suites: list[tuple[str, str]]) -> None:
    found = detected_suites(files, files.get)
    assert [(suite.directory, suite.runner.name) for suite in found] == suites


def test_the_command_is_that_of_the_directory() -> None:
    files = {"web/package.json": JEST, "web/a.test.js": b""}
    (suite,) = detected_suites(files, files.get)
    assert suite.test_command == "npx --no jest --coverage"
