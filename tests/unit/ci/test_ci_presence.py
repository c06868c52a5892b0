"""A repository without any CI is recognised; one that has any is known to from then on."""

from __future__ import annotations

import pytest
from fakes.unasked import UnaskedChecks, UnaskedMirror

from shared.ci.presence import Presence


class Branch(UnaskedMirror):
    """The base branch, as far as it is there."""

    def __init__(self, files: tuple[str, ...], there: bool) -> None:
        self.files, self.there = files, there

    async def refresh(self, ref: str) -> str | None:
        return "a" * 40 if self.there else None

    async def paths(self, commit: str) -> tuple[str, ...]:
        return self.files


class Repository(UnaskedChecks):
    """Files of the base branch, and whether anything was ever checked."""

    def __init__(self, *paths: str, checked: bool = False, there: bool = True) -> None:
        self.base, self.checked = Branch(paths, there), checked
        self.asked = 0

    async def ever(self, tip: str) -> bool:
        self.asked += 1
        return self.checked


@pytest.mark.parametrize(
    ("repository", "missing"),
    [
        (Repository("app.py"), True),
        (Repository("docs/.github/workflows/ci.yml", ".github/workflows/README.md"), True),
        (Repository(".github/workflows/ci.yml"), False),
        (Repository(".github/workflows/ci.yaml"), False),
        (Repository("app.py", checked=True), False),
        (Repository(there=False), False),
    ],
)
async def test_a_repository_without_ci_has_no_workflow_and_no_check(repository: Repository, missing: bool) -> None:
    presence = Presence(repository, repository.base)
    assert not presence.known_missing("main")
    assert await presence.is_missing("main") is missing
    assert presence.known_missing("main") is missing


async def test_the_first_check_ends_it_and_is_not_asked_for_again() -> None:
    repository = Repository("app.py")
    presence = Presence(repository, repository.base)
    assert await presence.is_missing("main")
    repository.checked = True
    assert not await presence.is_missing("main")
    assert not presence.known_missing("main")
    repository.checked = False
    assert not await presence.is_missing("main")
    assert repository.asked == 2
