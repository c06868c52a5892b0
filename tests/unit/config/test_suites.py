"""Settings of test suites: directories and commands; paths stay in the repository, and suites do not contradict."""

from __future__ import annotations

from pathlib import Path

import pytest
from loading_scene import ROW, complaints, read
from pydantic import ValidationError

from config.repository import RepositorySettings


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("", ""),
        (".", ""),
        ("./", ""),
        ("api", "api"),
        ("packages/api/", "packages/api"),
        ("./packages//api", "packages/api"),
        (" api ", "api"),
        (".config/tests", ".config/tests"),
        ("..", None),
        ("../other", None),
        ("api/../..", None),
        ("/srv/api", None),
        ("~/api", None),
        ("$HOME/api", None),
        ("C:/api", None),
        ("api\\tests", None),
        ("a\nb", None),
        (".git", None),
        ("api/.GIT/hooks", None),
    ],
)
def test_a_directory_lies_in_the_repository(written: str, means: str | None) -> None:
    if means is None:
        with pytest.raises(ValidationError, match=r"is no directory of the repository; write|git's own directory"):
            RepositorySettings(name="a/b", working_directory=written)
    else:
        assert RepositorySettings(name="a/b", working_directory=written).working_directory == means


@pytest.mark.parametrize("glob", ["spec/**", "**/*_check.c", "[ab]/x?.txt", "./spec/*"])
def test_globs_of_test_files(glob: str) -> None:
    given = RepositorySettings.model_validate_json(f'{{"name": "a/b", "test_files": ["{glob}"]}}')
    assert given.test_files == (glob.removeprefix("./"),)


@pytest.mark.parametrize("glob", ["../**", "/etc/*", "~/x", "a/../b", "a\\\\b"])
def test_a_glob_names_files_of_the_repository(glob: str) -> None:
    with pytest.raises(ValidationError, match="is no pattern of files of the repository; write it as"):
        RepositorySettings.model_validate_json(f'{{"name": "a/b", "test_files": ["{glob}"]}}')


def test_several_suites_are_read_as_they_stand(tmp_path: Path) -> None:
    text = ROW + "    suites: [{directory: api/}, {directory: web, test_command: make, test_report: out/*.xml}, {}]"
    (one,) = read(tmp_path, text).repositories
    assert [(suite.directory, suite.test_command, suite.test_report) for suite in one.suites] == [
        ("api", None, None),
        ("web", "make", "out/*.xml"),
        ("", None, None),
    ]


MISTAKES = [
    (
        "    suites: [{directory: api}]\n    test_command: pytest",
        "repos.yml:3:13: repositories[0].suites: goes not together with test_command; "
        "write test_command into an entry of suites",
    ),
    (
        "    suites: [{directory: api}]\n    test_report: out.xml",
        "repos.yml:3:13: repositories[0].suites: goes not together with test_report; "
        "write test_report into an entry of suites",
    ),
    (
        "    suites: [{directory: api}]\n    working_directory: api",
        "repos.yml:3:13: repositories[0].suites: goes not together with working_directory; "
        "write directory into an entry of suites",
    ),
    (
        "    suites: [{directory: api}, {directory: ./api/}]",
        "repos.yml:3:32: repositories[0].suites[1]: runs the same as suites[0]; "
        "remove one, or give it another test_command",
    ),
    (
        "    suites: [{directory: ../api}]",
        "repos.yml:3:26: repositories[0].suites[0].directory: is no directory of the repository; write it as it stands "
        "in the repository, with '/', without '..', and not from the root of the disk, as in 'packages/api'",
    ),
    (
        "    suites: [{dirctory: api}]",
        "repos.yml:3:15: repositories[0].suites[0].dirctory: unknown key; did you mean 'directory'?",
    ),
    (
        "    old_tests: strickt",
        "repos.yml:3:16: repositories[0].old_tests: is 'strickt', not one of justified, strict; did you mean 'strict'?",
    ),
    (
        "    local_suite: none",
        "repos.yml:3:18: repositories[0].local_suite: is 'none', not one of full, changed",
    ),
    ("    tdd: {damages: 201}", "repos.yml:3:20: repositories[0].tdd.damages: must be at most 200, not 201"),
    ("    tdd: {damages: -1}", "repos.yml:3:20: repositories[0].tdd.damages: must be at least 0, not -1"),
]


@pytest.mark.fault(2)
@pytest.mark.parametrize(("text", "line"), MISTAKES)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, line: str) -> None:
    assert complaints(tmp_path, ROW + text) == [line]


def test_one_directory_may_have_two_commands(tmp_path: Path) -> None:
    text = ROW + "    suites: [{directory: api, test_command: make unit}, {directory: api, test_command: make system}]"
    assert len(read(tmp_path, text).repositories[0].suites) == 2
