"""Workflow files that a repair of CI may change: those that GitHub's own words blame."""

from __future__ import annotations

import pytest

from shared.git.patch_policy import PatchPolicy, PathChange, judge
from worker_agent.repairs import blamed, editable

CI, RELEASE = ".github/workflows/ci.yml", ".github/workflows/release.yaml"
PATHS = (CI, RELEASE, ".github/CODEOWNERS", "src/app.py")


@pytest.mark.parametrize(
    ("said", "paths", "found"),
    [
        (f"Invalid workflow file: {CI}#L9\nYou have an error in your yaml syntax", PATHS, {CI}),
        (f"The workflow is not valid. {RELEASE} (Line: 4, Col: 3): Unexpected value 'run'", PATHS, {RELEASE}),
        (f"failure\n{CI}:12: failure: 'uses' is missing", PATHS, {CI}),
        (f"##[error]Unable to resolve action, see {CI}", PATHS, {CI}),
        ("startup_failure: CI", (CI, "src/app.py"), {CI}),
        ("startup_failure: CI", PATHS, set()),
        (f"E   AssertionError: {CI} is not what it was", PATHS, set()),
        ("Invalid workflow file: .github/workflows/gone.yml", PATHS, set()),
        ("##[error].github/CODEOWNERS", PATHS, set()),
        ("##[error].github/workflows/../../CODEOWNERS.yml", (*PATHS, "CODEOWNERS.yml"), set()),
        ("##[error]Process completed with exit code 1.", PATHS, set()),
    ],
)
def test_only_a_file_of_the_commit_that_github_names_is_blamed(
    said: str, paths: tuple[str, ...], found: set[str]
) -> None:
    assert blamed(f"### check\n{said}", paths) == found


def test_what_is_allowed_is_one_path_and_nothing_like_it() -> None:
    def refused(path: str) -> bool:
        change = PathChange(path, "M", "100644", "100644", 1, 1, False, 9, "x")
        return bool(judge([change], policy=PatchPolicy(allowed=frozenset({CI}))))

    assert not refused(CI)
    assert all(map(refused, (RELEASE, ".github/workflows/CI.yml", f"sub/{CI}", ".github/actions/a.yml", "AGENTS.md")))


def test_the_prompt_says_what_may_be_changed() -> None:
    assert editable(()) == "`.github/`"
    assert editable({CI}) == f"`.github/` (but for `{CI}`, which CI names as the cause)"
