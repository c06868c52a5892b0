"""The base branch by its present name: a default branch is looked up again, a configured one is not."""

from __future__ import annotations

import pytest

from shared.errors import Misconfigured
from shared.github.base_branch import BaseBranch
from shared.models import Repository


class Site:
    """A repository whose default branch a person renames, and how often that was asked for."""

    def __init__(self, default: str) -> None:
        self.default, self.asked = default, 0

    async def repository(self) -> Repository:
        self.asked += 1
        return Repository(1, "o/r", self.default, private=False, archived=False)

    async def head(self, branch: str) -> str | None:
        return "c0ffee" if branch == self.default else None


async def test_a_branch_that_is_there_costs_no_request() -> None:
    site = Site("main")
    base = BaseBranch("main", ask=site.repository)
    assert await base.head(site.head) == "c0ffee"
    assert site.asked == 0


async def test_a_renamed_default_branch_is_followed() -> None:
    site = Site("trunk")
    base = BaseBranch("main", ask=site.repository)
    assert await base.head(site.head) == "c0ffee"
    assert (base.name, base.default, site.asked) == ("trunk", "trunk", 1)


async def test_a_configured_branch_is_never_replaced() -> None:
    site = Site("trunk")
    base = BaseBranch("release", default="main")
    with pytest.raises(Misconfigured, match="'release' does not exist: set base_branch"):
        await base.head(site.head)
    assert (base.name, base.default, site.asked) == ("release", "main", 0)


async def test_an_empty_repository_is_said_to_have_no_such_branch() -> None:
    site = Site("main")
    base = BaseBranch("main", ask=site.repository)

    async def nothing(branch: str) -> None:
        return None

    with pytest.raises(Misconfigured, match="'main' does not exist"):
        await base.head(nothing)
    assert await base.head_or_none(nothing) is None


async def test_another_base_of_a_pull_request_is_looked_into_once() -> None:
    site = Site("main")
    base = BaseBranch("main", ask=site.repository)
    for branch in ("main", "release", "release", "main"):
        await base.note_target(branch)
    assert (base.name, site.asked) == ("main", 1)
    site.default = "trunk"
    await base.note_target("trunk")
    assert (base.name, site.asked) == ("trunk", 2)
